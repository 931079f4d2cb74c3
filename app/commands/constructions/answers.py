"""Commands of `berdseye construct` about answers: views that a data set lacks, and people's labels of disputes (DebateQA)."""

import json as json_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from berdseye.app.commands.console import counting, note, print_json
from berdseye.app.commands.models import DEFAULT_MODEL, ModelOption
from berdseye.app.commands.options import LARGEST_SEED, JsonOption, WorkspaceOption, open_workspace
from berdseye.data.errors import BadInputError

if TYPE_CHECKING:
    from berdseye.data.answers import AnswerSet
    from berdseye.data.records import Question
    from berdseye.data.workspace import Workspace

DatasetArgument = Annotated[str, typer.Argument(help="The data set that the answers belong to.")]
OutArgument = Annotated[Path, typer.Argument(dir_okay=False, writable=True, help="The .jsonl file to write.")]
SetOption = Annotated[
    list[str] | None,
    typer.Option(
        "--answer-set",
        help="A stored set of answers, or a JSONL file of id and answer; repeatable. Default: all stored.",
    ),
]


def register(group: typer.Typer) -> None:
    """Add the commands."""
    for command in (missing_views, propose_views, dispute_items, dispute_labels):
        group.command(command.__name__.replace("_", "-"))(command)


def missing_views(
    dataset: DatasetArgument,
    file: OutArgument,
    answer_set: SetOption = None,
    model: ModelOption = DEFAULT_MODEL,
    prompt: Annotated[
        Path | None, typer.Option(help="A file with another prompt: a text with [Question], [Views] and [Answer].")
    ] = None,
    least: Annotated[int, typer.Option(min=1, max=5, help="Write the views of answers with at least this rating.")] = 5,
    workspace: WorkspaceOption = None,
    json: JsonOption = False,
) -> None:
    """Let a language model rate, from 1 to 5, whether answers hold views that the data set lacks; write these to a file.

    Prints the share of answers rated 5, beside DebateQA's .03 to .09. Delete the lines of the file that you do not accept, and
    propose the others with `berdseye construct propose-views`.

    Example: `berdseye construct missing-views debate views.jsonl --model "api(gpt-4o-mini)"`
    """
    from berdseye.data.language_models.model_registry import open_language_model
    from berdseye.data.language_models.prompts import read_prompt
    from berdseye.evaluation.construction.debateqa.missing_views import (
        ANSWER,
        PRINTED,
        PROMPT,
        QUESTION,
        VIEWS,
        missing_shares,
        write_findings,
    )
    from berdseye.evaluation.construction.debateqa.missing_views import missing_views as found_in

    ws = open_workspace(workspace)
    questions, sets = _answers(ws, dataset, answer_set)
    template = PROMPT if prompt is None else read_prompt(prompt, (QUESTION, VIEWS, ANSWER))
    with counting(f"missing views in {len(sets)} sets of answers") as progress:
        findings = found_in(ws, open_language_model(model, ws), questions, sets, template=template, progress=progress)
    views = write_findings(file, findings, least=least)
    shares = missing_shares(findings)
    if json:
        print_json({"systems": [share._asdict() for share in shares], "views": views, "printed": list(PRINTED)})
        return
    for share in shares:
        unread = f", {share.unread} replies without a rating" if share.unread else ""
        print(f"{share.system}\t{share.share:.2f} of {share.rated} answers rated 5{unread}")
    note(f"DebateQA, table 11: {PRINTED[0]:.2f} to {PRINTED[1]:.2f}. {file}: {views} views")


