"""`detector list`, `adopt` and `discard`.

`detector train`.

`detector improve`: from judgments to a better detector, in one command.

`detector tune`: choosing a threshold on labelled pairs, and forgetting it.
"""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from berdseye.app.access.acting import acting_name
from berdseye.app.commands.arguments import not_with, only_with
from berdseye.app.commands.console import counting, note, print_json
from berdseye.app.commands.options import LARGEST_SEED, JsonOption, WorkspaceOption, opened
from berdseye.app.commands.training_sets import AnnotatorOption, DemoOption, LeaksOption, RuleOption, UnsureOption
from berdseye.data.workspace import Workspace

if TYPE_CHECKING:
    from berdseye.detectors.training.training_set import TrainingSet


SEARCHED = ("learning_rate", "warmup", "epochs", "weight_decay")
"""The settings that a search chooses."""


def register(group: typer.Typer) -> None:
    """Add the commands."""
    register_keeping(group)
    register_train(group)
    register_improve(group)
    register_tune(group)


def register_train(group: typer.Typer) -> None:
    """Add the command."""
    group.command()(train)


def train(
    file: Annotated[
        Path | None, typer.Argument(help="Labelled pairs: TSV, CSV, JSONL or Parquet; else the workspace's judgments.")
    ] = None,
    kind: Annotated[str, typer.Option(help="head, crossencoder, lora or stacked.")] = "head",
    name: Annotated[str, typer.Option(help="What the detector is to be called.")] = "mine",
    base: Annotated[
        list[str] | None,
        typer.Option(help="The model to fine-tune, or the detector to start from; given again, those to stack."),
    ] = None,
    teacher: Annotated[str | None, typer.Option(help="A detector whose probabilities are learned.")] = None,
    unlabelled: Annotated[
        Path | None, typer.Option(help="More pairs for the teacher to label; labels in it do not count.")
    ] = None,
    search: Annotated[str, typer.Option(help="none, grid (BERDS's 360 settings) or optuna.")] = "none",
    trials: Annotated[int | None, typer.Option(min=1, help="How many settings are tried.")] = None,
    learning_rate: Annotated[float, typer.Option(help="The highest of its schedule.")] = 1e-4,
    warmup: Annotated[float, typer.Option(help="Share of the steps in which it rises.")] = 0.1,
    epochs: Annotated[float, typer.Option(help="How often each pair is seen.")] = 2.0,
    weight_decay: Annotated[float, typer.Option(help="AdamW's weight decay.")] = 0.001,
    batch: Annotated[int, typer.Option(help="Pairs a step.")] = 16,
    max_length: Annotated[int, typer.Option(help="Tokens of a pair that are read.")] = 256,
    title: Annotated[str, typer.Option(help="Where a title is read: none, before or after the passage.")] = "none",
    rank: Annotated[int, typer.Option(help="Of LoRA's matrices.")] = 16,
    patience: Annotated[int, typer.Option(help="Evaluations without a better F1 before it stops.")] = 4,
    seed: Annotated[int, typer.Option(min=0, max=LARGEST_SEED, help="Of order, dropout and search.")] = 0,
    set_: Annotated[
        str | None, typer.Option("--training-set", help="A training set there is, in place of a file.")
    ] = None,
    demo: Annotated[bool, typer.Option(help="Without a file: let the made-up annotators of the demo vote.")] = False,
    workspace: WorkspaceOption = None,
    json: JsonOption = False,
) -> None:
    """Train a detector on labelled pairs, calibrate it on dev, and measure it on test.

    What was broken off goes on when the same command is given again.

    Example: `berdseye detector train pairs.tsv --kind crossencoder --base all-MiniLM-L6-v2 --name mine`
    """
    from berdseye.data.datasets.labelled_pairs import read_labelled_pairs
    from berdseye.data.errors import UnknownNameError
    from berdseye.detectors.training.loop import Settings
    from berdseye.detectors.training.search import SEARCHES
    from berdseye.detectors.training.training import DETECTOR_OF, TrainingPlan, train_detector

    held = opened(workspace)
    for what, given, known in (("kind of training", kind, DETECTOR_OF), ("search", search, SEARCHES)):
        if given not in known:
            raise UnknownNameError(what, given, known)
    not_with("FILE", file is not None, "set_", "demo", why="which has labels of its own")
    not_with("--training-set", set_ is not None, "demo", why="whose votes are counted")
    only_with("--search grid or optuna", search != "none", "trials")
    not_with(f"--search {search}", search != "none", *SEARCHED, why="which chooses it")
    tuned = kind in ("crossencoder", "lora")
    only_with("--kind crossencoder or lora", tuned, *SEARCHED, "batch", "max_length", "title", "patience", "seed")
    only_with("--kind lora", kind == "lora", "rank")
    plan = TrainingPlan(
        kind=next(k for k in DETECTOR_OF if k == kind),
        name=name,
        bases=tuple(base or ()),
        settings=Settings(
            learning_rate=learning_rate,
            warmup=warmup,
            epochs=epochs,
            weight_decay=weight_decay,
            batch=batch,
            max_length=max_length,
            title=title,
            rank=rank,
            patience=patience,
            seed=seed,
        ),
        search=next(s for s in SEARCHES if s == search),
        trials=trials,
        teacher=teacher,
    )
    data = training_data(held, file, set_, demo)
    more = read_labelled_pairs(unlabelled, labelled=False) if unlabelled else []
    with counting(f"{kind} '{name}'") as progress:
        made = train_detector(held, plan, data, unlabelled=more, progress=progress)
    if json:
        print_json(made.card)
        return
    print(f"{made.detector}\t{made.card['measured']}\tthreshold {made.card['threshold']}")
    note(f"Use it from now on with `berdseye detector adopt '{made.detector}'`.")


