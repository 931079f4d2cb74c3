"""Support arrays: which passages of a ranking support which perspectives; every measure is computed from them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from berdseye.data.errors import BadInputError
from berdseye.data.records import Ids

Labels = npt.NDArray[np.float64] | Sequence[Sequence[float]]
Pairs = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Support:
    """Which passages of a ranking support which perspectives.

    `supports` bool[n_questions, k, m_max], best passage first; `counts` int[n_questions]: perspectives per question; `depths`
    int[n_questions]: passages per question; `judged` bool[n_questions, k, m_max]: which pairs have a label (a pair without one
    counts as not supporting). `rest` bool[n_questions, r, m_max], if known: the support of pooled passages outside the ranking.
    `ids` int64[n_questions, k] and `rest_ids` int64[n_questions, r], if known: the passages, padded with -1.
    """

    supports: npt.NDArray[np.bool_]
    counts: npt.NDArray[np.int64]
    depths: npt.NDArray[np.int64]
    judged: npt.NDArray[np.bool_]
    rest: npt.NDArray[np.bool_] | None = None
    ids: Ids | None = None
    rest_ids: Ids | None = None

    @classmethod
    def of(
        cls,
        labels: Sequence[Labels],
        rest: Sequence[Labels] | None = None,
        *,
        ids: Sequence[Ids] | None = None,
        rest_ids: Sequence[Ids] | None = None,
    ) -> "Support":
        """Build from one array [k_i, m_i] per question, of 1 (supports), 0 (does not support) and NaN (no label).

        k_i is 0 if no passage was retrieved, m_i is 0 if a question has no perspectives. `rest` holds one array [r_i, m_i] per
        question, of pooled passages outside the ranking. `ids` holds one int64[k_i] per question, and `rest_ids` one int64[r_i]:
        the passages of both.
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
        return cls(
            supports,
            counts,
            depths,
            judged,
            None if rest is None else cls._beyond(rest, shape),
            None if ids is None else _padded(ids),
            None if rest_ids is None else _padded(rest_ids),
        )

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

    def judged_at(self, k: int, questions: npt.NDArray[np.bool_] | None = None) -> float:
        """Return judged@k: the share of the pairs in the top k that have a label, over all or over some questions,
        bool[n_questions]."""
        return share_labelled(self.pairs_at(k) if questions is None else self.pairs_at(k)[questions])

    def pairs_at(self, k: int) -> Pairs:
        """Return the numbers of labelled pairs and of pairs in each question's top k, int64[n_questions, 2]."""
        pairs = self.counts * np.minimum(self.depths, k)
        return np.stack([self.judged[:, :k].sum(axis=(1, 2)), pairs], axis=1).astype(np.int64)


def _padded(rows: Sequence[Ids]) -> Ids:
    block = np.full((len(rows), max(map(len, rows), default=0)), -1, dtype=np.int64)
    for row, ids in zip(block, rows, strict=True):
        row[: len(ids)] = ids
    return block


def judged_together(supports: Iterable[tuple[Support, npt.NDArray[np.bool_]]], k: int) -> float:
    """Return judged@k of rankings over several data sets together, each with its questions that count, bool[n_questions]; 0 if
    they have no pair."""
    return share_labelled(
        np.concatenate([np.zeros((0, 2), np.int64), *(one.pairs_at(k)[rows] for one, rows in supports)])
    )


def share_labelled(pairs: Pairs) -> float:
    """Return judged@k from `Support.pairs_at` of some questions: the share of their pairs that have a label; 0 without pairs."""
    labelled, every = pairs.sum(axis=0).tolist()
    return labelled / every if every else 0.0
