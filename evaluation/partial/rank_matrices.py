"""Rank matrices, with the rank of every relevant passage in every system's lists, from which all D-MERIT studies are computed;
and recall, R-precision, MAP and nDCG by system and query, for any selection of annotated relevant passages.

Each measure takes `counted` bool[n_queries, n_max], the annotated relevant passages (None: all), and returns float64[n_systems,
n_queries] in 0..1, NaN for a query without annotated passages. The values equal those of trec_eval.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from berdseye.data.errors import BadInputError, UnknownNameError

Bools = npt.NDArray[np.bool_]
Missing = Literal["refuse", "zero", "left-out"]
MISSING: tuple[Missing, ...] = ("refuse", "zero", "left-out")
NOT_FOUND = np.iinfo(np.int32).max
_NAMED = 5
Values = npt.NDArray[np.float64]


@dataclass(frozen=True)
class RankMatrices:
    """The ranks of relevant passages in the lists of systems.

    `ranks` int32[n_systems, n_queries, n_max]: the rank, from 1, of each relevant passage, NOT_FOUND if a list lacks it. `exists`
    bool[n_queries, n_max]: which places have a relevant passage; `relevant` names these passages in order; `depth` is the depth
    of all lists. `left_out` names the queries without relevant passages and, if chosen, those for which a system has no list;
    `filled` counts the missing lists that were replaced by empty ones.
    """

    systems: tuple[str, ...]
    queries: tuple[str, ...]
    relevant: tuple[tuple[str, ...], ...]
    ranks: npt.NDArray[np.int32]
    exists: Bools
    depth: int
    left_out: tuple[str, ...] = ()
    filled: int = 0

    @property
    def counts(self) -> npt.NDArray[np.int64]:
        """The number of relevant passages of each query, int64[n_queries]."""
        return np.asarray(self.exists.sum(axis=1), dtype=np.int64)

    def checked(self, k: int) -> int:
        """Return `k` if the lists are deep enough for it; otherwise raise `BadInputError`."""
        if not 1 <= k <= self.depth:
            raise BadInputError(
                f"k must be between 1 and {self.depth}, the depth of the lists, got {k}.",
                hint="For a larger k, create deeper runs.",
            )
        return k


def rank_matrices(
    runs: Mapping[str, Mapping[str, Sequence[str]]],
    relevant: Mapping[str, Iterable[str]],
    *,
    depth: int | None = None,
    missing: Missing = "refuse",
) -> RankMatrices:
    """Create matrices from each system's ranked passage ids by query (best first), and the relevant ids by query.

    `depth` is the number of passages requested of each system; by default, the smallest over systems of the length of their
    longest list. If a system has no list for a query with relevant passages, `missing` says whether this is an error ('refuse'),
    an empty list ('zero'), or whether the query is left out for all systems ('left-out'). Raises `BadInputError` without runs,
    for missing lists, and for a passage that is twice in a list.
    """
    if not runs:
        raise BadInputError("There is no run.", hint="Give at least two runs.")
    by_query = {query: tuple(dict.fromkeys(ids)) for query, ids in relevant.items()}
    empty = [query for query, ids in by_query.items() if not ids]
    queries = [query for query, ids in by_query.items() if ids]
    lacking = {name: [q for q in queries if q not in lists] for name, lists in runs.items()}
    if missing == "refuse":
        for name, absent in lacking.items():
            if absent:
                more = ", …" if len(absent) > _NAMED else ""
                raise BadInputError(
                    f"Run '{name}' has no list for {len(absent)} of {len(queries)} queries ({', '.join(absent[:_NAMED])}{more}).",
                    hint="Give the complete run, or set missing to zero (count as empty) or left-out (leave out these queries).",
                )
    dropped = {q for absent in lacking.values() for q in absent} if missing == "left-out" else set()
    queries = [q for q in queries if q not in dropped]
    if not queries:
        raise BadInputError(
            "No query has both relevant passages and lists.",
            hint="Check that the runs and the qrels use the same query ids.",
        )
    width = max(len(by_query[q]) for q in queries)
    ranks = np.full((len(runs), len(queries), width), NOT_FOUND, dtype=np.int32)
    exists = np.zeros((len(queries), width), dtype=np.bool_)
    for row, query in enumerate(queries):
        exists[row, : len(by_query[query])] = True
    for system, (name, lists) in enumerate(runs.items()):
        for row, query in enumerate(queries):
            places = {passage: rank for rank, passage in enumerate(lists.get(query, ()), start=1)}
            if len(places) < len(lists.get(query, ())):
                twice = next(p for n, p in enumerate(lists[query], start=1) if places[p] != n)
                raise BadInputError(
                    f"Run '{name}' ranks passage '{twice}' twice for query '{query}'.", hint="Remove one of them."
                )
            for column, passage in enumerate(by_query[query]):
                ranks[system, row, column] = places.get(passage, NOT_FOUND)
    longest = min(max((len(ids) for ids in lists.values()), default=0) for lists in runs.values())
    reach = longest if depth is None else depth
    ranks[ranks > reach] = NOT_FOUND
    filled = sum(len(absent) for absent in lacking.values()) if missing == "zero" else 0
    return RankMatrices(
        tuple(runs),
        tuple(queries),
        tuple(by_query[q] for q in queries),
        ranks,
        exists,
        reach,
        (*empty, *(q for q in by_query if q in dropped)),
        filled,
    )


Measured = Callable[[RankMatrices, int, Bools | None], Values]


def recall(matrices: RankMatrices, k: int, counted: Bools | None = None) -> Values:
    """Compute Recall@k: the share of the relevant passages in the top k."""
    chosen = _chosen(matrices, counted)
    in_top = (matrices.ranks <= matrices.checked(k)) & chosen
    return _divided(in_top.sum(axis=2), chosen.sum(axis=1))


def r_precision(matrices: RankMatrices, counted: Bools | None = None) -> Values:
    """Compute R-precision: recall at a cutoff equal to the query's number of relevant passages (D-MERIT, appendix A).

    If a query has more relevant passages than the lists have ranks, ranks beyond the depth count as misses.
    """
    chosen = _chosen(matrices, counted)
    counts = chosen.sum(axis=1)
    in_top = (matrices.ranks <= counts[None, :, None]) & chosen
    return _divided(in_top.sum(axis=2), counts)


def average_precision(matrices: RankMatrices, k: int, counted: Bools | None = None) -> Values:
    """Compute AP@k: the sum of the precisions at the ranks of relevant passages in the top k, over the number of relevant
    passages."""
    chosen = _chosen(matrices, counted)
    ranks = np.sort(np.where(chosen, matrices.ranks, NOT_FOUND), axis=2)
    precisions = np.arange(1, ranks.shape[2] + 1) / ranks
    return _divided(np.where(ranks <= matrices.checked(k), precisions, 0.0).sum(axis=2), chosen.sum(axis=1))


def ndcg(matrices: RankMatrices, k: int, counted: Bools | None = None) -> Values:
    """Compute nDCG@k with gain 1 and the discount log2(1 + rank) (Järvelin and Kekäläinen, 2002)."""
    chosen = _chosen(matrices, counted)
    within = (matrices.ranks <= matrices.checked(k)) & chosen
    gains = np.where(within, 1 / np.log2(1.0 + matrices.ranks), 0.0).sum(axis=2)
    ideal = np.concatenate([[0.0], np.cumsum(1 / np.log2(np.arange(2, k + 2)))])
    return _divided(gains, ideal[np.minimum(chosen.sum(axis=1), k)])


CUT_MEASURES: dict[str, Measured] = {"recall": recall, "ndcg": ndcg, "map": average_precision}


def measured(name: str, matrices: RankMatrices, k: int, counted: Bools | None = None) -> Values:
    """Compute a measure with a cutoff, given by name; raises `UnknownNameError` for an unknown name."""
    if name not in CUT_MEASURES:
        raise UnknownNameError("measure", name, CUT_MEASURES)
    return CUT_MEASURES[name](matrices, k, counted)


def system_means(values: Values) -> Values:
    """Return the mean of each system over the queries without NaN, float64[n_systems]."""
    known = ~np.isnan(values).any(axis=0)
    return np.asarray(values[:, known].mean(axis=1)) if known.any() else np.full(len(values), np.nan)


def _chosen(matrices: RankMatrices, counted: Bools | None) -> Bools:
    return matrices.exists if counted is None else counted & matrices.exists


def _divided(sums: npt.NDArray[np.number], counts: npt.NDArray[np.number]) -> Values:
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(np.where(counts > 0, sums / counts, np.nan), dtype=np.float64)
