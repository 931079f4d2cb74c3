"""Which passages of which rankings support which perspectives: the array every measure is computed from."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from data.errors import BadInputError


@dataclass(frozen=True)
class Support:
    """`supports` bool[n_questions, k, m_max], best passage first; `counts` int[n_questions] perspectives a question;
    `judged` of the same shape as `supports` says which labels there were (a missing one counts as not supporting).
    """

    supports: npt.NDArray[np.bool_]
    counts: npt.NDArray[np.int64]
    judged: npt.NDArray[np.bool_]

    @classmethod
    def of(cls, labels: Sequence[npt.NDArray[np.float64] | Sequence[Sequence[float]]]) -> "Support":
        """From one array [k_i, m_i] a question of 1 (supports), 0 (does not) and NaN (nobody said)."""
        arrays = [np.asarray(a, dtype=np.float64).reshape(len(a), -1) for a in labels]
        counts = np.array([a.shape[1] if a.size else 0 for a in arrays], dtype=np.int64)
        shape = (len(arrays), max((a.shape[0] for a in arrays), default=0), int(counts.max(initial=0)))
        supports, judged = np.zeros(shape, dtype=bool), np.zeros(shape, dtype=bool)
        for row, array in enumerate(arrays):
            depth, width = array.shape if array.size else (0, 0)
            supports[row, :depth, :width] = array == 1
            judged[row, :depth, :width] = ~np.isnan(array)
        return cls(supports, counts, judged)

    def top(self, k: int) -> npt.NDArray[np.bool_]:
        """`supports` of the first k passages; raises `BadInputError` where no question has a perspective."""
        if k < 1:
            raise BadInputError(f"k is {k}.", hint="Choose at least 1.")
        if len(self.counts) == 0 or not (self.counts > 0).any():
            raise BadInputError("No question has a perspective.", hint="Give the questions perspectives.")
        return self.supports[:, :k]

    def judged_at(self, k: int) -> float:
        """judged@k: the share of the pairs of the top k that have a label."""
        real = np.arange(self.supports.shape[2]) < self.counts[:, None]
        pairs = int(real.sum()) * min(k, max(self.supports.shape[1], 1))
        return float(self.judged[:, :k].sum() / pairs) if pairs else 0.0