def propose_views(
    dataset: DatasetArgument,
    file: Annotated[Path, typer.Argument(help="The file of `berdseye construct missing-views`.")],
    workspace: WorkspaceOption = None,
) -> None:
    """Propose the views of a file as missing perspectives, which others accept or reject on the page Perspectives.

    Example: `berdseye construct propose-views debate views.jsonl`
    """
    from berdseye.annotation.judgments.log import Judgments
    from berdseye.annotation.people import find_or_invite
    from berdseye.annotation.perspective_edits.log import EditLog
    from berdseye.app.access.acting import acting
    from berdseye.evaluation.construction.debateqa.missing_views import propose_views as proposed

    ws = open_workspace(workspace)
    judgments = Judgments.open(ws.judgments_url)
    who = acting(ws.people)
    if not who:
        raise BadInputError("Berdseye does not know who you are.", hint="Use `berdseye --as NAME construct ...`.")
    done = proposed(EditLog(ws, judgments, dataset), find_or_invite(judgments, who), file)
    for reason in done.skipped:
        note(f"skipped: {reason}")
    note(f"{dataset}: {done.proposals} views proposed")


def dispute_items(
    dataset: DatasetArgument,
    file: OutArgument,
    answer_set: SetOption = None,
    questions: Annotated[int, typer.Option(min=1, help="The number of questions, which are drawn.")] = 100,
    seed: Annotated[int, typer.Option(min=0, max=LARGEST_SEED, help="The seed of the draw.")] = 0,
    workspace: WorkspaceOption = None,
) -> None:
    """Write answers as items of the check `dispute`, in which people say whether an answer acknowledges the debate.

    Example: `berdseye construct dispute-items debate items.jsonl`, then
    `berdseye batch create disputes --task check --check dispute --file items.jsonl --per-pair 3`
    """
    from berdseye.data.files.atomic import write_bytes
    from berdseye.evaluation.construction.debateqa.dispute_labels import dispute_items as drawn

    asked, sets = _answers(open_workspace(workspace), dataset, answer_set)
    items = drawn(asked, sets, count=questions, seed=seed)
    text = "".join(f"{json_module.dumps(item, ensure_ascii=False)}\n" for item in items)
    write_bytes(file, text.encode("utf-8", "replace"))
    note(f"{file}: {len(items)} answers of {len(sets)} systems")


def dispute_labels(
    dataset: DatasetArgument,
    batch: Annotated[str, typer.Argument(help="The batch of the check `dispute`.")],
    file: OutArgument,
    answer_set: SetOption = None,
    workspace: WorkspaceOption = None,
) -> None:
    """Write people's verdicts of a batch as labels of the systems' answers.

    Example: `berdseye construct dispute-labels debate disputes labels.jsonl`, then
    `berdseye study debateqa-meta --labels labels.jsonl --measures "DA(llm)"`
    """
    from berdseye.annotation.batches.stored import load_batch
    from berdseye.annotation.judgments.log import Judgments
    from berdseye.evaluation.construction.debateqa.dispute_labels import batch_verdicts, write_dispute_labels
    from berdseye.evaluation.construction.debateqa.dispute_labels import dispute_labels as labels_of

    ws = open_workspace(workspace)
    asked, sets = _answers(ws, dataset, answer_set)
    judgments = Judgments.open(ws.judgments_url)
    labels = labels_of(asked, sets, batch_verdicts(judgments, load_batch(judgments, batch)))
    write_dispute_labels(file, labels)
    note(f"{file}: {len(labels)} labels of {len({label.annotator for label in labels})} people")


def _answers(workspace: "Workspace", dataset: str, names: list[str] | None) -> "tuple[list[Question], list[AnswerSet]]":
    from berdseye.data.answers import named_answers
    from berdseye.data.datasets.stored import load_dataset

    questions = load_dataset(workspace, dataset)
    sets = named_answers(workspace, dataset, names)
    if not sets:
        raise BadInputError(f"There are no answers to '{dataset}'.", hint="Write some: `berdseye answer`.")
    if other := [answers for answers in sets if answers.dataset != dataset]:
        raise BadInputError(
            f"The answers '{other[0].name}' belong to '{other[0].dataset}', and not to '{dataset}'.",
            hint="Name sets of one data set.",
        )
    return questions, sets
