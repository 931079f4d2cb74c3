"""Likeness of meaning taken for support: the baseline that knows the topic and nothing of stance."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from data.passages import clean
from data.records import Pair
from data.static_embedding import static_embedding
from detectors.embedded import Logistic, shipped_weights

_PAIRS_AT_ONCE = 65_536


class SimilarityDetector:
    """P rises with the cosine of passage and perspective; cosines below 0 count as 0."""

    name = "similarity(static)"

    def __init__(self, model: Logistic | None = None) -> None:
        self.model = shipped_weights().similarity if model is None else model
        self.threshold = self.model.threshold
        self.version = self.model.version

    def predict(self, pairs: Sequence[Pair]) -> npt.NDArray[np.float32]:
        """P(supports), float32[n_pairs], a logistic curve over the clipped cosine."""
        return self.model.probabilities(clipped_cosines(pairs)[:, None])


def clipped_cosines(pairs: Sequence[Pair]) -> npt.NDArray[np.float32]:
    """max(0, cosine) of the static vectors of each pair, float32[n_pairs]; 0 where a text is empty."""
    texts = {text: i for i, text in enumerate(dict.fromkeys(t for pair in pairs for t in pair))}
    vectors = static_embedding().encode([clean(t) for t in texts])
    left = np.array([texts[p.passage] for p in pairs], dtype=np.int64)
    right = np.array([texts[p.perspective] for p in pairs], dtype=np.int64)
    out = np.zeros(len(pairs), dtype=np.float32)
    for start in range(0, len(pairs), _PAIRS_AT_ONCE):
        rows = slice(start, start + _PAIRS_AT_ONCE)
        out[rows] = np.einsum("ij,ij->i", vectors[left[rows]], vectors[right[rows]])
    return np.clip(out, 0.0, 1.0)
