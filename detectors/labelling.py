"""Labels of pairs through the label cache: what is known is read, the rest is predicted and kept."""

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from data.labels import LabelStore
from data.progress import Progress, silent
from data.records import Pair
from data.workspace import Workspace
from detectors.protocol import Detector
from detectors.registry import parse_detector

_BATCH = 4096


def judge(workspace: Workspace) -> Callable[[str, Sequence[Pair]], npt.NDArray[np.float32]]:
    """P(supports) of pairs by the detector of a name, through the label cache: what `>> cover(DETECTOR)` asks."""

    def judged(detector: str, pairs: Sequence[Pair]) -> npt.NDArray[np.float32]:
        return label(LabelStore(workspace), parse_detector(detector), pairs)

    return judged


def label(
    store: LabelStore,
    detector: Detector,
    pairs: Sequence[Pair],
    *,
    progress: Progress = silent,
) -> npt.NDArray[np.float32]:
    """P(supports) of each pair, float32[n_pairs].

    Predicted batches are stored as they are made, so that an interrupted pass goes on where it stopped.
    """
    keys = [pair.key for pair in pairs]
    unknown = dict(zip(keys, pairs, strict=True))
    probabilities = dict(zip(keys, store.get(detector.name, keys, detector.version).tolist(), strict=True))
    missing = [key for key in unknown if np.isnan(probabilities[key])]
    for start in range(0, len(missing), _BATCH):
        batch = missing[start : start + _BATCH]
        predicted = detector.predict([unknown[key] for key in batch])
        store.put(detector.name, detector.version, batch, predicted.tolist())
        probabilities.update(zip(batch, predicted.tolist(), strict=True))
        progress(start + len(batch), "pairs")
    return np.array([probabilities[key] for key in keys], dtype=np.float32)
