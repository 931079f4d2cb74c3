"""Shards built and searched in the test's own process: all but the network."""

from collections.abc import Sequence
from typing import Any

from berdseye.data.corpora import Corpus
from berdseye.data.files.atomic import write_json
from berdseye.data.records import Passage, Ranking
from berdseye.retrieval.cluster.building import Source, build_shard, train
from berdseye.retrieval.cluster.searching import ShardedDense, ShardedLexical
from berdseye.retrieval.cluster.servers import ShardServer
from berdseye.retrieval.cluster.shards import ShardPlan
from berdseye.retrieval.dense.ranker import DenseIndexer
from berdseye.retrieval.protocol import Indexer, Query, Ranker


def build_here(corpus: Corpus, indexer: Indexer[Any], shards: int) -> ShardPlan:
    """Every shard, one after the other."""
    plan = ShardPlan.of(corpus, indexer, shards)
    passages = [p for batch in corpus.batches() for p in batch]
    for shard in plan.all():
        folder = plan.folder / "building"
        folder.mkdir(parents=True)
        indexer.build([passages[shard.start : shard.end]], folder)
        plan.finish(shard, folder)
    return plan


def encode_here(corpus: Corpus, indexer: DenseIndexer, shards: int) -> None:
    """Leave vectors as a build into so many shards does that is cut off just after encoding."""
    plan, encoder = ShardPlan.of(corpus, indexer, shards), indexer.open()
    kept = plan.folder / "encoded"
    files = Source.of(indexer, kept).files
    write_json(kept / "made_from.json", {"engine": plan.engine, "corpus_hash": plan.corpus_hash})
    start = 0
    for batch in corpus.batches(700):  # across the bounds of shards
        files.write(start, encoder.encode_passages(batch))
        start += len(batch)


def lay_out_here(corpus: Corpus, indexer: DenseIndexer, shards: int) -> None:
    """Train a layout and build shards of it, as the nodes do."""
    encode_here(corpus, indexer, shards)
    plan = ShardPlan.of(corpus, indexer, shards)
    source, trained = Source.of(indexer, plan.folder / "encoded"), plan.folder / "encoded" / "trained.faiss"
    train(source, plan.count, trained, 1)
    for shard in plan.all():
        build_shard(plan, shard, lambda _: None, source, trained, 1)


class CutHere:
    """A corpus cut into shards that are all served here."""

    def __init__(self, corpus: Corpus, shards: int) -> None:
        self.corpus, self.shards = corpus, shards
        self._servers = [ShardServer(number, 1) for number in range(shards)]

    def ask(
        self, plan: ShardPlan, indexer: Indexer[Any], method: str, *arguments: Any, of: Sequence[int] | None = None
    ) -> list[Any]:
        asked = range(self.shards) if of is None else of
        return [self._servers[number].answer(plan, indexer, method, *arguments) for number in asked]

    def index(self, indexer: Indexer[Any]) -> Any:
        kind = ShardedDense if isinstance(indexer, DenseIndexer) else ShardedLexical
        return kind(self, ShardPlan.of(self.corpus, indexer, self.shards), indexer)

    def passages(self, ids: Sequence[int]) -> list[Passage]:
        return self.corpus.passages(ids)

    def rank(self, ranker: Ranker, queries: Sequence[Query], k: int) -> list[Ranking]:
        return ranker.rank(self, queries, k)
