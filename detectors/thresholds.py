"""Thresholds tuned on a person's own judged pairs, stored in the workspace with a description of these pairs."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from berdseye.data.errors import StaleError
from berdseye.data.files.atomic import write_json
from berdseye.data.language_models.cost import HighestCost
from berdseye.data.records import Pair
from berdseye.data.workspace import Workspace, file_stem
from berdseye.detectors.protocol import (
    Detector,
    Floats,
    cut_function,
    highest_cost_of,
    is_quick,
    stances_function,
)


@dataclass(frozen=True)
class TunedThreshold:
    """A tuned threshold of one version of a detector.

    `f1` is its F1 on the `n` pairs of `data` that it was chosen on, which is the best F1 unless it was chosen `by_hand`. One that
    was moved to the base rate of some pairs has no F1 (0), but this `base_rate`, and `positives` counts the supporting ones among
    those that people judged. So has one that a `share` of the pairs reaches. `made_by` names who chose it (empty: unknown).
    `truncated` is the number of distinct pairs with a text that the detector cut (None: unknown).
    """

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
    base_rate: float | None = None
    share: float | None = None
    truncated: int | None = None

    @property
    def source(self) -> str:
        if self.base_rate is not None:
            return f"moved to a base rate of {self.base_rate:.1%}, that of {self.n:,} pairs of {self.data}"
        if self.share is not None:
            return f"reached by {self.share:.1%} of {self.n:,} pairs of {self.data}"
        if self.by_hand:
            return f"chosen by {self.made_by or 'hand'}: F1 {self.f1:.3f} on {self.n:,} pairs of {self.data}"
        return f"best F1 ({self.f1:.3f}) on {self.n:,} pairs of {self.data}"


class Tuned:
    """A detector with a tuned threshold instead of its own."""

    def __init__(self, detector: Detector, threshold: float, source: str) -> None:
        self.detector = detector
        self.threshold = threshold
        self.threshold_source = source
        self.stances = stances_function(detector)
        self.cut = cut_function(detector)
        self.quick = is_quick(detector)

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
        """Return P(supports) of each pair by the detector, float32[n_pairs]."""
        return self.detector.predict(pairs)

    def highest_cost(self, pairs: Sequence[Pair]) -> HighestCost | None:
        """Return what the labels of pairs cost at most; None if the detector runs on this machine."""
        return highest_cost_of(self.detector, pairs)


def version_in_use(detector: Detector) -> str:
    """Return a detector's version, with its threshold if that was tuned in the workspace.

    A number that rests on the labels of a detector keeps this text: the version alone does not say at which threshold they are.
    """
    return f"{detector.version} at {detector.threshold:g}" if isinstance(detector, Tuned) else detector.version


def with_tuned_threshold(workspace: Workspace, detector: Detector) -> Detector:
    """Return the detector with the threshold tuned for this version of it, or unchanged if there is none."""
    tuned = read_threshold(workspace, detector.name)
    if tuned is None or tuned.version != detector.version:
        return detector
    return Tuned(detector, tuned.value, tuned.source)


def read_threshold(workspace: Workspace, detector: str) -> TunedThreshold | None:
    """Read the tuned threshold of a detector, for any version of it; None if there is none.

    Raises `StaleError` for a file that cannot be read.
    """
    path = _path(workspace, detector)
    if not path.exists():
        return None
    try:
        return TunedThreshold(**json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError) as error:
        raise StaleError(
            "The tuned threshold cannot be read.", where=path, hint="Delete the file and tune the threshold again."
        ) from error


def write_threshold(workspace: Workspace, tuned: TunedThreshold) -> None:
    """Store a threshold; it replaces an older one of its detector."""
    write_json(_path(workspace, tuned.detector), asdict(tuned))


def forget_threshold(workspace: Workspace, detector: str) -> bool:
    """Delete the tuned threshold of a detector; returns whether there was one."""
    path = _path(workspace, detector)
    existed = path.exists()
    path.unlink(missing_ok=True)
    return existed


def _path(workspace: Workspace, detector: str) -> Path:
    return workspace.thresholds_folder / f"{file_stem(detector)}.json"
