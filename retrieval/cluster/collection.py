"""A corpus searched in shards, for every ranker that searches one in one piece."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from types import TracebackType
from typing import Any, cast

from berdseye.data.corpora import Corpus
from berdseye.data.errors import BadInputError
from berdseye.data.records import Passage, Ranking
from berdseye.retrieval.cluster.connection import Connection, connect
from berdseye.retrieval.cluster.servers import PATIENCE, Servers
from berdseye.retrieval.cluster.sharded_indexes import Asking, ShardedDense, ShardedLexical, ShardedWeighted
from berdseye.retrieval.cluster.shards import Plan, standing
from berdseye.retrieval.dense.ranker import DenseIndexer
from berdseye.retrieval.learned_sparse import SparseIndexer
from berdseye.retrieval.lexical.ranker import LexicalIndexer
from berdseye.retrieval.passage_collections import unchanged
from berdseye.retrieval.protocol import Indexer, Made, Ranker
from berdseye.retrieval.queries import Query

_SHARDED: dict[type, Callable[[Asking, Plan, Indexer[Any]], Any]] = {
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
