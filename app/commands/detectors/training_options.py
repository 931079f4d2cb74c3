"""The options that say what to train, which `berdseye detector train`, `improve` and `adapt` share."""

import inspect
from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Annotated, get_type_hints

import typer

from berdseye.app.commands.options import LARGEST_SEED
from berdseye.data.given_options import not_with, only_with
from berdseye.data.workspace import Workspace
from berdseye.detectors.training.settings import Settings

if TYPE_CHECKING:
    from berdseye.detectors.training.training import TrainingPlan

SEARCHED = ("learning_rate", "warmup", "epochs", "weight_decay")
"""The training settings that a search chooses."""


@dataclass(frozen=True)
class TrainingOptions:
    """The values of the shared options; each field is an option with its help and its default."""

    kind: Annotated[str, typer.Option(help="The kind of detector: stance, head, crossencoder, lora or stacked.")] = (
        "stance"
    )
    base: Annotated[
        list[str] | None,
        typer.Option(help="The model to fine-tune, or the detector to start from; repeatable for --kind stacked."),
    ] = None
    teacher: Annotated[
        str | None, typer.Option(help="A detector whose probabilities are the training target (distillation).")
    ] = None
    search: Annotated[
        str, typer.Option(help="The hyperparameter search: none, grid (BERDS's 360 settings) or optuna.")
    ] = "none"
    trials: Annotated[int | None, typer.Option(min=1, help="Number of settings that the search tries.")] = None
    learning_rate: Annotated[float, typer.Option(help="The peak learning rate of the schedule.")] = (
        Settings.learning_rate
    )
    warmup: Annotated[float, typer.Option(help="The share of steps over which the learning rate rises.")] = (
        Settings.warmup
    )
    epochs: Annotated[float, typer.Option(help="Number of passes over the training pairs.")] = Settings.epochs
    weight_decay: Annotated[float, typer.Option(help="AdamW's weight decay.")] = Settings.weight_decay
    batch: Annotated[int, typer.Option(help="Pairs per training step.")] = Settings.batch
    max_length: Annotated[int, typer.Option(help="Number of tokens read from each pair, with its prompt.")] = (
        Settings.max_length
    )
    title: Annotated[str, typer.Option(help="The position of the title: none, before or after (the passage).")] = (
        Settings.title
    )
    rank: Annotated[int, typer.Option(help="The rank of LoRA's matrices.")] = Settings.rank
    alpha: Annotated[int, typer.Option(help="LoRA's alpha: its matrices count alpha / rank times.")] = Settings.alpha
    dropout: Annotated[float, typer.Option(help="LoRA's dropout.")] = Settings.dropout
    patience: Annotated[int, typer.Option(help="Number of evaluations without a better F1 before training stops.")] = (
        Settings.patience
    )
    seed: Annotated[
        int, typer.Option(min=0, max=LARGEST_SEED, help="The seed of the order of pairs, dropout and search.")
    ] = Settings.seed

    def plan(self, workspace: Workspace, name: str) -> "TrainingPlan":
        """Return the plan of a training that makes a detector `name`.

        Raises `BadInputError` for options that exclude one another or have no effect, and whatever
        `berdseye.detectors.training.training.check_plan` raises.
        """
        from berdseye.app.jobs.training_sets import one_of
        from berdseye.detectors.training.search import SEARCHES
        from berdseye.detectors.training.training import DETECTOR_OF, TrainingPlan, check_plan

        kind, search = (
            one_of("kind of training", self.kind, tuple(DETECTOR_OF)),
            one_of("search", self.search, SEARCHES),
        )
        only_with("--search grid or optuna", search != "none", "trials")
        not_with(f"--search {search}", search != "none", *SEARCHED, why="which chooses it")
        tuned = kind in ("crossencoder", "lora")
        only_with("--kind crossencoder or lora", tuned, *SEARCHED, "batch", "max_length", "title", "patience")
        only_with("--kind stance, crossencoder or lora", tuned or kind == "stance", "seed")
        only_with("--kind lora", kind == "lora", "rank", "alpha", "dropout")
        settings = Settings(**{f.name: getattr(self, f.name) for f in fields(Settings) if hasattr(self, f.name)})
        plan = TrainingPlan(kind, name, tuple(self.base or ()), settings, search, self.trials, self.teacher)
        check_plan(workspace, plan)
        return plan


DEFAULT_TRAINING = TrainingOptions()


def with_training_options(declaring: Callable[..., None]) -> Callable[..., None]:
    """Replace the parameter `training` of a command, a `TrainingOptions`, by one option for each of its fields."""
    hints = get_type_hints(TrainingOptions, include_extras=True)
    options = {
        f.name: inspect.Parameter(f.name, inspect.Parameter.KEYWORD_ONLY, default=f.default, annotation=hints[f.name])
        for f in fields(TrainingOptions)
    }

    def command(**values: object) -> None:
        chosen = TrainingOptions(**{name: values.pop(name) for name in options})  # type: ignore[arg-type]
        declaring(**values, training=chosen)

    parameters: list[inspect.Parameter] = []
    for parameter in inspect.signature(declaring).parameters.values():
        own = [parameter.replace(kind=parameter.KEYWORD_ONLY)]
        parameters += options.values() if parameter.name == "training" else own
    command.__name__, command.__doc__ = declaring.__name__, declaring.__doc__
    command.__annotations__ = {p.name: p.annotation for p in parameters}
    command.__dict__["__signature__"] = inspect.Signature(parameters)  # what Typer reads the options from
    return command
