"""Fusion of rankings: `hybrid(...)`, which fuses several retrievers, and one list of passages from several corpora."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from berdseye.data.grammar import show
from berdseye.data.records import Ids, Ranking, Scores
from berdseye.retrieval.protocol import Collection, Indexer, Query, Ranker
from berdseye.retrieval.ranking import LARGEST_K, top_k

Normalisation = Callable[[Scores], Scores]
_DEPTH = 1000
CONSTANT = 60.0
"""The constant of reciprocal rank fusion in Cormack et al., SIGIR 2009."""


def _none(scores: Scores) -> Scores:
    return scores


def _minmax(scores: Scores) -> Scores:
    """Scale scores to [0, 1]; equal scores become 0."""
    spread = scores.max() - scores.min()
    return (scores - scores.min()) / spread if spread > 0 else np.zeros_like(scores)


def _z(scores: Scores) -> Scores:
    """Scale scores to mean 0 and standard deviation 1; equal scores become 0."""
    # Compare the scores themselves: with rounding, even equal scores have a standard deviation.
    varied = scores.max() > scores.min()
    return (scores - scores.mean()) / scores.std() if varied else np.zeros_like(scores)


NORMALISATIONS: Mapping[str, Normalisation] = {"none": _none, "minmax": _minmax, "z": _z}


def weighted(rankings: Sequence[Ranking], weights: Sequence[float], normalise: Normalisation) -> Ranking:
    """The weighted sum of (normalised) scores over the union of the rankings.

    A passage that is missing in a ranking gets the lowest score of that ranking, as in Pyserini's hybrid searcher.
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
    """The sum of 1 / (constant + rank) over the rankings that contain a passage (Cormack et al., SIGIR 2009)."""
    ids = _union(rankings)
    total = np.zeros(len(ids), dtype=np.float64)
    for ranking in rankings:
        total[np.searchsorted(ids, ranking.ids)] += 1 / (constant + np.arange(1, len(ranking.ids) + 1))
    return Ranking(ids, total.astype(np.float32))


def _union(rankings: Sequence[Ranking]) -> Ids:
    ids: Ids = np.unique(np.concatenate([r.ids for r in rankings]))
    return ids


@dataclass(frozen=True)
class Hybrid:
    """A fusion of several retrievers.

    `hybrid(bm25,dense(static),alpha=0.1)` is 0.1 * the first score + the second, as in D-MERIT and Pyserini. `norm` is none,
    minmax or z; `rrf=60` fuses reciprocal ranks instead of scores. Each retriever returns its best 1,000 passages, or k if
    that is more.
    """

    rankers: tuple[Ranker, ...]
    alpha: float = 0.1
    norm: str = "none"
    rrf: float | None = None

    @property
    def name(self) -> str:
        how = [f"rrf={show(self.rrf)}"] if self.rrf is not None else [f"alpha={show(self.alpha)}"]
        how += [f"norm={self.norm}"] if self.rrf is None and self.norm != "none" else []
        return f"hybrid({','.join([*(r.name for r in self.rankers), *how])})"

    @property
    def indexers(self) -> tuple[Indexer[object], ...]:
        return tuple(dict.fromkeys(i for r in self.rankers for i in r.indexers))

    @property
    def versions(self) -> dict[str, str]:
        return {name: version for r in self.rankers for name, version in r.versions.items()}

    def rank(self, collection: Collection, queries: Sequence[Query], k: int) -> list[Ranking]:
        rankings_by_ranker = [r.rank(collection, queries, max(k, min(_DEPTH, LARGEST_K))) for r in self.rankers]
        return [top_k(*self._fuse(rankings), k) for rankings in zip(*rankings_by_ranker, strict=True)]

    def _fuse(self, rankings: Sequence[Ranking]) -> Ranking:
        if self.rrf is not None:
            return reciprocal_rank(rankings, self.rrf)
        return weighted(rankings, (self.alpha, 1.0), NORMALISATIONS[self.norm])


class Fused(NamedTuple):
    """A passage of one of the corpora, its fused score, and its rank (from 1) in each pipeline that retrieved it."""

    corpus: str
    id: int
    score: float
    ranks: dict[str, int]


def fused_over_corpora(rankings: Mapping[tuple[str, str], Ranking], k: int, constant: float = CONSTANT) -> list[Fused]:
    """The k best passages of rankings by (corpus, pipeline), fused by reciprocal ranks.

    Unlike scores, ranks of different corpora and pipelines are comparable: the first passage of each ranking comes before the
    second of any other, and a passage that two pipelines retrieve comes before one that a single pipeline has at that rank.
    """
    numbers: dict[tuple[str, int], int] = {}
    ranks: dict[tuple[str, int], dict[str, int]] = {}
    lists = []
    for (corpus, pipeline), ranking in rankings.items():
        places = [(corpus, passage) for passage in ranking.ids.tolist()]
        for rank, place in enumerate(places, start=1):
            numbers.setdefault(place, len(numbers))
            ranks.setdefault(place, {})[pipeline] = rank
        # Ties go to the higher number; with negative numbers, that is the passage that came first.
        lists.append(Ranking(np.array([-numbers[place] for place in places], dtype=np.int64), ranking.scores))
    if not numbers:
        return []
    all_places = list(numbers)
    best = top_k(*reciprocal_rank(lists, constant), k)
    return [
        Fused(corpus, passage, float(score), ranks[corpus, passage])
        for (corpus, passage), score in zip(
            (all_places[-n] for n in best.ids.tolist()), best.scores.tolist(), strict=True
        )
    ]
