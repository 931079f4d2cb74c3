"""One setting tried: trained, its logits on dev and test kept, and its weights, until a better one is found."""

import json
import shutil
from collections.abc import Callable
from dataclasses import asdict, dataclass
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from data.atomic import write_json
from data.labelled_pairs import LabelledPair
from data.progress import Progress
from detectors.protocol import Floats
from detectors.training.curve import Curve
from detectors.training.settings import Settings
from detectors.training.training_set import TrainingSet

if TYPE_CHECKING:
    from detectors.training.loop import Learner, Report

Doubles = npt.NDArray[np.float64]
Opener = Callable[[Settings], "Learner"]
"""Makes an untrained model."""

MODEL_FOLDER = "model"
_RESULT = "result.json"


@dataclass(frozen=True)
class Trial:
    """A finished one: its settings, best F1 on dev, its folder, how many tokens it reads, logits float64[n] of dev and test."""

    settings: Settings
    f1: float
    folder: Path
    max_length: int
    dev: Doubles
    test: Doubles

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
    from detectors.training.loop import CHECKPOINTS, predicted, run
    from retrieval.encoders.running import quietly

    learner = opened(settings)
    f1 = run(
        learner, data.train, targets, data.dev, settings, place, Curve(folder, number), report=report, progress=progress
    )
    shutil.rmtree(place / MODEL_FOLDER, ignore_errors=True)
    with quietly():
        learner.save(place / MODEL_FOLDER)

    def logits(pairs: list[LabelledPair]) -> list[float]:
        found: list[float] = (predicted(learner, pairs) - learner.offset()).tolist()
        return found

    dev, test = logits(data.dev), logits(data.test)
    write_json(place / _RESULT, {"f1": f1, "max_length": learner.max_length, "dev": dev, "test": test})
    shutil.rmtree(place / CHECKPOINTS, ignore_errors=True)
    return Trial(settings, f1, place, learner.max_length, np.array(dev), np.array(test))


def read_trial(place: Path, settings: Settings) -> Trial | None:
    """A trial that was finished in its folder."""
    path = place / _RESULT
    if not path.is_file():
        return None
    held = json.loads(path.read_text(encoding="utf-8"))
    return Trial(
        settings, float(held["f1"]), place, int(held["max_length"]), np.array(held["dev"]), np.array(held["test"])
    )


def trial_key(settings: Settings) -> str:
    """12 hex digits that name the folder of a trial."""
    return sha256(json.dumps(asdict(settings), sort_keys=True).encode()).hexdigest()[:12]
