"""`berdseye detector list | adopt | discard | train | improve`.

Keep and choose detectors, and train one on labelled pairs or on judgments.
"""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from berdseye.app.access.acting import acting_name
from berdseye.app.commands.console import counting, note, note_truncated, print_json
from berdseye.app.commands.detectors.training_options import DEFAULT_TRAINING, TrainingOptions, with_training_options
from berdseye.app.commands.options import JsonOption, WorkspaceOption, open_workspace
from berdseye.app.commands.training_sets import AnnotatorOption, DemoOption, LeaksOption, RuleOption, UnsureOption
from berdseye.data.given_options import not_with, only_with
from berdseye.data.workspace import Workspace

if TYPE_CHECKING:
    from berdseye.annotation.training_sets.store import TrainingSetVersion
    from berdseye.detectors.trained import Trained
    from berdseye.detectors.training.training_set import TrainingSet


def register(group: typer.Typer) -> None:
    """Add the commands."""
    register_keeping(group)
    register_train(group)
    register_improve(group)


def register_train(group: typer.Typer) -> None:
    """Add the command."""
    group.command()(with_training_options(train))


def train(
    file: Annotated[
        Path | None,
        typer.Argument(help="Labelled pairs: TSV, CSV, JSONL or Parquet. Default: the workspace's judgments."),
    ] = None,
    name: Annotated[str, typer.Option(help="The name of the new detector.")] = "mine",
    training: TrainingOptions = DEFAULT_TRAINING,
    unlabelled: Annotated[
        Path | None, typer.Option(help="A file of further pairs for the teacher to label; labels in it are ignored.")
    ] = None,
    set_: Annotated[
        str | None, typer.Option("--training-set", help="An existing training set to use instead of FILE.")
    ] = None,
    demo: Annotated[
        bool, typer.Option(help="Without FILE: count the votes of the simulated annotators of the demo.")
    ] = False,
    workspace: WorkspaceOption = None,
    json: JsonOption = False,
) -> None:
    """Train a detector on labelled pairs, choose its threshold on dev, and measure it on test.

    The kinds crossencoder and lora are also calibrated on dev. After an interruption, the same command resumes.

    Example: `berdseye detector train pairs.tsv --kind crossencoder --base all-MiniLM-L6-v2 --name mine`
    """
    from berdseye.data.datasets.labelled_pairs import read_labelled_pairs
    from berdseye.evaluation.detection.grading import train_and_grade

    not_with("FILE", file is not None, "set_", "demo", why="which has its own labels")
    not_with("--training-set", set_ is not None, "demo", why="whose votes are already counted")
    only_with("--teacher", training.teacher, "unlabelled")
    ws = open_workspace(workspace)
    plan = training.plan(ws, name)
    data = training_data(ws, file, set_, demo)
    if unlabelled is not None:
        data = replace(data, unlabelled=read_labelled_pairs(unlabelled, labelled=False))
    with counting(f"{plan.kind} '{name}'") as progress:
        trained = train_and_grade(ws, plan, data, progress=progress)
    note_cut_pairs(trained)
    if json:
        print_json(trained.card)
        return
    print(f"{trained.detector}\t{trained.card['measured']}\tthreshold {trained.card['threshold']}")
    note(f"To use it from now on, run `berdseye detector adopt '{trained.detector}'`.")


def note_cut_pairs(trained: "Trained") -> None:
    """Print a note for each split with pairs that were cut in training or when the detector was measured."""
    card = trained.card
    counts = card.get("truncated")
    for split, count in counts.items() if isinstance(counts, dict) else ():  # a number in cards of older versions
        note_truncated(trained.detector, count, card["splits"][split]["pairs"], f"pairs of the split {split}")


def training_data(
    workspace: Workspace, file: Path | None = None, wanted: str | None = None, demo: bool = False
) -> "TrainingSet":
    """The pairs of `file`, of the training set `wanted`, or of a new version of the set 'judged' made from judgments."""
    from berdseye.data.datasets.labelled_pairs import file_hash, read_labelled_pairs
    from berdseye.detectors.training.training_set import training_set

    if file is not None:
        return training_set(read_labelled_pairs(file), file, file_hash(file))
    from berdseye.app.jobs.improving import set_to_train_on

    return set_to_train_on(chosen_training_set(workspace, wanted, demo=demo))


def chosen_training_set(
    workspace: Workspace,
    wanted: str | None,
    rule: str = "adjudicated",
    unsure: str = "ignored",
    annotator: str = "",
    leaks: str = "drop",
    *,
    demo: bool,
) -> "TrainingSetVersion":
    """The training set `wanted`, or a new version of the set 'judged' by these rules; also prints which one it is."""
    from berdseye.annotation.training_sets.store import find_set
    from berdseye.app.jobs.training_sets import create_set_version

    version = (
        find_set(workspace, wanted)
        if wanted
        else create_set_version(
            workspace, "judged", rule, unsure, annotator, leaks, demo=demo, made_by=acting_name(workspace)
        )
    )
    if simulated := version.manifest["judgments_of_made_up_annotators"]:
        note(f"{simulated:,} of {version.manifest['judgments']:,} judgments are by simulated annotators of the demo.")
    note(f"Training set {version.id} ({version.hash}). {version.leakage}")
    return version


