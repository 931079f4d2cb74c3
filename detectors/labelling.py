"""Labels of pairs through the label cache: cached labels are read, all others are predicted and stored."""

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
    """Return a function from a detector's name and pairs to P(supports), through the label cache, for `>> cover(DETECTOR)`."""

    def label_pairs(detector: str, pairs: Sequence[Pair]) -> Floats:
        return label(LabelStore(workspace), parse_detector(detector, workspace), pairs)

    return label_pairs


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
    """Return P(supports) of each pair, float32[n_pairs], through the label cache.

    Predictions are stored every 20 seconds and on an interruption, so that another call resumes the work.
    """
    return label_keys(
        store, detector, [pair.key for pair in pairs], lambda places: [pairs[i] for i in places], progress=progress
    )


def label_keys(
    store: LabelStore,
    detector: Detector,
    keys: Sequence[str],
    texts: Callable[[Sequence[int]], Sequence[Pair]],
    *,
    progress: Progress = silent,
) -> Floats:
    """Return P(supports) of pairs given by their keys, float32[n_keys], through the label cache.

    `texts` returns the pairs at some places of `keys`; it is called only for pairs without a cached label. Predictions are
    stored every 20 seconds and on an interruption, so that another call resumes the work.
    """
    version = detector.version
    probabilities_by_place = store.get(detector.name, keys, version)
    unknown = np.flatnonzero(np.isnan(probabilities_by_place)).tolist()
    first: dict[str, int] = {}
    for place in unknown:
        first.setdefault(keys[place], place)
    missing = list(first)
    predicted: dict[str, float] = {}
    waiting: dict[str, float] = {}
    last_stored = monotonic()
    try:
        for start in range(0, len(missing), detector.pairs_at_once):
            batch = missing[start : start + detector.pairs_at_once]
            probabilities = detector.predict(texts([first[key] for key in batch]))
            waiting.update(zip(batch, probabilities.tolist(), strict=True))
            progress(start + len(batch), "pairs", len(missing))
            if monotonic() - last_stored > _SECONDS:
                _store(store, detector.name, version, waiting, predicted)
                last_stored = monotonic()
    finally:
        _store(store, detector.name, version, waiting, predicted)
    probabilities_by_place[unknown] = [predicted[keys[place]] for place in unknown]
    return probabilities_by_place


def predict_all(detector: Detector, pairs: Sequence[Pair], *, progress: Progress = silent) -> Floats:
    """Return P(supports) of each pair, float32[n_pairs], without the label cache."""
    parts: list[Floats] = [np.zeros(0, dtype=np.float32)]
    for start in range(0, len(pairs), detector.pairs_at_once):
        parts.append(detector.predict(pairs[start : start + detector.pairs_at_once]))
        progress(min(start + detector.pairs_at_once, len(pairs)), "pairs", len(pairs))
    return np.concatenate(parts)


def _store(store: LabelStore, name: str, version: str, waiting: dict[str, float], known: dict[str, float]) -> None:
    """Store the waiting predictions, and move them to `known`."""
    store.put(name, version, list(waiting), list(waiting.values()))
    known.update(waiting)
    waiting.clear()
