"""Labels of pairs through the label cache: what is known is read, the rest is predicted and kept."""

from collections.abc import Callable, Sequence
from time import monotonic

import numpy as np

from berdseye.data.labels import LabelStore
from berdseye.data.progress import Progress, silent
from berdseye.data.records import Pair
from berdseye.data.workspace import Workspace
from berdseye.detectors.detector_registry import parse_detector
from berdseye.detectors.protocol import Detector, Floats
from berdseye.detectors.trained import adopted_detector

_SECONDS = 20.0


def label_function(workspace: Workspace) -> Callable[[str, Sequence[Pair]], Floats]:
    """P(supports) of pairs by the detector of a name, through the label cache: what `>> cover(DETECTOR)` asks."""

    def judged(detector: str, pairs: Sequence[Pair]) -> Floats:
        return label(LabelStore(workspace), parse_detector(detector, workspace), pairs)

    return judged


def adopted_predictions(workspace: Workspace) -> Callable[[Sequence[Pair]], tuple[list[float], float, str]]:
    """Predictions of the adopted detector, through the label cache: the probability that each pair supports, the threshold that
    decides, and the detector's name and version. The exchange with Label Studio takes such a function."""

    def predict(pairs: Sequence[Pair]) -> tuple[list[float], float, str]:
        detector = parse_detector(adopted_detector(workspace), workspace)
        probabilities = label(LabelStore(workspace), detector, pairs)
        return probabilities.tolist(), detector.threshold, f"{detector.name} {detector.version}"

    return predict


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
    return label_keys(
        store, detector, [pair.key for pair in pairs], lambda asked: [pairs[i] for i in asked], progress=progress
    )


def label_keys(
    store: LabelStore,
    detector: Detector,
    keys: Sequence[str],
    texts: Callable[[Sequence[int]], Sequence[Pair]],
    *,
    progress: Progress = silent,
) -> Floats:
    """The same for pairs known by their keys: `texts` gives the pairs at some places, and is asked for unknown ones alone."""
    version = detector.version
    found = store.get(detector.name, keys, version)
    unknown = np.flatnonzero(np.isnan(found)).tolist()
    first: dict[str, int] = {}
    for place in unknown:
        first.setdefault(keys[place], place)
    missing = list(first)
    known: dict[str, float] = {}
    waiting: dict[str, float] = {}
    stored = monotonic()
    try:
        for start in range(0, len(missing), detector.pairs_at_once):
            batch = missing[start : start + detector.pairs_at_once]
            probabilities = detector.predict(texts([first[key] for key in batch]))
            waiting.update(zip(batch, probabilities.tolist(), strict=True))
            progress(start + len(batch), "pairs", len(missing))
            if monotonic() - stored > _SECONDS:
                _store(store, detector.name, version, waiting, known)
                stored = monotonic()
    finally:
        _store(store, detector.name, version, waiting, known)
    found[unknown] = [known[keys[place]] for place in unknown]
    return found


def predict_all(detector: Detector, pairs: Sequence[Pair], *, progress: Progress = silent) -> Floats:
    """P(supports), float32[n_pairs], of every pair and without the cache."""
    found: list[Floats] = [np.zeros(0, dtype=np.float32)]
    for start in range(0, len(pairs), detector.pairs_at_once):
        found.append(detector.predict(pairs[start : start + detector.pairs_at_once]))
        progress(min(start + detector.pairs_at_once, len(pairs)), "pairs", len(pairs))
    return np.concatenate(found)


def _store(store: LabelStore, name: str, version: str, waiting: dict[str, float], known: dict[str, float]) -> None:
    """Move what waits to the disk."""
    store.put(name, version, list(waiting), list(waiting.values()))
    known.update(waiting)
    waiting.clear()
