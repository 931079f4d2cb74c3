"""What comes out of a batch: its judgments, its preferences between systems, and the qualification of its people."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from berdseye.app.commands.console import note, print_json
from berdseye.app.commands.options import JsonOption, WorkspaceOption, open_workspace
from berdseye.data.texts.counts import counted

if TYPE_CHECKING:
    from berdseye.annotation.judgments.log import Judgments
    from berdseye.data.workspace import Workspace

NameArgument = Annotated[str, typer.Argument(help="The name of the batch.")]


def export(
    name: NameArgument,
    path: Annotated[
        Path,
        typer.Argument(
            dir_okay=False, writable=True, help="A .csv, .jsonl or .parquet file; with --label-studio a .json file."
        ),
    ],
    label_studio: Annotated[
        bool,
        typer.Option(
            "--label-studio", help="Write the tasks for a Label Studio server that cannot be reached from here."
        ),
    ] = False,
    workspace: WorkspaceOption = None,
) -> None:
    """Export every judgment of a batch with its pair, the detector's probability and the adjudicated verdict.

    With `--label-studio`, export the tasks, without judgments, and the labeling interface as a .config.xml file next to them.
    `berdseye judgments import` imports what that server exports.

    Example: `berdseye batch export first first.csv`
    """
    from berdseye.annotation.batches.progress import batch_frame
    from berdseye.annotation.batches.stored import load_batch
    from berdseye.data.files.tables import write_table

    judgments = judgments_of(open_workspace(workspace))
    if label_studio:
        from berdseye.annotation.label_studio.batch_projects import write_batch_file

        form = write_batch_file(judgments, load_batch(judgments, name), path)
        note(f"{path}: the tasks; {form.name}: the labeling interface of their project")
        return
    table = batch_frame(judgments, load_batch(judgments, name))
    write_table(table, path)
    note(f"{path}: {counted(len(table), 'row')}")


def preferences(
    name: NameArgument,
    path: Annotated[Path, typer.Argument(dir_okay=False, writable=True, help="A .jsonl file.")],
    workspace: WorkspaceOption = None,
) -> None:
    """Export people's preferences between answers as preferences between the systems that wrote the answers.

    The batch must have been created with --answer-set. `berdseye study debateqa-meta` rates the systems by the preferences (Elo),
    and compares every measure of answers with the ratings.

    Example: `berdseye batch preferences people people.jsonl`, then `berdseye study debateqa-meta --preferences people.jsonl`
    """
    from berdseye.annotation.batches.stored import load_batch
    from berdseye.evaluation.selection.answer_pairs import batch_preferences, write_preferences

    held = open_workspace(workspace)
    judgments = judgments_of(held)
    found = batch_preferences(held, judgments, load_batch(judgments, name))
    write_preferences(path, found)
    note(f"{path}: {len(found)} preferences of {len({p.annotator for p in found})} people")


def qualification(name: NameArgument, workspace: WorkspaceOption = None, json: JsonOption = False) -> None:
    """List how many of the known answers of a batch of checks each person gave, and who passed.

    An exam is passed with every answer right, a training batch with more than 95% right. In a training batch, a person's first
    verdict on each item counts, because the expected verdict follows it.

    Example: `berdseye batch qualification exam`
    """
    from berdseye.annotation.batches.qualification import qualification as qualified
    from berdseye.annotation.batches.stored import load_batch

    judgments = judgments_of(open_workspace(workspace))
    people = qualified(judgments, load_batch(judgments, name))
    if json:
        print_json([person._asdict() | {"share": person.share} for person in people])
        return
    for person in people:
        share = "" if person.share is None else f"\t{person.share:.1%} right"
        state = "passed" if person.passed else "not passed" if person.answered == person.known else "not finished"
        print(f"{person.name}\t{state}\t{person.right} of {person.known}{share}")


def judgments_of(workspace: "Workspace") -> "Judgments":
    """Open the judgments of a workspace."""
    from berdseye.annotation.judgments.log import Judgments

    return Judgments.open(workspace.judgments_url)
