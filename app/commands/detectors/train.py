"""`detector train`."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from berdseye.app.acting import acting_name
from berdseye.app.arguments import not_with, only_with
from berdseye.app.commands.options import LARGEST_SEED, JsonOption, WorkspaceOption, opened
from berdseye.app.console import counting, note, print_json
from berdseye.data.workspace import Workspace

if TYPE_CHECKING:
    from berdseye.detectors.training.training_set import TrainingSet


SEARCHED = ("learning_rate", "warmup", "epochs", "weight_decay")
"""The settings that a search chooses."""


def register(group: typer.Typer) -> None:
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
    set_: Annotated[str | None, typer.Option("--set", help="A training set there is, in place of a file.")] = None,
    demo: Annotated[bool, typer.Option(help="Without a file: let the made-up annotators of the demo vote.")] = False,
    workspace: WorkspaceOption = None,
    json: JsonOption = False,
) -> None:
    """Train a detector on labelled pairs, calibrate it on dev, and measure it on test.

    What was broken off goes on when the same command is given again.

    Example: `berdseye detector train pairs.tsv --kind crossencoder --base all-MiniLM-L6-v2 --name mine`
    """
    from berdseye.data.errors import UnknownNameError
    from berdseye.data.labelled_pairs import read_labelled_pairs
    from berdseye.detectors.training.search import SEARCHES
    from berdseye.detectors.training.settings import Settings
    from berdseye.detectors.training.training import DETECTOR_OF, Plan, train_detector

    held = opened(workspace)
    for what, given, known in (("kind of training", kind, DETECTOR_OF), ("search", search, SEARCHES)):
        if given not in known:
            raise UnknownNameError(what, given, known)
    not_with("FILE", file is not None, "set_", "demo", why="which has labels of its own")
    not_with("--set", set_ is not None, "demo", why="whose votes are counted")
    only_with("--search grid or optuna", search != "none", "trials")
    not_with(f"--search {search}", search != "none", *SEARCHED, why="which chooses it")
    tuned = kind in ("crossencoder", "lora")
    only_with("--kind crossencoder or lora", tuned, *SEARCHED, "batch", "max_length", "title", "patience", "seed")
    only_with("--kind lora", kind == "lora", "rank")
    plan = Plan(
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
    from berdseye.data.labelled_pairs import file_hash, read_labelled_pairs
    from berdseye.detectors.training.training_set import training_set

    if file is not None:
        return training_set(read_labelled_pairs(file), file, file_hash(file))
    from berdseye.annotation.training_sets.store import find_set
    from berdseye.app.improving import set_to_train_on
    from berdseye.app.training_sets import made_set

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