def training_data(
    workspace: Workspace, file: Path | None = None, wanted: str | None = None, demo: bool = False
) -> "TrainingSet":
    """The pairs of a file or of a training set, or a new version of the set 'judged', of what people judged here."""
    from berdseye.data.datasets.labelled_pairs import file_hash, read_labelled_pairs
    from berdseye.detectors.training.training_set import training_set

    if file is not None:
        return training_set(read_labelled_pairs(file), file, file_hash(file))
    from berdseye.annotation.training_sets.store import find_set
    from berdseye.app.jobs.improving import set_to_train_on
    from berdseye.app.jobs.training_sets import made_set

    made = (
        find_set(workspace, wanted)
        if wanted
        else made_set(
            workspace, "judged", "adjudicated", "ignored", "", "drop", demo=demo, made_by=acting_name(workspace)
        )
    )
    if made_up := made.manifest["judgments_of_made_up_annotators"]:
        note(f"{made_up:,} of {made.manifest['judgments']:,} judgments are of the demo's made-up annotators.")
    note(f"Training set {made.id} ({made.hash}). {made.manifest['leakage']['told']}")
    return set_to_train_on(made)


def register_improve(group: typer.Typer) -> None:
    """Add the command."""
    group.command()(improve)


def improve(
    adopt: Annotated[str, typer.Option(help="Use it from now on: if-better, always or never.")] = "if-better",
    kind: Annotated[str, typer.Option(help="head, crossencoder or lora.")] = "head",
    base: Annotated[
        str | None, typer.Option(help="The model to fine-tune, or the detector a head starts from.")
    ] = None,
    name: Annotated[str | None, typer.Option(help="What it is to be called; else as its training set.")] = None,
    set_: Annotated[
        str | None, typer.Option("--training-set", help="A training set there is, in place of the present judgments.")
    ] = None,
    rule: RuleOption = "adjudicated",
    unsure: UnsureOption = "ignored",
    annotator: AnnotatorOption = "",
    leaks: LeaksOption = "drop",
    demo: DemoOption = False,
    workspace: WorkspaceOption = None,
    json: JsonOption = False,
) -> None:
    """Learn from the present judgments, and use what was learned where it proves better on questions held out.

    Makes the next version of the training set 'judged', trains on its train split, chooses the threshold on dev, and compares
    with the detector in use on test. `if-better` adopts where the 95% interval of the difference in F1 (a paired bootstrap
    over questions) lies above 0.

    Example: `berdseye detector improve --adopt if-better`
    """
    from berdseye.annotation.training_sets.store import find_set
    from berdseye.app.jobs.improving import improve as improved
    from berdseye.app.jobs.training_sets import made_set, one_of
    from berdseye.detectors.training.training import DETECTOR_OF, TrainingPlan
    from berdseye.evaluation.detection.improvement import ADOPTS

    not_with(
        "--training-set",
        set_ is not None,
        "rule",
        "unsure",
        "annotator",
        "leaks",
        "demo",
        why="which was made by rules",
    )
    held = opened(workspace)
    mode = one_of("rule for adopting", adopt, ADOPTS)
    chosen = one_of("kind of training", kind, tuple(k for k in DETECTOR_OF if k != "stacked"))
    person = acting_name(held)
    made = (
        find_set(held, set_)
        if set_
        else made_set(held, "judged", rule, unsure, annotator, leaks, demo=demo, made_by=person)
    )
    called = name or (made.id if chosen == "head" else f"{made.id}-{chosen}")
    plan = TrainingPlan(kind=chosen, name=called, bases=(base,) if base else ())
    if made_up := made.manifest["judgments_of_made_up_annotators"]:
        note(f"{made_up:,} of {made.manifest['judgments']:,} judgments are of the demo's made-up annotators.")
    note(f"Training set {made.id} ({made.hash}). {made.manifest['leakage']['told']}")
    with counting(f"{kind} '{called}'") as progress:
        result = improved(held, made, plan, mode, made_by=person, progress=progress)
    if json:
        print_json(result.as_row())
        return
    print(f"{result.trained.detector}\t{result.trained.card['measured']}")
    print(result.found)
    if result.adopted:
        note(f"{result.found.new} ({result.found.new_version}) is used from now on.")
    else:
        note(f"{result.found.present} stays in use; change that with `berdseye detector adopt '{result.found.new}'`.")


