"""Thresholds tuned on a person's own pairs, stored in the workspace with what they were made from, and their history."""

import json
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, TypeVar

from berdseye.data.errors import StaleError
from berdseye.data.files.atomic import write_json
from berdseye.data.files.locks import locked
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

_Read = TypeVar("_Read")


@dataclass(frozen=True)
class TunedThreshold:
    """A tuned threshold of one version of a detector, with what it was made from.

    `f1` is its F1 on the `n` pairs of `data` that it was chosen on, which is the best F1 unless it was chosen `by_hand`. One that
    was moved to the base rate of some pairs has no F1 (0), but this `base_rate`, and `positives` counts the supporting ones
    among those that people judged, `judged` pairs of `n`. So has one that a `share` of the pairs reaches, the share that was
    asked for. `judged` is None where all pairs have labels; `simulated` counts the judgments of the demo's simulated annotators
    on these pairs, which were left out (None: unknown, in files of earlier versions, whose `judged` may count them). `before`
    is the threshold in use before; `called_before` and `called_after` are the shares of the `n` pairs, from 0 to 1, that it and
    `value` call supporting. These three are None in files of earlier versions. `made_by` names who chose it (empty: unknown),
    and `created` says when (ISO 8601, UTC). `truncated` is the number of distinct pairs with a text that the detector cut
    (None: unknown).
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
    judged: int | None = None
    before: float | None = None
    called_before: float | None = None
    called_after: float | None = None
    simulated: int | None = None

    @property
    def stamp(self) -> str:
        """The text that numbers which rest on this threshold keep (`version_in_use`)."""
        return _stamp(self.version, self.value)

    @property
    def source(self) -> str:
        """What the threshold was made from, in a few words."""
        pairs = f"{self.n:,} pairs of {self.data}"
        if self.judged is not None:
            pairs += f", {self.judged:,} of them judged"
        if self.base_rate is not None:
            return f"moved to a base rate of {self.base_rate:.1%}, estimated from {pairs}"
        if self.share is not None:
            return f"reached by {self.share:.1%} of {pairs}"
        if self.by_hand:
            return f"chosen by {self.made_by or 'hand'}: F1 {self.f1:.3f} on {pairs}"
        return f"best F1 ({self.f1:.3f}) on {pairs}"

    @property
    def change(self) -> str:
        """The source, when and by whom it was tuned, and what changed, in one sentence without a full stop."""
        by = f" by {self.made_by}" if self.made_by and not self.by_hand else ""
        tuned = f"{self.source}; tuned on {self.created[:10]}{by}"
        if self.before is None:
            return tuned
        tuned += f" from {self.before:g}"
        if self.called_before is None or self.called_after is None:
            return tuned
        return f"{tuned}, which called {self.called_before:.1%} of these pairs supporting, now {self.called_after:.1%}"


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
    return _stamp(detector.version, detector.threshold) if isinstance(detector, Tuned) else detector.version


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
    return _from_file(path, lambda content: TunedThreshold(**content), "Delete the file and tune the threshold again.")


def threshold_history(workspace: Workspace, detector: str) -> list[TunedThreshold]:
    """Return all thresholds that were tuned for a detector, for any version of it, the oldest first.

    Those that were replaced or forgotten are among them, so that the `stamp` of an earlier number can be explained. Raises
    `StaleError` for a file that cannot be read.
    """
    path, in_use = _history_path(workspace, detector), read_threshold(workspace, detector)
    entries: list[TunedThreshold] = []
    if path.exists():
        entries = _from_file(
            path,
            _entries,
            "Restore the file from a backup, or rename it to begin another history.",
        )
    # A threshold of an earlier Berdseye, which kept no history, is only in use.
    return entries if in_use is None or in_use in entries else [*entries, in_use]


def write_threshold(workspace: Workspace, tuned: TunedThreshold) -> None:
    """Store a threshold and add it to the history; it replaces an older one of its detector, which stays in the history."""
    path, history = _path(workspace, tuned.detector), _history_path(workspace, tuned.detector)
    with locked(path.with_name(f".{path.stem}.lock")):
        write_json(history, [asdict(entry) for entry in [*threshold_history(workspace, tuned.detector), tuned]])
        write_json(path, asdict(tuned))


def forget_threshold(workspace: Workspace, detector: str) -> bool:
    """Delete the tuned threshold of a detector, which stays in the history; returns whether there was one."""
    path, history = _path(workspace, detector), _history_path(workspace, detector)
    if not path.exists():
        return False
    with locked(path.with_name(f".{path.stem}.lock")), suppress(StaleError):  # a damaged file is deleted all the same
        write_json(history, [asdict(entry) for entry in threshold_history(workspace, detector)])
    path.unlink(missing_ok=True)
    return True


def _entries(content: Any) -> list[TunedThreshold]:
    if not isinstance(content, list):
        raise TypeError("not a list")
    return [TunedThreshold(**row) for row in content]


def _stamp(version: str, threshold: float) -> str:
    return f"{version} at {threshold:g}"


def _from_file(path: Path, made: Callable[[Any], _Read], hint: str) -> _Read:
    try:
        return made(json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError) as error:
        raise StaleError("The tuned threshold cannot be read.", where=path, hint=hint) from error


def _history_path(workspace: Workspace, detector: str) -> Path:
    return workspace.thresholds_folder / "history" / _path(workspace, detector).name


def _path(workspace: Workspace, detector: str) -> Path:
    return workspace.thresholds_folder / f"{file_stem(detector)}.json"
