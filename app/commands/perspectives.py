"""`perspective propose | split | merge | reword | drop | list | show | accept | reject | undo | export | import`."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from berdseye.app.commands.console import note, print_json
from berdseye.app.commands.options import JsonOption, WorkspaceOption, opened
from berdseye.data.errors import BadInputError, UnknownNameError

if TYPE_CHECKING:
    from berdseye.annotation.judgments.log import Annotator, Judgments
    from berdseye.annotation.perspective_edits.log import EditLog
    from berdseye.annotation.perspective_edits.states import Edit
    from berdseye.data.records import Question
    from berdseye.data.workspace import Workspace

perspective = typer.Typer(
    no_args_is_help=True, help="Edit the perspectives of a data set: proposals, decisions, and what came of them."
)
DatasetArgument = Annotated[str, typer.Argument(help="The data set.")]
QuestionArgument = Annotated[str, typer.Argument(help="The id of the question.")]
PartArgument = Annotated[str, typer.Argument(help="The perspective: its number in `perspective show`, or its text.")]
EditArgument = Annotated[int, typer.Argument(help="The number of the edit.")]
NewOption = Annotated[
    list[str],
    typer.Option(
        "--new",
        help="A text that comes in. '+ ' in front says that it is supporting, '- ' opposing, '= ' neither; without a sign it "
        "takes the stance of those whose place it takes, where they agree.",
    ),
]
CommentOption = Annotated[str, typer.Option(help="Why; kept with it.")]


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
    """Propose a perspective that is missing.

    Example: `berdseye perspective propose debate car-free-centres --new "- Shops lose their customers."`
    """
    _proposed(workspace, dataset, question, "propose", [], new, comment)


@perspective.command("split")
def split(
    dataset: DatasetArgument,
    question: QuestionArgument,
    part: PartArgument,
    new: NewOption,
    comment: CommentOption = "",
    workspace: WorkspaceOption = None,
) -> None:
    """Propose to put two perspectives or more in the place of one.

    Example: `berdseye perspective split debate zoos 1 --new "Zoos save species." --new "Zoos teach visitors."`
    """
    _proposed(workspace, dataset, question, "split", [part], new, comment)


@perspective.command("merge")
def merge(
    dataset: DatasetArgument,
    question: QuestionArgument,
    part: Annotated[list[str], typer.Argument(help="The perspectives: their numbers or texts.")],
    new: NewOption,
    comment: CommentOption = "",
    workspace: WorkspaceOption = None,
) -> None:
    """Propose to put one perspective in the place of several.

    Example: `berdseye perspective merge debate zoos 1 3 --new "Zoos serve animals and people."`
    """
    _proposed(workspace, dataset, question, "merge", part, new, comment)


@perspective.command("reword")
def reword(
    dataset: DatasetArgument,
    question: QuestionArgument,
    part: PartArgument,
    new: NewOption,
    comment: CommentOption = "",
    workspace: WorkspaceOption = None,
) -> None:
    """Propose other words, or another stance, for a perspective.

    Example: `berdseye perspective reword debate zoos 2 --new "- Zoos make animals suffer."`
    """
    _proposed(workspace, dataset, question, "reword", [part], new, comment)


@perspective.command("drop")
def drop(
    dataset: DatasetArgument,
    question: QuestionArgument,
    part: PartArgument,
    comment: CommentOption = "",
    workspace: WorkspaceOption = None,
) -> None:
    """Propose to leave a perspective out.

    Example: `berdseye perspective drop debate zoos 2 --comment "answers another question"`
    """
    _proposed(workspace, dataset, question, "drop", [part], [], comment)


@perspective.command("show")
def show(
    dataset: DatasetArgument, question: QuestionArgument, workspace: WorkspaceOption = None, json: JsonOption = False
) -> None:
    """Show the perspectives of a question after the accepted edits, with how often each was judged and flagged.

    Example: `berdseye perspective show debate car-free-centres`
    """
    from berdseye.annotation.perspective_edits.versions import attention

    log, _, judgments = _log(workspace, dataset)
    found = _question(log, question)
    counts = attention(judgments, [p.text for p in found.perspectives])
    rows = [
        {"number": n, "stance": p.stance, "text": p.text, "judgments": a.judgments, "flags": len(a.flags)}
        for n, (p, a) in enumerate(zip(found.perspectives, counts, strict=True), start=1)
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
    question: Annotated[str | None, typer.Option(help="Only edits of this question.")] = None,
    status: Annotated[
        Literal["open", "accepted", "rejected", "withdrawn"] | None, typer.Option(help="Only those that stand so.")
    ] = None,
    workspace: WorkspaceOption = None,
    json: JsonOption = False,
) -> None:
    """List the edits of a data set, and which of them cannot stand together.

    Example: `berdseye perspective list debate --status open`
    """
    from berdseye.annotation.perspective_edits.states import overlaps, replay

    log, _, _ = _log(workspace, dataset)
    edits = log.edits()
    beside, unfit = overlaps(edits), replay(log.base, edits).conflicts
    shown = [e for e in edits if question in (None, e.question_id) and status in (None, e.status)]
    if json:
        print_json([_as_json(e) | {"overlaps": beside.get(e.id, []), "unfit": unfit.get(e.id)} for e in shown])
        return
    for e in shown:
        print(f"{e.id}\t{e.status}\t{e.question_id}\t{_said(e)}\t{e.by.name}\t{e.comment}")
        if others := beside.get(e.id):
            note(f"  edit {e.id} cannot stand beside {', '.join(map(str, others))}")
        if e.id in unfit:
            note(f"  edit {e.id} does not fit any more: {unfit[e.id]}")


@perspective.command("accept")
def accept(
    dataset: DatasetArgument, edit: EditArgument, comment: CommentOption = "", workspace: WorkspaceOption = None
) -> None:
    """Accept an edit. In team mode that is for someone else than who proposed it.

    Example: `berdseye perspective accept debate 3`
    """
    log, held, judgments = _log(workspace, dataset)
    done = log.accept(_person(held, judgments), edit, comment=comment, own=not held.people.team)
    note(f"edit {done.id} is accepted; `berdseye dataset version {log.dataset}` makes it part of a version")


@perspective.command("reject")
def reject(
    dataset: DatasetArgument, edit: EditArgument, comment: CommentOption = "", workspace: WorkspaceOption = None
) -> None:
    """Reject an edit.

    Example: `berdseye perspective reject debate 3 --comment "says the same as 1"`
    """
    log, held, judgments = _log(workspace, dataset)
    note(f"edit {log.reject(_person(held, judgments), edit, comment=comment).id} is rejected")


@perspective.command("undo")
def undo(dataset: DatasetArgument, edit: EditArgument, workspace: WorkspaceOption = None) -> None:
    """Take back the decision on an edit, as who may decide; or, of one's own open edit, the proposal.

    Example: `berdseye perspective undo debate 3`
    """
    from berdseye.app.access.acting import acting
    from berdseye.app.access.roles import check

    log, held, judgments = _log(workspace, dataset)
    person = _person(held, judgments)
    decided = any(e.id == edit and e.decision is not None for e in log.edits())
    if decided and held.people.team:
        who = acting(held.people)
        check(held.people.role_of(who), "adjudicate", who)
    done = log.undo(person, edit, of="decision" if decided else "proposal")
    note(f"edit {done.id} is {done.status}")


@perspective.command("export")
def export(
    path: Annotated[Path, typer.Argument(dir_okay=False, writable=True, help="A .jsonl file.")],
    dataset: Annotated[str | None, typer.Option(help="Only the edits of this data set.")] = None,
    workspace: WorkspaceOption = None,
) -> None:
    """Write the whole log of edits, an event a line.

    Example: `berdseye perspective export edits.jsonl`
    """
    from berdseye.annotation.judgments.log import Judgments
    from berdseye.annotation.perspective_edits.exchange import export_edits

    held = opened(workspace)
    if dataset is not None and dataset not in held.datasets():
        raise UnknownNameError("data set", dataset, held.datasets())
    note(f"{path}: {export_edits(Judgments.open(held.judgments_url), path, dataset)} events")


@perspective.command("import")
def import_file(
    path: Annotated[Path, typer.Argument(help="JSON Lines: an exported log, or proposals.")],
    workspace: WorkspaceOption = None,
) -> None:
    """Add the edits of a file, all of them or none; those that are here already are passed over. data/README.md has the layout.

    Example: `berdseye perspective import edits.jsonl`
    """
    from berdseye.annotation.judgments.log import Judgments
    from berdseye.annotation.perspective_edits.exchange import import_edits

    held = opened(workspace)
    judgments = Judgments.open(held.judgments_url)
    new, known = import_edits(held, judgments, path, _person(held, judgments))
    note(f"{new} events added, {known} known already")


def _proposed(
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

    log, held, judgments = _log(workspace, dataset)
    chosen = chosen_parts(_question(log, question).perspectives, parts)
    typed = [perspective_of_line(line, shared_stance(chosen)) for line in new]
    change = Change.of(action, chosen, explained_as(chosen, typed))
    edit = log.propose(_person(held, judgments), question, change, comment=comment)
    print(f"{edit.id}\t{_said(edit)}")
    if others := overlaps(log.edits())[edit.id]:
        note(f"It cannot stand beside edit {', '.join(map(str, others))}, which waits too.")


def _log(folder: Path | None, dataset: str) -> "tuple[EditLog, Workspace, Judgments]":
    from berdseye.annotation.judgments.log import Judgments
    from berdseye.annotation.perspective_edits.log import EditLog

    held = opened(folder)
    judgments = Judgments.open(held.judgments_url)
    return EditLog(held, judgments, dataset), held, judgments


def _person(workspace: "Workspace", judgments: "Judgments") -> "Annotator":
    from berdseye.annotation.people import known_or_invited
    from berdseye.app.access.acting import acting

    who = acting(workspace.people)
    if not who:
        raise BadInputError("It is not known who you are.", hint="Say `berdseye --as NAME perspective ...`.")
    return known_or_invited(judgments, who)


def _question(log: "EditLog", question: str) -> "Question":
    found = {q.id: q for q in log.present().questions}
    if question not in found:
        raise UnknownNameError("question", question, found)
    return found[question]


def _said(edit: "Edit") -> str:
    """An edit in one line."""
    gone, come = ("; ".join(p.text for p in side) for side in (edit.change.parts, edit.change.becomes))
    return f"{edit.change.action}: {gone}{' -> ' if gone and come else ''}{come}"


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
