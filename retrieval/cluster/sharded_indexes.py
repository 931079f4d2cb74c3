"""Indexes in shards, with the methods that rankers ask of those in one piece.

Lexical and exact vector search give the ids and scores that one index gives, bit for bit.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from berdseye.data.errors import BerdseyeError
from berdseye.data.records import Ranking
from berdseye.retrieval.cluster.shards import Plan
from berdseye.retrieval.encoders.protocol import Vectors
from berdseye.retrieval.lexical.scoring import Scoring
from berdseye.retrieval.lexical.statistics import Statistics, combined
from berdseye.retrieval.protocol import Indexer
from berdseye.retrieval.ranking import top_k

_BLOCK = 16_384


class Asking(Protocol):
    """Whoever asks the shards."""

    def ask(
        self, plan: Plan, indexer: Indexer[Any], method: str, *arguments: Any, of: Sequence[int] | None = None
    ) -> list[Any]:
        """What a method of the index returns for each shard, in order, or for those of these numbers."""
        ...


@dataclass(frozen=True)
class _Sharded:
    servers: Asking
    plan: Plan
    indexer: Indexer[Any]

    @property
    def count(self) -> int:
        return self.plan.count

    def _ask(self, method: str, *arguments: Any) -> list[Any]:
        return self.servers.ask(self.plan, self.indexer, method, *arguments)

    def _merged(self, queries: int, k: int, *arguments: Any) -> list[Ranking]:
        """The k best of all shards for each query; raises `BerdseyeError` for a shard that has not answered them all."""
        shards, answers = list(self.plan.all()), self._ask("search", *arguments)
        for shard, found in zip(shards, answers, strict=True):
            if len(found) != queries:
                raise BerdseyeError(f"The {shard} answered {len(found)} of {queries} queries.", hint="Ask again.")
        starts = [shard.start for shard in shards]
        return [_best(rankings, starts, k) for rankings in zip(*answers, strict=True)]


class ShardedLexical(_Sharded):
    """An inverted index in shards, which are told the statistics of all of them."""

    def statistics(self, queries: Sequence[str]) -> Statistics:
        """What a scoring function needs to know of all shards for these queries."""
        return combined(self._ask("statistics", list(queries)))

    def search(
        self, queries: Sequence[str], k: int, scoring: Scoring, statistics: Statistics | None = None
    ) -> list[Ranking]:
        """A ranking of at most k documents for each query; `statistics` are those of all shards unless given."""
        known = statistics or self.statistics(queries)
        return self._merged(len(queries), k, list(queries), k, scoring, known)


class ShardedWeighted(_Sharded):
    """An index of learned weights in shards."""

    def search(self, queries: Sequence[dict[str, float]], k: int) -> list[Ranking]:
        """A ranking of at most k documents for each query, given as the weights of its terms."""
        return self._merged(len(queries), k, list(queries), k)


class ShardedDense(_Sharded):
    """Vectors in shards."""

    def search(self, queries: Vectors, k: int) -> list[Ranking]:
        """A ranking of at most k for each row of `queries` float32[n, dimension]."""
        return self._merged(len(queries), k, queries, k)

    def blocks(self) -> Iterator[tuple[int, Vectors]]:
        """The number of the first vector, and the vectors float32[n, dimension], a block at a time.

        All of them come over the network: only forms that no index can search ask for this.
        """
        for shard in self.plan.all():
            for start in range(0, shard.size, _BLOCK):
                call = ("vectors.reconstruct_n", start, min(_BLOCK, shard.size - start))
                (block,) = self.servers.ask(self.plan, self.indexer, *call, of=[shard.number])
                yield shard.start + start, block


def _best(rankings: Sequence[Ranking], starts: Sequence[int], k: int) -> Ranking:
    ids = np.concatenate([r.ids + start for r, start in zip(rankings, starts, strict=True)])
    return top_k(ids, np.concatenate([r.scores for r in rankings]), k)
