"""`berdseye perspective`: propose, decide, list and exchange edits of the perspectives of a data set."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from berdseye.app.commands.console import note, print_json
from berdseye.app.commands.options import JsonOption, WorkspaceOption, open_workspace
from berdseye.data.errors import BadInputError, UnknownNameError

if TYPE_CHECKING:
    from berdseye.annotation.judgments.log import Annotator, Judgments
    from berdseye.annotation.perspective_edits.log import EditLog
    from berdseye.annotation.perspective_edits.states import Edit
    from berdseye.data.records import Question
    from berdseye.data.workspace import Workspace

perspective = typer.Typer(
    no_args_is_help=True,
    help="Edit the perspectives of a data set: propose edits, decide on them, and list the outcome.",
)
DatasetArgument = Annotated[str, typer.Argument(help="The data set.")]
QuestionArgument = Annotated[str, typer.Argument(help="The id of the question.")]
PartArgument = Annotated[str, typer.Argument(help="The perspective: its number in `perspective show`, or its text.")]
EditArgument = Annotated[int, typer.Argument(help="The number of the edit.")]
NewOption = Annotated[
    list[str],
    typer.Option(
        "--new",
        help="A new text; repeatable. The prefix '+ ' marks it as supporting, '- ' as opposing, '= ' as neither; without a "
        "prefix it inherits the stance of the perspectives it replaces, where they agree.",
    ),
]
CommentOption = Annotated[str, typer.Option(help="The reason, which is stored with the edit or the decision.")]


def register(cli: typer.Typer) -> None:
    """Add the commands."""
    cli.add_typer(perspective, name="perspective")


@perspective.command("propose")
def propose(
    dataset: DatasetArgument,
    question: QuestionArgument,
    new: NewOption,
    comment: CommentOption = "",
    workspace: WorkspaceOption = None,
) -> None:
    """Propose a missing perspective.

    Example: `berdseye perspective propose debate car-free-centres --new "- Shops lose their customers."`
    """
    _propose(workspace, dataset, question, "propose", [], new, comment)


@perspective.command("split")
def split(
    dataset: DatasetArgument,
    question: QuestionArgument,
    part: PartArgument,
    new: NewOption,
    comment: CommentOption = "",
    workspace: WorkspaceOption = None,
) -> None:
    """Propose to replace one perspective by two or more.

    Example: `berdseye perspective split debate zoos 1 --new "Zoos save species." --new "Zoos teach visitors."`
    """
    _propose(workspace, dataset, question, "split", [part], new, comment)


@perspective.command("merge")
def merge(
    dataset: DatasetArgument,
    question: QuestionArgument,
    part: Annotated[list[str], typer.Argument(help="The perspectives: their numbers or texts.")],
    new: NewOption,
    comment: CommentOption = "",
    workspace: WorkspaceOption = None,
) -> None:
    """Propose to replace several perspectives by one.

    Example: `berdseye perspective merge debate zoos 1 3 --new "Zoos serve animals and people."`
    """
    _propose(workspace, dataset, question, "merge", part, new, comment)


@perspective.command("reword")
def reword(
    dataset: DatasetArgument,
    question: QuestionArgument,
    part: PartArgument,
    new: NewOption,
    comment: CommentOption = "",
    workspace: WorkspaceOption = None,
) -> None:
    """Propose a new wording or stance for a perspective.

    Example: `berdseye perspective reword debate zoos 2 --new "- Zoos make animals suffer."`
    """
    _propose(workspace, dataset, question, "reword", [part], new, comment)


@perspective.command("drop")
def drop(
    dataset: DatasetArgument,
    question: QuestionArgument,
    part: PartArgument,
    comment: CommentOption = "",
    workspace: WorkspaceOption = None,
) -> None:
    """Propose to remove a perspective.

    Example: `berdseye perspective drop debate zoos 2 --comment "answers another question"`
    """
    _propose(workspace, dataset, question, "drop", [part], [], comment)


@perspective.command("show")
def show(
    dataset: DatasetArgument, question: QuestionArgument, workspace: WorkspaceOption = None, json: JsonOption = False
) -> None:
    """Show the perspectives of a question after the accepted edits, with the number of judgments and flags of each.

    Example: `berdseye perspective show debate car-free-centres`
    """
    from berdseye.annotation.perspective_edits.versions import attention

    log, _, judgments = _log(workspace, dataset)
    perspectives = _question(log, question).perspectives
    counts = attention(judgments, [p.text for p in perspectives])
    rows = [
        {"number": n, "stance": p.stance, "text": p.text, "judgments": a.judgments, "flags": len(a.flags)}
        for n, (p, a) in enumerate(zip(perspectives, counts, strict=True), start=1)
    ]
    if json:
        print_json(rows)
        return
    for row in rows:
        stance = row["stance"] or "-"
        print(f"{row['number']}\t{stance}\t{row['judgments']} judgments\t{row['flags']} flags\t{row['text']}")


@perspective.command("list")
def list_all(
    dataset: DatasetArgument,
    question: Annotated[str | None, typer.Option(help="Only edits of this question id.")] = None,
    status: Annotated[
        Literal["open", "accepted", "rejected", "withdrawn"] | None, typer.Option(help="Only edits with this status.")
    ] = None,
    workspace: WorkspaceOption = None,
    json: JsonOption = False,
) -> None:
    """List the edits of a data set, and report which of them conflict.

    Example: `berdseye perspective list debate --status open`
    """
    from berdseye.annotation.perspective_edits.states import overlaps, replay

    log, _, _ = _log(workspace, dataset)
    edits = log.edits()
    conflicting, unfit = overlaps(edits), replay(log.base, edits).conflicts
    shown = [e for e in edits if question in (None, e.question_id) and status in (None, e.status)]
    if json:
        print_json([_as_json(e) | {"overlaps": conflicting.get(e.id, []), "unfit": unfit.get(e.id)} for e in shown])
        return
    for e in shown:
        print(f"{e.id}\t{e.status}\t{e.question_id}\t{_summary(e)}\t{e.by.name}\t{e.comment}")
        if others := conflicting.get(e.id):
            note(f"  edit {e.id} conflicts with {', '.join(map(str, others))}")
        if e.id in unfit:
            note(f"  edit {e.id} no longer applies: {unfit[e.id]}")


@perspective.command("accept")
def accept(
    dataset: DatasetArgument, edit: EditArgument, comment: CommentOption = "", workspace: WorkspaceOption = None
) -> None:
    """Accept an edit. In team mode, somebody other than the proposer must accept it.

    Example: `berdseye perspective accept debate 3`
    """
    log, ws, judgments = _log(workspace, dataset)
    done = log.accept(_person(ws, judgments), edit, comment=comment, own=not ws.people.team)
    note(f"edit {done.id} is accepted; `berdseye dataset version {log.dataset}` makes it part of a version")


@perspective.command("reject")
def reject(
    dataset: DatasetArgument, edit: EditArgument, comment: CommentOption = "", workspace: WorkspaceOption = None
) -> None:
    """Reject an edit.

    Example: `berdseye perspective reject debate 3 --comment "repeats perspective 1"`
    """
    log, ws, judgments = _log(workspace, dataset)
    note(f"edit {log.reject(_person(ws, judgments), edit, comment=comment).id} is rejected")


@perspective.command("undo")
def undo(dataset: DatasetArgument, edit: EditArgument, workspace: WorkspaceOption = None) -> None:
    """Undo the decision on an edit, which takes the right to decide; or withdraw your own open proposal.

    Example: `berdseye perspective undo debate 3`
    """
    from berdseye.app.access.acting import acting
    from berdseye.app.access.roles import check

    log, ws, judgments = _log(workspace, dataset)
    person = _person(ws, judgments)
    decided = any(e.id == edit and e.decision is not None for e in log.edits())
    if decided and ws.people.team:
        who = acting(ws.people)
        check(ws.people.role_of(who), "adjudicate", who)
    done = log.undo(person, edit, of="decision" if decided else "proposal")
    note(f"edit {done.id} is {done.status}")


@perspective.command("export")
def export(
    path: Annotated[Path, typer.Argument(dir_okay=False, writable=True, help="A .jsonl file.")],
    dataset: Annotated[str | None, typer.Option(help="Only the edits of this data set.")] = None,
    workspace: WorkspaceOption = None,
) -> None:
    """Write the complete log of edits, one event per line.

    Example: `berdseye perspective export edits.jsonl`
    """
    from berdseye.annotation.judgments.log import Judgments
    from berdseye.annotation.perspective_edits.exchange import export_edits

    ws = open_workspace(workspace)
    if dataset is not None and dataset not in ws.datasets():
        raise UnknownNameError("data set", dataset, ws.datasets())
    note(f"{path}: {export_edits(Judgments.open(ws.judgments_url), path, dataset)} events")


@perspective.command("import")
def import_file(
    path: Annotated[Path, typer.Argument(help="A JSON Lines file: an exported log, or proposals.")],
    workspace: WorkspaceOption = None,
) -> None:
    """Import edits from a file, either all of them or none; known edits are skipped. data/README.md documents the layout.

    Example: `berdseye perspective import edits.jsonl`
    """
    from berdseye.annotation.judgments.log import Judgments
    from berdseye.annotation.perspective_edits.exchange import import_edits

    ws = open_workspace(workspace)
    judgments = Judgments.open(ws.judgments_url)
    new, known = import_edits(ws, judgments, path, _person(ws, judgments))
    note(f"{new} events imported, {known} were already known")


def _propose(
    workspace: Path | None,
    dataset: str,
    question: str,
    action: str,
    parts: list[str],
    new: list[str],
    comment: str,
) -> None:
    from berdseye.annotation.perspective_edits.changes import Change, chosen_parts, explained_as, shared_stance
    from berdseye.annotation.perspective_edits.states import overlaps
    from berdseye.data.datasets.layouts.rows import perspective_of_line

    log, ws, judgments = _log(workspace, dataset)
    chosen = chosen_parts(_question(log, question).perspectives, parts)
    replacements = [perspective_of_line(line, shared_stance(chosen)) for line in new]
    change = Change.of(action, chosen, explained_as(chosen, replacements))
    edit = log.propose(_person(ws, judgments), question, change, comment=comment)
    print(f"{edit.id}\t{_summary(edit)}")
    if others := overlaps(log.edits())[edit.id]:
        note(f"It conflicts with open edit {', '.join(map(str, others))}.")


def _log(folder: Path | None, dataset: str) -> "tuple[EditLog, Workspace, Judgments]":
    from berdseye.annotation.judgments.log import Judgments
    from berdseye.annotation.perspective_edits.log import EditLog

    ws = open_workspace(folder)
    judgments = Judgments.open(ws.judgments_url)
    return EditLog(ws, judgments, dataset), ws, judgments


def _person(workspace: "Workspace", judgments: "Judgments") -> "Annotator":
    from berdseye.annotation.people import find_or_invite
    from berdseye.app.access.acting import acting

    who = acting(workspace.people)
    if not who:
        raise BadInputError("Berdseye does not know who you are.", hint="Use `berdseye --as NAME perspective ...`.")
    return find_or_invite(judgments, who)


def _question(log: "EditLog", question: str) -> "Question":
    questions = {q.id: q for q in log.present().questions}
    if question not in questions:
        raise UnknownNameError("question", question, questions)
    return questions[question]


def _summary(edit: "Edit") -> str:
    """An edit as one line of text: the action, and the texts before and after it."""
    before, after = ("; ".join(p.text for p in side) for side in (edit.change.parts, edit.change.becomes))
    return f"{edit.change.action}: {before}{' -> ' if before and after else ''}{after}"


def _as_json(edit: "Edit") -> dict[str, Any]:
    decision = None
    if edit.decision is not None:
        decision = {"by": edit.decision.by.name, "at": edit.decision.at, "comment": edit.decision.comment}
    return {
        "id": edit.id,
        "uid": edit.uid,
        "status": edit.status,
        "question": edit.question_id,
        **edit.change.to_json(),
        "comment": edit.comment,
        "by": edit.by.name,
        "at": edit.at,
        "decision": decision,
    }
