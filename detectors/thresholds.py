"""Thresholds that were tuned on a person's own judged pairs, kept in the workspace with what they were chosen on."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from berdseye.data.errors import StaleError
from berdseye.data.files.atomic import write_json
from berdseye.data.records import Pair
from berdseye.data.workspace import Workspace, file_stem
from berdseye.detectors.protocol import Detector, Floats


@dataclass(frozen=True)
class TunedThreshold:
    """A threshold of one version of a detector; `f1` is what it reached on the `n` pairs of `data` that it was chosen on, the
    best there is unless it was chosen `by_hand`. `made_by` is who chose it, where that is known."""

    detector: str
    version: str
    value: float
    data: str
    data_hash: str
    n: int
    positives: int
    f1: float
    created: str
    made_by: str = ""
    by_hand: bool = False

    @property
    def source(self) -> str:
        if self.by_hand:
            return f"chosen by {self.made_by or 'hand'}: F1 {self.f1:.3f} on {self.n:,} pairs of {self.data}"
        return f"best F1 ({self.f1:.3f}) on {self.n:,} pairs of {self.data}"


class Tuned:
    """A detector with another threshold than its own."""

    def __init__(self, detector: Detector, threshold: float, source: str) -> None:
        self.detector = detector
        self.threshold = threshold
        self.threshold_source = source

    @property
    def name(self) -> str:
        return self.detector.name

    @property
    def version(self) -> str:
        return self.detector.version

    @property
    def measured(self) -> str:
        return self.detector.measured

    @property
    def pairs_at_once(self) -> int:
        return self.detector.pairs_at_once

    def predict(self, pairs: Sequence[Pair]) -> Floats:
        """As the detector itself."""
        return self.detector.predict(pairs)


def with_tuned_threshold(workspace: Workspace, detector: Detector) -> Detector:
    """The detector with the threshold that was tuned for this version of it, if one was."""
    tuned = read_threshold(workspace, detector.name)
    if tuned is None or tuned.version != detector.version:
        return detector
    return Tuned(detector, tuned.value, tuned.source)


def read_threshold(workspace: Workspace, detector: str) -> TunedThreshold | None:
    """What was tuned for a detector, whichever version of it; None where nothing was."""
    path = _path(workspace, detector)
    if not path.exists():
        return None
    try:
        return TunedThreshold(**json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError) as error:
        raise StaleError(
            "The tuned threshold cannot be read.", where=path, hint="Delete the file and tune anew."
        ) from error


def write_threshold(workspace: Workspace, tuned: TunedThreshold) -> None:
    """Keep a threshold, in place of an older one of the same detector."""
    write_json(_path(workspace, tuned.detector), asdict(tuned))


def forget_threshold(workspace: Workspace, detector: str) -> bool:
    """Go back to the detector's own threshold; whether there was a tuned one."""
    path = _path(workspace, detector)
    there = path.exists()
    path.unlink(missing_ok=True)
    return there


def _path(workspace: Workspace, detector: str) -> Path:
    return workspace.thresholds_folder / f"{file_stem(detector)}.json"
