"""Which settings are tried: one, BERDS's grid, or those that optuna's sampler expects to do better.

One setting tried: trained, and its weights kept until a better one is found.
"""

import json
import shutil
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from berdseye.data.files.atomic import write_json
from berdseye.data.progress import Progress
from berdseye.detectors.protocol import Floats
from berdseye.detectors.training.cards import Curve
from berdseye.detectors.training.settings import GRID, Settings
from berdseye.detectors.training.training_set import TrainingSet

if TYPE_CHECKING:
    import optuna

    from berdseye.detectors.training.loop import Learner, Report


Opener = Callable[[Settings], "Learner"]
"""Makes an untrained model."""

MODEL_FOLDER = "model"
_RESULT = "result.json"


@dataclass(frozen=True)
class Trial:
    """A finished one: its settings, the best F1 on dev while it learned, its folder, and how many tokens it reads."""

    settings: Settings
    f1: float
    folder: Path
    max_length: int

    @property
    def model(self) -> Path:
        return self.folder / MODEL_FOLDER


def try_settings(
    opened: Opener,
    data: TrainingSet,
    targets: Floats,
    settings: Settings,
    folder: Path,
    number: int,
    *,
    report: "Report",
    progress: Progress,
) -> Trial:
    """Train with `settings` below `folder`; a trial that was finished before is read, one that was killed goes on."""
    place = folder / "trials" / trial_key(settings)
    done = read_trial(place, settings)
    if done is not None:
        return done
    from berdseye.detectors.training.loop import CHECKPOINTS, run
    from berdseye.retrieval.encoders.running import quietly

    learner = opened(settings)
    f1 = run(
        learner, data.train, targets, data.dev, settings, place, Curve(folder, number), report=report, progress=progress
    )
    shutil.rmtree(place / MODEL_FOLDER, ignore_errors=True)
    with quietly():
        learner.save(place / MODEL_FOLDER)
    write_json(place / _RESULT, {"f1": f1, "max_length": learner.max_length})
    shutil.rmtree(place / CHECKPOINTS, ignore_errors=True)
    return Trial(settings, f1, place, learner.max_length)


def read_trial(place: Path, settings: Settings) -> Trial | None:
    """A trial that was finished in its folder."""
    path = place / _RESULT
    if not path.is_file():
        return None
    held = json.loads(path.read_text(encoding="utf-8"))
    return Trial(settings, float(held["f1"]), place, int(held["max_length"]))


def trial_key(settings: Settings) -> str:
    """12 hex digits that name the folder of a trial."""
    return sha256(json.dumps(asdict(settings), sort_keys=True).encode()).hexdigest()[:12]


Search = Literal["none", "grid", "optuna"]
SEARCHES: tuple[Search, ...] = ("none", "grid", "optuna")

GRID_SIZE = int(np.prod([len(values) for values in GRID.values()]))
TRIALS = 20
_STORE = "search.journal"
_AGAIN = "tried_again"


def search(
    how: Search,
    trials: int | None,
    opened: Opener,
    data: TrainingSet,
    targets: Floats,
    settings: Settings,
    folder: Path,
    progress: Progress,
) -> tuple[Trial, list[dict[str, Any]]]:
    """The trial with the best F1 on dev, and of each that was tried its settings, F1 and state.

    `grid` tries the 360 combinations of the paper, or `trials` of them drawn at random; `optuna` tries `trials` settings
    chosen by its tree-structured Parzen estimator within the grid's bounds, and gives up those that fall behind the median.
    What was tried is kept in `folder`: after a kill the search goes on where it stood.
    """
    if how == "none":
        only = try_settings(opened, data, targets, settings, folder, 0, report=_unreported, progress=progress)
        return only, [_told(settings, only.f1, "complete")]
    import optuna

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    study = _study(how, settings.seed, folder)
    wanted = min(trials or GRID_SIZE, GRID_SIZE) if how == "grid" else trials or TRIALS
    finished = (optuna.trial.TrialState.COMPLETE, optuna.trial.TrialState.PRUNED)

    def attempt(trial: "optuna.Trial") -> float:
        chosen = _suggested(how, trial, settings)
        best = best_trial(study, settings, folder)

        def report(evaluation: int, f1: float) -> None:
            trial.report(f1, evaluation)
            if trial.should_prune():
                shutil.rmtree(_place(folder, chosen), ignore_errors=True)
                raise optuna.TrialPruned

        said = _labelled(progress, trial.number, wanted)
        found = try_settings(opened, data, targets, chosen, folder, trial.number, report=report, progress=said)
        if best is not None and best.folder != found.folder:
            shutil.rmtree((found if best.f1 >= found.f1 else best).model, ignore_errors=True)
        return found.f1

    left = wanted - sum(t.state in finished for t in study.trials)
    if left > 0:
        study.optimize(attempt, n_trials=left)
    best = best_trial(study, settings, folder)
    if best is None:  # every trial was given up, which the median pruner never does to the first
        raise RuntimeError("No trial was finished.")
    return best, [_told(_of(t.params, settings), t.value, t.state.name.lower()) for t in study.trials]