def register_tune(group: typer.Typer) -> None:
    """Add the command."""
    group.command()(tune)


def tune(
    file: Annotated[Path | None, typer.Argument(help="Labelled pairs, as for `detector score`.")] = None,
    detector: Annotated[str | None, typer.Option(help="The detector; else the adopted one.")] = None,
    at_base_rate: Annotated[bool, typer.Option(help="Weight the rows so that 16.8% are positive.")] = False,
    forget: Annotated[bool, typer.Option(help="Remove the tuned threshold; needs no file.")] = False,
    workspace: WorkspaceOption = None,
    json: JsonOption = False,
) -> None:
    """Choose the threshold with the best F1 on a file, and use it from now on in this workspace.

    Of a file with a column split only the rows of split dev are used, never those of split test.

    Example: `berdseye detector tune judged.tsv --detector embedded --at-base-rate`
    """
    from dataclasses import asdict

    from berdseye.data.errors import BadInputError
    from berdseye.detectors.detector_registry import parse_detector
    from berdseye.detectors.thresholds import forget_threshold, write_threshold
    from berdseye.detectors.trained import adopted_detector
    from berdseye.evaluation.detection.thresholds import choose_threshold

    not_with("--forget", forget, "file", "at_base_rate")
    held = opened(workspace)
    chosen = parse_detector(detector or adopted_detector(held), held)
    if forget:
        gone = forget_threshold(held, chosen.name)
        again = parse_detector(chosen.name, held).threshold
        if json:
            print_json({"detector": chosen.name, "forgotten": bool(gone), "value": again})
        note(f"{chosen.name} {'is back at' if gone else 'had no tuned threshold: it stays at'} {again:g}.")
        return
    if file is None:
        raise BadInputError("No file is named.", hint="Name labelled pairs, or say --forget.")
    with counting(chosen.name) as progress:
        tuned = choose_threshold(chosen, file, at_base_rate=at_base_rate, made_by=acting_name(held), progress=progress)
    write_threshold(held, tuned)
    if json:
        print_json(asdict(tuned))
        return
    print(f"{tuned.detector}\t{tuned.value:g}\t{tuned.source}")


def register_keeping(group: typer.Typer) -> None:
    """Add the commands."""
    group.command("list")(list_detectors)
    group.command()(adopt)
    group.command()(discard)


def list_detectors(workspace: WorkspaceOption = None, json: JsonOption = False) -> None:
    """List the detectors that ship and those trained here; the adopted one comes first.

    Example: `berdseye detector list --json`
    """
    from berdseye.data.errors import BerdseyeError
    from berdseye.detectors.detector_registry import parse_detector
    from berdseye.detectors.trained import adopted_detector, detector_names

    held = opened(workspace)
    adopted = adopted_detector(held)
    rows: list[dict[str, object]] = []
    for name in detector_names(held):
        row: dict[str, object] = {"detector": name, "adopted": name == adopted}
        try:
            found = parse_detector(name, held)
            row |= {
                "version": found.version,
                "threshold": found.threshold,
                "threshold_source": found.threshold_source,
                "measured": found.measured,
                "problem": "",
            }
        except BerdseyeError as error:
            row |= {"version": "", "threshold": None, "threshold_source": "", "measured": "", "problem": str(error)}
        rows.append(row)
    if json:
        print_json(rows)
        return
    for row in rows:
        said = row["problem"] or f"{row['measured'] or 'not measured'}; threshold {row['threshold']}"
        print(f"{'*' if row['adopted'] else ' '} {row['detector']}\t{row['version']}\t{said}")


def adopt(
    detector: Annotated[str, typer.Argument(help="A detector, such as embedded or crossencoder(mine).")],
    workspace: WorkspaceOption = None,
) -> None:
    """Use a detector from now on where none is named, in the app and on the command line.

    Example: `berdseye detector adopt embedded`
    """
    from berdseye.detectors.detector_registry import parse_detector
    from berdseye.detectors.trained import adopt as adopted

    held = opened(workspace)
    found = parse_detector(detector, held)
    adopted(held, found.name, made_by=acting_name(held))
    note(f"{found.name} ({found.version}) is used from now on.")


def discard(
    name: Annotated[str, typer.Argument(help="The name that it was trained under.")],
    workspace: WorkspaceOption = None,
) -> None:
    """Delete a detector that was trained here; labels that it gave stay.

    Example: `berdseye detector discard mine`
    """
    from berdseye.detectors.trained import discard as discarded

    discarded(opened(workspace), name)
    note(f"'{name}' is gone.")
