"""`expand(SOURCE) >> RANKER`: a question is asked once with each perspective, and the rankings are merged in turns."""

from collections.abc import Sequence
from dataclasses import dataclass

from berdseye.data.records import Ranking
from berdseye.retrieval.expansion.merge import round_robin
from berdseye.retrieval.expansion.protocol import ExpansionSource, expanded_queries
from berdseye.retrieval.protocol import Collection, Indexer, Ranker
from berdseye.retrieval.queries import Query


@dataclass(frozen=True)
class Expanded:
    """A ranker whose queries are expanded (BERDS, query expansion)."""

    source: ExpansionSource
    ranker: Ranker

    @property
    def name(self) -> str:
        return f"expand({self.source.name}) >> {self.ranker.name}"

    @property
    def indexers(self) -> tuple[Indexer[object], ...]:
        return self.ranker.indexers

    @property
    def versions(self) -> dict[str, str]:
        return {**self.ranker.versions, self.source.name: self.source.version}

    def rank(self, collection: Collection, queries: Sequence[Query], k: int) -> list[Ranking]:
        perspectives = self.source.perspectives([q.text for q in queries])
        lists = [expanded_queries(q.text, known) for q, known in zip(queries, perspectives, strict=True)]
        asked = [q._replace(text=text) for q, texts in zip(queries, lists, strict=True) for text in texts]
        found = iter(self.ranker.rank(collection, asked, k))
        return [round_robin([next(found) for _ in texts], k) for texts in lists]
