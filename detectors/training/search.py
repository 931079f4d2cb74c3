"""The search for settings: none, BERDS's grid, or optuna's sampler; and the training of each trial.

The weights of a trial are kept until a better trial is finished.
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
"""Creates an untrained model."""

MODEL_FOLDER = "model"
_RESULT = "result.json"
Search = Literal["none", "grid", "optuna"]
SEARCHES: tuple[Search, ...] = ("none", "grid", "optuna")
GRID_SIZE = int(np.prod([len(values) for values in GRID.values()]))
TRIALS = 20
_STORE = "search.journal"
_AGAIN = "tried_again"


@dataclass(frozen=True)
class Trial:
    """A finished trial: its settings, the best F1 on dev during training, its folder, the length that it reads in tokens, and how
    many training pairs are longer."""

    settings: Settings
    f1: float
    folder: Path
    max_length: int
    truncated: int

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
    report: "Report | None" = None,
    progress: Progress,
) -> Trial:
    """Train with `settings` in a folder below `folder`; a finished trial is read, and a killed one resumes."""
    place = folder / "trials" / trial_key(settings)
    done = read_trial(place, settings)
    if done is not None:
        return done
    from berdseye.detectors.training.loop import CHECKPOINTS, run
    from berdseye.retrieval.encoders.running import without_output

    learner = opened(settings)
    f1 = run(
        learner, data.train, targets, data.dev, settings, place, Curve(folder, number), report=report, progress=progress
    )
    shutil.rmtree(place / MODEL_FOLDER, ignore_errors=True)
    with without_output():
        learner.save(place / MODEL_FOLDER)
    truncated = learner.truncated([pair.pair for pair in data.train])
    write_json(place / _RESULT, {"f1": f1, "max_length": learner.max_length, "truncated": truncated})
    shutil.rmtree(place / CHECKPOINTS, ignore_errors=True)
    return Trial(settings, f1, place, learner.max_length, truncated)


def read_trial(place: Path, settings: Settings) -> Trial | None:
    """Read a finished trial from its folder; None if it is not finished."""
    path = place / _RESULT
    if not path.is_file():
        return None
    result = json.loads(path.read_text(encoding="utf-8"))
    return Trial(settings, float(result["f1"]), place, int(result["max_length"]), int(result["truncated"]))


def trial_key(settings: Settings) -> str:
    """Return the name of a trial's folder: 12 hex digits of a hash of its settings."""
    return sha256(json.dumps(asdict(settings), sort_keys=True).encode()).hexdigest()[:12]


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
    """Return the trial with the best F1 on dev, and the settings, F1 and state of each trial.

    `grid` tries the 360 combinations of the paper, or `trials` of them drawn at random; `optuna` tries `trials` settings
    chosen by its tree-structured Parzen estimator within the grid's bounds, and stops those that fall behind the median.
    Trials are stored in `folder`: after a kill the search resumes.
    """
    if how == "none":
        only = try_settings(opened, data, targets, settings, folder, 0, progress=progress)
        return only, [_record(settings, only.f1, "complete")]
    import optuna

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    study = _study(how, settings.seed, folder)
    planned = min(trials or GRID_SIZE, GRID_SIZE) if how == "grid" else trials or TRIALS
    finished = (optuna.trial.TrialState.COMPLETE, optuna.trial.TrialState.PRUNED)

    def attempt(trial: "optuna.Trial") -> float:
        chosen = _suggested(how, trial, settings)
        best = best_trial(study, settings, folder)

        def report(evaluation: int, f1: float) -> None:
            trial.report(f1, evaluation)
            if trial.should_prune():
                shutil.rmtree(_place(folder, chosen), ignore_errors=True)
                raise optuna.TrialPruned

        trial_progress = _labelled(progress, trial.number, planned)
        done = try_settings(opened, data, targets, chosen, folder, trial.number, report=report, progress=trial_progress)
        if best is not None and best.folder != done.folder:
            shutil.rmtree((done if best.f1 >= done.f1 else best).model, ignore_errors=True)
        return done.f1

    remaining = planned - sum(t.state in finished for t in study.trials)
    if remaining > 0:
        study.optimize(attempt, n_trials=remaining)
    best = best_trial(study, settings, folder)
    if best is None:  # every trial was stopped early, which the median pruner never does to the first
        raise RuntimeError("No trial was finished.")
    return best, [_record(_of(t.params, settings), t.value, t.state.name.lower()) for t in study.trials]


def best_trial(study: "optuna.Study", settings: Settings, folder: Path) -> Trial | None:
    """Return the finished trial with the highest F1, the first of equally good ones; None if there is none."""
    import optuna

    done = study.get_trials(deepcopy=False, states=(optuna.trial.TrialState.COMPLETE,))
    trials = [read_trial(_place(folder, _of(t.params, settings)), _of(t.params, settings)) for t in done]
    return max((t for t in trials if t is not None), key=lambda t: t.f1, default=None)


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


def _record(settings: Settings, f1: float | None, state: str) -> dict[str, Any]:
    varied = {name: value for name, value in asdict(settings).items() if name in GRID}
    return {**varied, "dev_f1": f1, "state": state}


def _labelled(progress: Progress, number: int, of: int) -> Progress:
    def report_progress(done: int, what: str, total: int | None = None, /) -> None:
        progress(done, f"{what} of trial {number + 1} of {of}", total)

    return report_progress
