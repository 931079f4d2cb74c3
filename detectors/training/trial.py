"""One setting tried: trained, and its weights kept until a better one is found."""

import json
import shutil
from collections.abc import Callable
from dataclasses import asdict, dataclass
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from berdseye.data.atomic import write_json
from berdseye.data.progress import Progress
from berdseye.detectors.protocol import Floats
from berdseye.detectors.training.curve import Curve
from berdseye.detectors.training.settings import Settings
from berdseye.detectors.training.training_set import TrainingSet

if TYPE_CHECKING:
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
