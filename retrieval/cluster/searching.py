"""A corpus searched in shards, for every ranker that searches one in one piece.

Indexes in shards, with the methods that rankers ask of those in one piece.

Lexical and exact vector search give the ids and scores that one index gives, bit for bit.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from types import TracebackType
from typing import Any, Protocol, cast

import numpy as np

from berdseye.data.corpora import Corpus
from berdseye.data.errors import BadInputError, BerdseyeError
from berdseye.data.records import Passage, Ranking
from berdseye.retrieval.cluster.connection import Connection, connect
from berdseye.retrieval.cluster.servers import PATIENCE, Servers
from berdseye.retrieval.cluster.shards import ShardPlan, standing
from berdseye.retrieval.dense.ranker import DenseIndexer
from berdseye.retrieval.encoders.protocol import Vectors
from berdseye.retrieval.learned_sparse import SparseIndexer
from berdseye.retrieval.lexical.ranker import LexicalIndexer
from berdseye.retrieval.lexical.scoring import Scoring, Statistics, combined
from berdseye.retrieval.passage_collections import unchanged
from berdseye.retrieval.protocol import Indexer, Made, Query, Ranker
from berdseye.retrieval.ranking import top_k

_BLOCK = 16_384


class Asking(Protocol):
    """Whoever asks the shards."""

    def ask(
        self, plan: ShardPlan, indexer: Indexer[Any], method: str, *arguments: Any, of: Sequence[int] | None = None
    ) -> list[Any]:
        """What a method of the index returns for each shard, in order, or for those of these numbers."""
        ...


@dataclass(frozen=True)
class _Sharded:
    servers: Asking
    plan: ShardPlan
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


_SHARDED: dict[type, Callable[[Asking, ShardPlan, Indexer[Any]], Any]] = {
    LexicalIndexer: ShardedLexical,
    DenseIndexer: ShardedDense,
    SparseIndexer: ShardedWeighted,
}


class ShardedCollection:
    """The servers of its shards stay up until it is closed. Passages are read from the corpus, which must be within reach."""

    def __init__(self, corpus: Corpus, cluster: Connection, *, patience: float = PATIENCE) -> None:
        self.corpus, self.cluster, self._patience = corpus, cluster, patience
        self._servers: dict[int, Servers] = {}
        self._open: dict[Indexer[Any], Any] = {}

    def __enter__(self) -> "ShardedCollection":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def index(self, indexer: Indexer[Made]) -> Made:
        """The index in shards; raises `UnavailableError` or `StaleError` where they do not stand, or do not fit."""
        unchanged(self.corpus.folder, self.corpus.manifest.hash)
        if indexer not in self._open:
            sharded = _SHARDED.get(type(indexer))
            if sharded is None:
                raise BadInputError(f"The index {indexer.name} cannot be searched in shards.", hint="Leave --ray out.")
            plan = standing(self.corpus, indexer)
            if plan.shards not in self._servers:
                self._servers[plan.shards] = Servers(self.cluster, plan.shards, self._patience)
            self._open[indexer] = sharded(self._servers[plan.shards], plan, served(indexer))
        found: Made = self._open[indexer]
        return found

    def passages(self, ids: Sequence[int]) -> list[Passage]:
        return self.corpus.passages(ids)

    def rank(self, ranker: Ranker, queries: Sequence[Query], k: int) -> list[Ranking]:
        return ranker.rank(self, queries, k)

    def close(self) -> None:
        """End the servers and leave the cluster."""
        for servers in self._servers.values():
            servers.close()
        self._servers.clear()
        self._open.clear()
        self.cluster.close()


def served(indexer: Indexer[Made]) -> Indexer[Made]:
    """The same for a node that only searches, which needs no encoder: queries are encoded by whoever asks."""
    if not isinstance(indexer, DenseIndexer):
        return indexer
    return cast(Indexer[Made], replace(indexer, similarity=indexer.similarity or indexer.open().similarity))


def sharded(corpus: Corpus, address: str, *, patience: float = PATIENCE) -> ShardedCollection:
    """The corpus as something to search over the cluster at `address`: HOST:PORT, "auto", or "local".

    `patience` is for how many seconds a shard may be out of reach before that is an error. Close it when done.
    """
    return ShardedCollection(corpus, connect(address), patience=patience)
