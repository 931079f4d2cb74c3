"""`hybrid(...)`: several rankers asked the same, their rankings fused."""

from collections.abc import Sequence
from dataclasses import dataclass

from berdseye.data.grammar import show
from berdseye.data.records import Ranking
from berdseye.retrieval.fusion.fusions import NORMALISATIONS, reciprocal_rank, weighted
from berdseye.retrieval.protocol import Collection, Indexer, Ranker
from berdseye.retrieval.queries import Query
from berdseye.retrieval.ranking import LARGEST_K, top_k

_DEPTH = 1000


@dataclass(frozen=True)
class Hybrid:
    """`hybrid(bm25,dense(static),alpha=0.1)` is 0.1 * the first score + the second, as D-MERIT and Pyserini have it.

    `norm` is none, minmax or z; `rrf=60` fuses by reciprocal ranks in place of scores. Each ranker gives its best
    1,000, or as many as are asked for if that is more.
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
        found = [r.rank(collection, queries, max(k, min(_DEPTH, LARGEST_K))) for r in self.rankers]
        return [top_k(*self._fuse(rankings), k) for rankings in zip(*found, strict=True)]

    def _fuse(self, rankings: Sequence[Ranking]) -> Ranking:
        if self.rrf is not None:
            return reciprocal_rank(rankings, self.rrf)
        return weighted(rankings, (self.alpha, 1.0), NORMALISATIONS[self.norm])
