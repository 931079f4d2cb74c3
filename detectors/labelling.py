"""Labels of pairs through the label cache: what is known is read, the rest is predicted and kept."""

from collections.abc import Callable, Sequence
from time import monotonic

import numpy as np

from data.labels import LabelStore
from data.progress import Progress, silent
from data.records import Pair
from data.workspace import Workspace
from detectors.protocol import Detector, Floats
from detectors.registry import parse_detector

_SECONDS = 20.0


def judge(workspace: Workspace) -> Callable[[str, Sequence[Pair]], Floats]:
    """P(supports) of pairs by the detector of a name, through the label cache: what `>> cover(DETECTOR)` asks."""

    def judged(detector: str, pairs: Sequence[Pair]) -> Floats:
        return label(LabelStore(workspace), parse_detector(detector, workspace), pairs)

    return judged


def label(
    store: LabelStore,
    detector: Detector,
    pairs: Sequence[Pair],
    *,
    progress: Progress = silent,
) -> Floats:
    """P(supports) of each pair, float32[n_pairs].

    What is predicted is stored every few seconds, and when the work is broken off, which then goes on from there.
    """
    keys = [pair.key for pair in pairs]
    unknown = dict(zip(keys, pairs, strict=True))
    version = detector.version
    probabilities = dict(zip(keys, store.get(detector.name, keys, version).tolist(), strict=True))
    missing = [key for key in unknown if np.isnan(probabilities[key])]
    waiting: dict[str, float] = {}
    stored = monotonic()
    try:
        for start in range(0, len(missing), detector.pairs_at_once):
            batch = missing[start : start + detector.pairs_at_once]
            waiting.update(zip(batch, detector.predict([unknown[key] for key in batch]).tolist(), strict=True))
            progress(start + len(batch), "pairs", len(missing))
            if monotonic() - stored > _SECONDS:
                _store(store, detector.name, version, waiting, probabilities)
                stored = monotonic()
    finally:
        _store(store, detector.name, version, waiting, probabilities)
    return np.array([probabilities[key] for key in keys], dtype=np.float32)


def predict_all(detector: Detector, pairs: Sequence[Pair], *, progress: Progress = silent) -> Floats:
    """P(supports), float32[n_pairs], of every pair and without the cache."""
    found: list[Floats] = [np.zeros(0, dtype=np.float32)]
    for start in range(0, len(pairs), detector.pairs_at_once):
        found.append(detector.predict(pairs[start : start + detector.pairs_at_once]))
        progress(min(start + detector.pairs_at_once, len(pairs)), "pairs", len(pairs))
    return np.concatenate(found)


def _store(
    store: LabelStore, name: str, version: str, waiting: dict[str, float], probabilities: dict[str, float]
) -> None:
    """Move what waits to the disk."""
    store.put(name, version, list(waiting), list(waiting.values()))
    probabilities.update(waiting)
    waiting.clear()
