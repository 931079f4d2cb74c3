"""`expand(SOURCE) >> RETRIEVER`: search once with each perspective of a question, and merge the rankings in turns."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from berdseye.data.records import Ranking
from berdseye.retrieval.expansion.protocol import ExpansionSource, Queries, expanded_queries
from berdseye.retrieval.protocol import Collection, Indexer, Query, Ranker
from berdseye.retrieval.ranking import PAD


def round_robin(rankings: Sequence[Ranking], k: int) -> Ranking:
    """The first k passages when the rankings take turns (BERDS, query expansion).

    In each turn, every ranking, in the order given, contributes its next passage; a passage that was already contributed is
    skipped, and the ranking waits for its next turn. `ids` int64[<= k]; `scores` float32 are 1 / place: they express the order
    and not relevance.
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
    """A retriever with query expansion (BERDS); `variant` selects the queries (`expanded_queries`)."""

    source: ExpansionSource
    ranker: Ranker
    variant: Queries = "released"

    @property
    def name(self) -> str:
        variant = "" if self.variant == "released" else f",variant={self.variant}"
        return f"expand({self.source.name}{variant}) >> {self.ranker.name}"

    @property
    def indexers(self) -> tuple[Indexer[object], ...]:
        return self.ranker.indexers

    @property
    def versions(self) -> dict[str, str]:
        return {**self.ranker.versions, self.source.name: self.source.version}

    def rank(self, collection: Collection, queries: Sequence[Query], k: int) -> list[Ranking]:
        perspectives = self.source.perspectives([q.text for q in queries])
        lists = [expanded_queries(q.text, texts, self.variant) for q, texts in zip(queries, perspectives, strict=True)]
        expanded = [q._replace(text=text) for q, texts in zip(queries, lists, strict=True) for text in texts]
        rankings = iter(self.ranker.rank(collection, expanded, k))
        return [round_robin([next(rankings) for _ in texts], k) for texts in lists]
