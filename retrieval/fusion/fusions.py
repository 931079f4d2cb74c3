"""From the scores that several rankers give a query's passages to one score each."""

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from berdseye.data.records import Ids, Ranking, Scores

Normalisation = Callable[[Scores], Scores]


def _none(scores: Scores) -> Scores:
    return scores


def _minmax(scores: Scores) -> Scores:
    """To [0, 1]; equal scores become 0."""
    spread = scores.max() - scores.min()
    return (scores - scores.min()) / spread if spread > 0 else np.zeros_like(scores)


def _z(scores: Scores) -> Scores:
    """To mean 0 and standard deviation 1; equal scores become 0."""
    # Asked of the scores themselves, since rounding gives equal ones a deviation too.
    varied = scores.max() > scores.min()
    return (scores - scores.mean()) / scores.std() if varied else np.zeros_like(scores)


NORMALISATIONS: Mapping[str, Normalisation] = {"none": _none, "minmax": _minmax, "z": _z}


def weighted(rankings: Sequence[Ranking], weights: Sequence[float], normalise: Normalisation) -> Ranking:
    """The weighted sum of (normalised) scores over the union of the rankings.

    A passage that a ranking does not hold gets the lowest score of that ranking, as in Pyserini's hybrid searcher.
    """
    ids = _union(rankings)
    total = np.zeros(len(ids), dtype=np.float32)
    for ranking, weight in zip(rankings, weights, strict=True):
        if len(ranking.ids):
            scores = normalise(ranking.scores.astype(np.float32))
            own = np.full(len(ids), scores.min(), dtype=np.float32)
            own[np.searchsorted(ids, ranking.ids)] = scores
            total += np.float32(weight) * own
    return Ranking(ids, total)


def reciprocal_rank(rankings: Sequence[Ranking], constant: float) -> Ranking:
    """The sum of 1 / (constant + rank) over the rankings that hold a passage (Cormack et al., SIGIR 2009)."""
    ids = _union(rankings)
    total = np.zeros(len(ids), dtype=np.float64)
    for ranking in rankings:
        total[np.searchsorted(ids, ranking.ids)] += 1 / (constant + np.arange(1, len(ranking.ids) + 1))
    return Ranking(ids, total.astype(np.float32))


def _union(rankings: Sequence[Ranking]) -> Ids:
    ids: Ids = np.unique(np.concatenate([r.ids for r in rankings]))
    return ids