def register_improve(group: typer.Typer) -> None:
    """Add the command."""
    group.command()(with_training_options(improve))


def improve(
    adopt: Annotated[
        str, typer.Option(help="When to adopt the new detector: if-better, always or never.")
    ] = "if-better",
    name: Annotated[
        str | None, typer.Option(help="The name of the new detector. Default: derived from its training set.")
    ] = None,
    training: TrainingOptions = DEFAULT_TRAINING,
    set_: Annotated[
        str | None,
        typer.Option("--training-set", help="An existing training set to use instead of the current judgments."),
    ] = None,
    rule: RuleOption = "adjudicated",
    unsure: UnsureOption = "ignored",
    annotator: AnnotatorOption = "",
    leaks: LeaksOption = "drop",
    demo: DemoOption = False,
    workspace: WorkspaceOption = None,
    json: JsonOption = False,
) -> None:
    """Train a detector on the current judgments, and adopt it where it is better on held-out questions.

    The command creates the next version of the training set 'judged', trains on its train split, chooses the threshold on dev,
    and compares the result with the adopted detector on test. `if-better` adopts the new detector where the 95% interval of the
    difference in F1 (a paired bootstrap over questions) lies above 0. With --demo, simulated annotators count in training alone,
    and the comparison uses people's labels.

    Example: `berdseye detector improve --adopt if-better`
    """
    from berdseye.app.jobs.improving import check_name
    from berdseye.app.jobs.improving import improve as improved
    from berdseye.app.jobs.training_sets import one_of
    from berdseye.evaluation.detection.improvement import ADOPTS

    not_with(
        "--training-set",
        set_ is not None,
        "rule",
        "unsure",
        "annotator",
        "leaks",
        "demo",
        why="whose rules are fixed",
    )
    ws = open_workspace(workspace)
    mode = one_of("rule for adopting", adopt, ADOPTS)
    plan = training.plan(ws, name or "")
    if name is not None:
        check_name(ws, plan)
    person = acting_name(ws)
    version = chosen_training_set(ws, set_, rule, unsure, annotator, leaks, demo=demo)
    if name is None:
        plan = replace(plan, name=version.id if plan.kind == "stance" else f"{version.id}-{plan.kind}")
    with counting(f"{plan.kind} '{plan.name}'") as progress:
        result = improved(ws, version, plan, mode, made_by=person, progress=progress)
    note_cut_pairs(result.trained)
    if json:
        print_json(result.as_row())
        return
    print(f"{result.trained.detector}\t{result.trained.card['measured']}")
    print(result.comparison)
    if result.adopted:
        note(f"{result.comparison.new} ({result.comparison.new_version}) is now in use.")
    else:
        note(
            f"{result.comparison.present} stays in use; to change that, run `berdseye detector adopt '{result.comparison.new}'`."
        )


def register_keeping(group: typer.Typer) -> None:
    """Add the commands."""
    group.command("list")(list_detectors)
    group.command()(adopt)
    group.command()(discard)


def list_detectors(workspace: WorkspaceOption = None, json: JsonOption = False) -> None:
    """List the detectors of Berdseye and of the workspace with grade, threshold and its source; the adopted one comes first.

    The detectors of the workspace are those trained in it, and networks in `WORKSPACE/detectors/NAME`, which are used as
    `stance(NAME)`. One with missing or damaged files is listed with what is wrong.

    A detector of grade topic tells what is on topic, not which side it takes; see `berdseye detector grade`.

    `docs/detector-tables.md` explains every column; the app shows it on the page Documentation.

    Example: `berdseye detector list --json`
    """
    from berdseye.detectors.listing import list_detectors as listed

    rows = listed(open_workspace(workspace))
    if json:
        print_json([row._asdict() for row in rows])
        return
    for row in rows:
        cells = [f"{'*' if row.adopted else ' '} {row.detector}"]
        if row.problem:
            cells += ["", row.problem]
        else:
            cells += [
                row.version,
                f"grade {row.graded}",
                f"threshold {row.threshold:g}: {row.threshold_source}",
                row.measured,
            ]
        print("\t".join(cells))


def adopt(
    detector: Annotated[str, typer.Argument(help="A detector, such as embedded or crossencoder(mine).")],
    workspace: WorkspaceOption = None,
) -> None:
    """Use a detector from now on wherever none is named, in the app and on the command line.

    Example: `berdseye detector adopt embedded`
    """
    from berdseye.detectors.detector_registry import parse_detector
    from berdseye.detectors.trained import adopt as adopted

    ws = open_workspace(workspace)
    chosen = parse_detector(detector, ws)
    adopted(ws, chosen.name, made_by=acting_name(ws))
    note(f"{chosen.name} ({chosen.version}) is now in use.")


def discard(
    name: Annotated[str, typer.Argument(help="The name that the detector was trained under.")],
    workspace: WorkspaceOption = None,
) -> None:
    """Delete a detector that was trained in the workspace; its labels are kept.

    Example: `berdseye detector discard mine`
    """
    from berdseye.detectors.trained import discard as discarded

    discarded(open_workspace(workspace), name)
    note(f"'{name}' is gone.")
