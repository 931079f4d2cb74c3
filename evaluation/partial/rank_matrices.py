"""The rank of every relevant passage in every system's lists: the array all of the D-MERIT studies are computed from.

Recall, R-precision, MAP and nDCG by system and query, under any choice of the relevant passages that count.

Each takes `counted` bool[n_queries, n_max], the relevant passages that are annotated (all of them where it is None), and gives
float64[n_systems, n_queries] in 0..1, NaN for a query with none annotated. They equal those of trec_eval.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import numpy.typing as npt

from berdseye.data.errors import BadInputError, UnknownNameError

Bools = npt.NDArray[np.bool_]
Missing = Literal["refuse", "zero", "left-out"]
MISSING: tuple[Missing, ...] = ("refuse", "zero", "left-out")
NOT_FOUND = np.iinfo(np.int32).max
_NAMED = 5


@dataclass(frozen=True)
class RankMatrices:
    """`ranks` int32[n_systems, n_queries, n_max]: the rank, from 1, of each relevant passage, NOT_FOUND where a list lacks it.

    `exists` bool[n_queries, n_max] says which places hold a relevant passage, `relevant` names them in that order, and `depth`
    is how many passages every system was asked for. `left_out` are queries without relevant passages (and, where that was
    chosen, without a list of every system); `filled` counts the empty lists that stand for missing ones.
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
        """Relevant passages a query, int64[n_queries]."""
        return np.asarray(self.exists.sum(axis=1), dtype=np.int64)

    def of_systems(self, chosen: Sequence[int]) -> "RankMatrices":
        """The same of some systems only."""
        return replace(self, systems=tuple(self.systems[s] for s in chosen), ranks=self.ranks[list(chosen)])

    def checked(self, k: int) -> int:
        """`k` where every list is long enough for it, else `BadInputError`: beyond their depth nothing is known."""
        if not 1 <= k <= self.depth:
            raise BadInputError(
                f"k is {k}, and the lists hold {self.depth} passages.",
                hint=f"Choose between 1 and {self.depth}, or make deeper runs.",
            )
        return k


def rank_matrices(
    runs: Mapping[str, Mapping[str, Sequence[str]]],
    relevant: Mapping[str, Iterable[str]],
    *,
    depth: int | None = None,
    missing: Missing = "refuse",
) -> RankMatrices:
    """Matrices from each system's ranked passage ids by query (best first), and the relevant ids by query.

    `depth` is how many passages each system was asked for, else the length of the longest list of the system that has the
    shortest such. Queries that have relevant passages and that a system has no list for are refused by name, or, as `missing`
    says, count as finding nothing or are left out for all systems. A passage that stands twice in a list is an error.
    """
    if not runs:
        raise BadInputError("There is no run.", hint="Give at least two systems.")
    held = {query: tuple(dict.fromkeys(ids)) for query, ids in relevant.items()}
    empty = [query for query, ids in held.items() if not ids]
    queries = [query for query, ids in held.items() if ids]
    lacking = {name: [q for q in queries if q not in lists] for name, lists in runs.items()}
    if missing == "refuse":
        for name, absent in lacking.items():
            if absent:
                more = ", …" if len(absent) > _NAMED else ""
                raise BadInputError(
                    f"Run '{name}' has no list for {len(absent)} of {len(queries)} queries ({', '.join(absent[:_NAMED])}{more}).",
                    hint="Give the whole run, or have missing lists count as empty (zero) or their queries go (left-out).",
                )
    dropped = {q for absent in lacking.values() for q in absent} if missing == "left-out" else set()
    queries = [q for q in queries if q not in dropped]
    if not queries:
        raise BadInputError(
            "No query has relevant passages and lists.", hint="Do the run and the qrels name the same queries?"
        )
    width = max(len(held[q]) for q in queries)
    ranks = np.full((len(runs), len(queries), width), NOT_FOUND, dtype=np.int32)
    exists = np.zeros((len(queries), width), dtype=np.bool_)
    for row, query in enumerate(queries):
        exists[row, : len(held[query])] = True
    for system, (name, lists) in enumerate(runs.items()):
        for row, query in enumerate(queries):
            places = {passage: rank for rank, passage in enumerate(lists.get(query, ()), start=1)}
            if len(places) < len(lists.get(query, ())):
                twice = next(p for n, p in enumerate(lists[query], start=1) if places[p] != n)
                raise BadInputError(
                    f"Run '{name}' ranks passage '{twice}' twice for query '{query}'.", hint="Each may stand once."
                )
            for column, passage in enumerate(held[query]):
                ranks[system, row, column] = places.get(passage, NOT_FOUND)
    longest = min(max((len(found) for found in lists.values()), default=0) for lists in runs.values())
    reach = longest if depth is None else depth
    ranks[ranks > reach] = NOT_FOUND
    filled = sum(len(absent) for absent in lacking.values()) if missing == "zero" else 0
    return RankMatrices(
        tuple(runs),
        tuple(queries),
        tuple(held[q] for q in queries),
        ranks,
        exists,
        reach,
        (*empty, *(q for q in held if q in dropped)),
        filled,
    )


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
