"""Support arrays: which passages of a ranking support which perspectives; every measure is computed from them."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from berdseye.data.errors import BadInputError

Labels = npt.NDArray[np.float64] | Sequence[Sequence[float]]


@dataclass(frozen=True)
class Support:
    """Which passages of a ranking support which perspectives.

    `supports` bool[n_questions, k, m_max], best passage first; `counts` int[n_questions]: perspectives per question; `depths`
    int[n_questions]: passages per question; `judged` bool[n_questions, k, m_max]: which pairs have a label (a pair without one
    counts as not supporting). `rest` bool[n_questions, r, m_max], if known: the support of pooled passages outside the ranking.
    """

    supports: npt.NDArray[np.bool_]
    counts: npt.NDArray[np.int64]
    depths: npt.NDArray[np.int64]
    judged: npt.NDArray[np.bool_]
    rest: npt.NDArray[np.bool_] | None = None

    @classmethod
    def of(cls, labels: Sequence[Labels], rest: Sequence[Labels] | None = None) -> "Support":
        """Build from one array [k_i, m_i] per question, of 1 (supports), 0 (does not support) and NaN (no label).

        k_i is 0 if no passage was retrieved, m_i is 0 if a question has no perspectives. `rest` holds one array [r_i, m_i] per
        question, of pooled passages outside the ranking.
        """
        arrays = [np.asarray(a, dtype=np.float64) for a in labels]
        arrays = [a if a.ndim == 2 else a.reshape(len(a), int(a.size > 0)) for a in arrays]
        counts = np.array([a.shape[1] for a in arrays], dtype=np.int64)
        depths = np.array([a.shape[0] for a in arrays], dtype=np.int64)
        shape = (len(arrays), int(depths.max(initial=0)), int(counts.max(initial=0)))
        supports, judged = np.zeros(shape, dtype=bool), np.zeros(shape, dtype=bool)
        for row, array in enumerate(arrays):
            depth, width = array.shape
            supports[row, :depth, :width] = array == 1
            judged[row, :depth, :width] = ~np.isnan(array)
        return cls(supports, counts, depths, judged, None if rest is None else cls._beyond(rest, shape))

    @staticmethod
    def _beyond(rest: Sequence[Labels], shape: tuple[int, int, int]) -> npt.NDArray[np.bool_]:
        block = np.zeros((shape[0], max((len(a) for a in rest), default=0), shape[2]), dtype=bool)
        for row, labels in zip(block, rest, strict=True):
            array = np.asarray(labels, dtype=np.float64)
            if array.size:
                row[: array.shape[0], : array.shape[1]] = array == 1
        return block

    def top(self, k: int) -> npt.NDArray[np.bool_]:
        """Return `supports` of the first k passages; raises `BadInputError` if k < 1 or no question has a perspective."""
        if k < 1:
            raise BadInputError(f"k must be at least 1, got {k}.")
        if len(self.counts) == 0 or not (self.counts > 0).any():
            raise BadInputError("No question has a perspective.", hint="Add perspectives to the questions.")
        return self.supports[:, :k]

    def judged_at(self, k: int) -> float:
        """Return judged@k: the share of the pairs in the top k that have a label."""
        pairs = int((self.counts * np.minimum(self.depths, k)).sum())
        return float(self.judged[:, :k].sum() / pairs) if pairs else 0.0