def best_trial(study: "optuna.Study", settings: Settings, folder: Path) -> Trial | None:
    """The finished trial with the highest F1, the first of equals."""
    import optuna

    done = study.get_trials(deepcopy=False, states=(optuna.trial.TrialState.COMPLETE,))
    held = [read_trial(_place(folder, _of(t.params, settings)), _of(t.params, settings)) for t in done]
    return max((t for t in held if t is not None), key=lambda t: t.f1, default=None)


def _study(how: Search, seed: int, folder: Path) -> "optuna.Study":
    import optuna
    from optuna.storages import JournalStorage
    from optuna.storages.journal import JournalFileBackend

    folder.mkdir(parents=True, exist_ok=True)
    storage = JournalStorage(JournalFileBackend(str(folder / _STORE)))
    sampler: optuna.samplers.BaseSampler = (
        optuna.samplers.GridSampler({name: list(values) for name, values in GRID.items()}, seed=seed)
        if how == "grid"
        else optuna.samplers.TPESampler(seed=seed)
    )
    pruner = optuna.pruners.NopPruner() if how == "grid" else optuna.pruners.MedianPruner(n_startup_trials=4)
    study = optuna.create_study(
        storage=storage, study_name=how, sampler=sampler, pruner=pruner, direction="maximize", load_if_exists=True
    )
    again = list(study.user_attrs.get(_AGAIN, []))
    for trial in study.trials:
        if trial.state == optuna.trial.TrialState.RUNNING:  # the process that ran it was killed
            study.tell(trial.number, state=optuna.trial.TrialState.FAIL)
        elif trial.state != optuna.trial.TrialState.FAIL:
            continue
        if trial.params and trial.number not in again:
            study.enqueue_trial(trial.params)
            again.append(trial.number)
    study.set_user_attr(_AGAIN, again)
    return study


def _suggested(how: Search, trial: "optuna.Trial", settings: Settings) -> Settings:
    if how == "grid":
        return _of({name: trial.suggest_categorical(name, list(values)) for name, values in GRID.items()}, settings)
    rates = GRID["learning_rate"]
    return _of(
        {
            "learning_rate": trial.suggest_float("learning_rate", min(rates), max(rates), log=True),
            "warmup": trial.suggest_float("warmup", min(GRID["warmup"]), max(GRID["warmup"])),
            "epochs": trial.suggest_categorical("epochs", list(GRID["epochs"])),
            "weight_decay": trial.suggest_categorical("weight_decay", list(GRID["weight_decay"])),
        },
        settings,
    )


def _of(params: dict[str, Any], settings: Settings) -> Settings:
    chosen: dict[str, Any] = {name: float(value) for name, value in params.items()}
    return replace(settings, **chosen)


def _place(folder: Path, settings: Settings) -> Path:
    return folder / "trials" / trial_key(settings)


def _told(settings: Settings, f1: float | None, state: str) -> dict[str, Any]:
    varied = {name: value for name, value in asdict(settings).items() if name in GRID}
    return {**varied, "dev_f1": f1, "state": state}


def _labelled(progress: Progress, number: int, of: int) -> Progress:
    def told(done: int, what: str, total: int | None = None, /) -> None:
        progress(done, f"{what} of trial {number + 1} of {of}", total)

    return told


def _unreported(evaluation: int, f1: float) -> None:
    del evaluation, f1
