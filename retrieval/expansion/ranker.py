"""`expand(SOURCE) >> RANKER`: a question is asked once with each perspective, and the rankings are merged in turns.

Merging the rankings of one question's perspectives.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from berdseye.data.records import Ranking
from berdseye.retrieval.expansion.protocol import ExpansionSource, expanded_queries
from berdseye.retrieval.protocol import Collection, Indexer, Query, Ranker
from berdseye.retrieval.ranking import PAD


def round_robin(rankings: Sequence[Ranking], k: int) -> Ranking:
    """The k passages that come first when the lists take turns (BERDS, query expansion).

    In each turn every list, in the order given, offers its next passage; one that is there already is skipped and the list
    waits for its next turn. `ids` int64[<= k]; `scores` float32, 1 / place: they tell the order, and nothing of relevance.
    """
    depth = max((len(ranking.ids) for ranking in rankings), default=0)
    turns = np.full((depth, len(rankings)), PAD, dtype=np.int64)
    for column, ranking in enumerate(rankings):
        turns[: len(ranking.ids), column] = ranking.ids
    offered = turns[turns != PAD]
    firsts = np.sort(np.unique(offered, return_index=True)[1])[:k]
    return Ranking(offered[firsts], (1 / np.arange(1, len(firsts) + 1)).astype(np.float32))


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
