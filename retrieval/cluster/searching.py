"""Searching a corpus in shards, with the retrievers that search a single index.

Indexes in shards have the methods of single indexes. Lexical and exact vector search return exactly the ids and scores of a
single index.
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
from berdseye.retrieval.cluster.shards import ShardPlan, current_shards
from berdseye.retrieval.dense.ranker import DenseIndexer
from berdseye.retrieval.encoders.protocol import Vectors
from berdseye.retrieval.learned_sparse import SparseIndexer
from berdseye.retrieval.lexical.ranker import LexicalIndexer
from berdseye.retrieval.lexical.scoring import Scoring, Statistics, combined
from berdseye.retrieval.passage_collections import unchanged
from berdseye.retrieval.protocol import Indexer, Made, Query, Ranker
from berdseye.retrieval.ranking import top_k

_BLOCK = 16_384


class ShardCaller(Protocol):
    """Sends calls to the shards of an index."""

    def ask(
        self, plan: ShardPlan, indexer: Indexer[Any], method: str, *arguments: Any, of: Sequence[int] | None = None
    ) -> list[Any]:
        """The results of a method of the index for all shards, in order, or for the shards with the numbers `of`."""
        ...


@dataclass(frozen=True)
class _Sharded:
    servers: ShardCaller
    plan: ShardPlan
    indexer: Indexer[Any]

    @property
    def count(self) -> int:
        return self.plan.count

    def _ask(self, method: str, *arguments: Any) -> list[Any]:
        return self.servers.ask(self.plan, self.indexer, method, *arguments)

    def _merged(self, queries: int, k: int, *arguments: Any) -> list[Ranking]:
        """The k best of all shards for each query; raises `BerdseyeError` if a shard has not answered all of them."""
        shards, answers = list(self.plan.all()), self._ask("search", *arguments)
        for shard, answer in zip(shards, answers, strict=True):
            if len(answer) != queries:
                raise BerdseyeError(f"The {shard} answered {len(answer)} of {queries} queries.", hint="Search again.")
        starts = [shard.start for shard in shards]
        return [_best(rankings, starts, k) for rankings in zip(*answers, strict=True)]


class ShardedLexical(_Sharded):
    """An inverted index in shards, each of which uses the statistics of all shards."""

    def statistics(self, queries: Sequence[str]) -> Statistics:
        """The statistics of all shards that a scoring function needs for these queries."""
        return combined(self._ask("statistics", list(queries)))

    def search(
        self, queries: Sequence[str], k: int, scoring: Scoring, statistics: Statistics | None = None
    ) -> list[Ranking]:
        """A ranking of at most k documents for each query; the default of `statistics` is that of all shards."""
        used = statistics or self.statistics(queries)
        return self._merged(len(queries), k, list(queries), k, scoring, used)


class ShardedWeighted(_Sharded):
    """An index of learned weights in shards."""

    def search(self, queries: Sequence[dict[str, float]], k: int) -> list[Ranking]:
        """A ranking of at most k documents for each query, given as the weights of its terms."""
        return self._merged(len(queries), k, list(queries), k)


class ShardedDense(_Sharded):
    """Vectors in shards."""

    def search(self, queries: Vectors, k: int) -> list[Ranking]:
        """A ranking of at most k passages for each row of `queries` float32[n, dimension]."""
        return self._merged(len(queries), k, queries, k)

    def blocks(self) -> Iterator[tuple[int, Vectors]]:
        """Yield blocks: the number of the first vector, and the vectors float32[n, dimension].

        All vectors come over the network; only projections that no index can search use this.
        """
        for shard in self.plan.all():
            for start in range(0, shard.size, _BLOCK):
                call = ("vectors.reconstruct_n", start, min(_BLOCK, shard.size - start))
                (block,) = self.servers.ask(self.plan, self.indexer, *call, of=[shard.number])
                yield shard.start + start, block


def _best(rankings: Sequence[Ranking], starts: Sequence[int], k: int) -> Ranking:
    ids = np.concatenate([r.ids + start for r, start in zip(rankings, starts, strict=True)])
    return top_k(ids, np.concatenate([r.scores for r in rankings]), k)


_SHARDED: dict[type, Callable[[ShardCaller, ShardPlan, Indexer[Any]], Any]] = {
    LexicalIndexer: ShardedLexical,
    DenseIndexer: ShardedDense,
    SparseIndexer: ShardedWeighted,
}


class ShardedCollection:
    """A corpus searched in shards, whose servers run until it is closed; passages are read from the corpus folder."""

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
        """The index in shards; raises `UnavailableError` or `StaleError` if shards are missing or outdated."""
        unchanged(self.corpus.folder, self.corpus.manifest.hash)
        if indexer not in self._open:
            sharded = _SHARDED.get(type(indexer))
            if sharded is None:
                raise BadInputError(f"The index {indexer.name} cannot be searched in shards.", hint="Omit --ray.")
            plan = current_shards(self.corpus, indexer)
            if plan.shards not in self._servers:
                self._servers[plan.shards] = Servers(self.cluster, plan.shards, self._patience)
            self._open[indexer] = sharded(self._servers[plan.shards], plan, search_only(indexer))
        index: Made = self._open[indexer]
        return index

    def passages(self, ids: Sequence[int]) -> list[Passage]:
        return self.corpus.passages(ids)

    def rank(self, ranker: Ranker, queries: Sequence[Query], k: int) -> list[Ranking]:
        return ranker.rank(self, queries, k)

    def close(self) -> None:
        """Stop the servers and leave the cluster."""
        for servers in self._servers.values():
            servers.close()
        self._servers.clear()
        self._open.clear()
        self.cluster.close()


def search_only(indexer: Indexer[Made]) -> Indexer[Made]:
    """The indexer for a node that only searches and needs no encoder, since queries arrive encoded."""
    if not isinstance(indexer, DenseIndexer):
        return indexer
    return cast(Indexer[Made], replace(indexer, similarity=indexer.similarity or indexer.open().similarity))


def sharded(corpus: Corpus, address: str, *, patience: float = PATIENCE) -> ShardedCollection:
    """The corpus in shards on the cluster at `address`: HOST:PORT, "auto" or "local"; close it after use.

    `patience` is the number of seconds without a response from a shard after which an error is raised.
    """
    return ShardedCollection(corpus, connect(address), patience=patience)
