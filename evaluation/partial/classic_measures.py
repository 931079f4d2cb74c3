"""Recall, R-precision, MAP and nDCG by system and query, under any choice of the relevant passages that count.

Each takes `counted` bool[n_queries, n_max], the relevant passages that are annotated (all of them where it is None), and gives
float64[n_systems, n_queries] in 0..1, NaN for a query with none annotated. They equal those of trec_eval.
"""

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from berdseye.data.errors import UnknownNameError
from berdseye.evaluation.partial.rank_matrices import NOT_FOUND, Bools, RankMatrices

Values = npt.NDArray[np.float64]
Measured = Callable[[RankMatrices, int, Bools | None], Values]


def recall(matrices: RankMatrices, k: int, counted: Bools | None = None) -> Values:
    """Recall@k: the share of the relevant passages that is in the top k."""
    chosen = _chosen(matrices, counted)
    found = (matrices.ranks <= matrices.checked(k)) & chosen
    return _divided(found.sum(axis=2), chosen.sum(axis=1))


def r_precision(matrices: RankMatrices, counted: Bools | None = None) -> Values:
    """R-precision: recall at a cutoff that equals the query's count of relevant passages (D-MERIT, appendix A).

    Where a query has more of them than the lists are deep, those beyond the depth count as not found.
    """
    chosen = _chosen(matrices, counted)
    counts = chosen.sum(axis=1)
    found = (matrices.ranks <= counts[None, :, None]) & chosen
    return _divided(found.sum(axis=2), counts)


def average_precision(matrices: RankMatrices, k: int, counted: Bools | None = None) -> Values:
    """AP@k: the precisions at the ranks of the relevant passages in the top k, summed and divided by all relevant ones."""
    chosen = _chosen(matrices, counted)
    ranks = np.sort(np.where(chosen, matrices.ranks, NOT_FOUND), axis=2)
    precisions = np.arange(1, ranks.shape[2] + 1) / ranks
    return _divided(np.where(ranks <= matrices.checked(k), precisions, 0.0).sum(axis=2), chosen.sum(axis=1))


def ndcg(matrices: RankMatrices, k: int, counted: Bools | None = None) -> Values:
    """nDCG@k with gain 1 and the discount log2(1 + rank) (Järvelin and Kekäläinen, 2002)."""
    chosen = _chosen(matrices, counted)
    within = (matrices.ranks <= matrices.checked(k)) & chosen
    gains = np.where(within, 1 / np.log2(1.0 + matrices.ranks), 0.0).sum(axis=2)
    ideal = np.concatenate([[0.0], np.cumsum(1 / np.log2(np.arange(2, k + 2)))])
    return _divided(gains, ideal[np.minimum(chosen.sum(axis=1), k)])


CUT_MEASURES: dict[str, Measured] = {"recall": recall, "ndcg": ndcg, "map": average_precision}


def measured(name: str, matrices: RankMatrices, k: int, counted: Bools | None = None) -> Values:
    """A measure with a cutoff by its name; raises `UnknownNameError`."""
    if name not in CUT_MEASURES:
        raise UnknownNameError("measure", name, CUT_MEASURES)
    return CUT_MEASURES[name](matrices, k, counted)


def system_means(values: Values) -> Values:
    """The mean over queries of each system, float64[n_systems], without queries that are NaN."""
    known = ~np.isnan(values).any(axis=0)
    return np.asarray(values[:, known].mean(axis=1)) if known.any() else np.full(len(values), np.nan)


def _chosen(matrices: RankMatrices, counted: Bools | None) -> Bools:
    return matrices.exists if counted is None else counted & matrices.exists


def _divided(sums: npt.NDArray[np.number], counts: npt.NDArray[np.number]) -> Values:
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(np.where(counts > 0, sums / counts, np.nan), dtype=np.float64)
