"""`berdseye detector adapt`: train on passages that a language model writes for one's own questions, and on judgments."""

from pathlib import Path
from typing import Annotated

import typer

from berdseye.app.access.acting import acting_name
from berdseye.app.commands.console import counting, note, print_json
from berdseye.app.commands.detectors.training import chosen_training_set, note_cut_pairs
from berdseye.app.commands.detectors.training_options import DEFAULT_TRAINING, TrainingOptions, with_training_options
from berdseye.app.commands.models import DEFAULT_MODEL, ModelOption
from berdseye.app.commands.options import JsonOption, WorkspaceOption, open_workspace
from berdseye.app.commands.training_sets import DemoOption
from berdseye.data.given_options import not_with
from berdseye.data.workspace import checked_name


def register(group: typer.Typer) -> None:
    """Add the command."""
    group.command()(with_training_options(adapt))


def adapt(
    dataset: Annotated[str, typer.Argument(help="The data set whose questions the detector is adapted to.")],
    model: ModelOption = DEFAULT_MODEL,
    of_each: Annotated[
        int,
        typer.Option(min=1, max=100, help="Passages for and against each perspective, and neutral ones a question."),
    ] = 2,
    name: Annotated[
        str | None,
        typer.Option(help="The name of the new detector. Default: DATASET-adapted, with a number if it is taken."),
    ] = None,
    training: TrainingOptions = DEFAULT_TRAINING,
    adopt: Annotated[
        str, typer.Option(help="When to adopt the new detector: if-better, always or never.")
    ] = "if-better",
    set_: Annotated[
        str | None,
        typer.Option("--training-set", help="An existing training set to use instead of the current judgments."),
    ] = None,
    demo: DemoOption = False,
    save: Annotated[
        Path | None,
        typer.Option(
            dir_okay=False,
            writable=True,
            help="Also write the pairs of the passages to a .tsv, .jsonl or .parquet file.",
        ),
    ] = None,
    dry_run: Annotated[
        bool,
        typer.Option("--dry-run", help="Only report the calls and their highest cost, from the price of the model."),
    ] = False,
    workspace: WorkspaceOption = None,
    json: JsonOption = False,
) -> None:
    """Adapt the detector to the questions of a data set, with written passages and people's judgments.

    A language model writes passages for and against every perspective and neutral ones. Near-duplicates, texts that quote their
    perspective, and texts that repeat a judged passage are rejected. The detector is trained on the others and on judgments
    (`stance` also reads each passage with two other perspectives of its question, and keeps its opinion of these), and compared
    with the one in use on people's judgments of held-out questions alone, also with --demo. Stored passages are used again, so
    that the command can be repeated after more judging. The judgments that help most come from a batch with `--order
    uncertainty`.

    A local model costs nothing. The price of an API model is a setting, on the page Workspace or in `berdseye.toml`: under
    `[language_models.prices]`, a line such as `"gpt-4o-mini" = [0.15, 0.6]`, in dollars per million input and output tokens.

    Example: `berdseye detector adapt debate --model "api(gpt-4o-mini)" --dry-run`
    """
    from berdseye.app.jobs.adapting import adapt as adapted
    from berdseye.app.jobs.adapting import to_write
    from berdseye.app.jobs.improving import check_name
    from berdseye.app.jobs.training_sets import one_of
    from berdseye.data.datasets.labelled_pairs import labelled_pairs_writer
    from berdseye.data.files.atomic import write_bytes
    from berdseye.data.language_models.model_registry import open_language_model
    from berdseye.detectors.training.written_passages import highest_writing_cost, written_table
    from berdseye.evaluation.detection.improvement import ADOPTS

    not_with("--training-set", set_ is not None, "demo", why="whose votes are already counted")
    writer_of_pairs = None if save is None else labelled_pairs_writer(save)
    mode = one_of("rule for adopting", adopt, ADOPTS)
    ws = open_workspace(workspace)
    asked = to_write(ws, dataset, of_each)
    plan = training.plan(ws, name or checked_name("detector", f"{dataset.replace('@', '-')}-adapted"))
    if name is not None:
        check_name(ws, plan)
    writer = open_language_model(model, ws)
    if dry_run:
        most = highest_writing_cost(writer, asked)
        if json:
            print_json({"model": writer.name, **most._asdict()})
            return
        print(most.described(writer.name))
        return
    version = chosen_training_set(ws, set_, demo=demo)
    with counting(f"{plan.kind} '{plan.name}'") as progress:
        result = adapted(
            ws, writer, asked, version, plan, mode, number=name is None, made_by=acting_name(ws), progress=progress
        )
    if save is not None and writer_of_pairs is not None:
        write_bytes(save, writer_of_pairs(written_table(result.written.pairs)))
        note(f"Written pairs: {save}")
    improved = result.improved
    note_cut_pairs(improved.trained)
    if json:
        rejected = [{"id": r.asked.question.id, "kind": r.asked.kind, "reason": r.reason, "text": r.text}
                    for r in result.written.rejected]  # fmt: skip
        print_json(improved.as_row() | {"written_pairs": len(result.written.pairs), "rejected": rejected})
        return
    note(
        f"{len(result.written.pairs):,} written pairs; {len(result.written.rejected):,} texts rejected (--json lists them)."
    )
    print(f"{improved.trained.detector}\t{improved.trained.card['measured']}")
    print(improved.comparison)
    if improved.adopted:
        note(f"{improved.comparison.new} ({improved.comparison.new_version}) is now in use.")
