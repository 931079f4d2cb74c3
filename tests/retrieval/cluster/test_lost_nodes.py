"""Nodes that die while shards are searched: the answer is complete, or it is an error that names what is missing."""

import threading
import time
from typing import Any

import numpy as np
import pytest
from several_nodes import SeveralNodes
from tied_corpus import QUESTIONS

from berdseye.data.corpora import Corpus
from berdseye.data.errors import UnavailableError
from berdseye.data.records import Ranking
from berdseye.retrieval.cluster.building import build_shards
from berdseye.retrieval.cluster.connection import Connection
from berdseye.retrieval.cluster.searching import ShardedCollection, sharded
from berdseye.retrieval.lexical.ranker import LexicalIndexer
from berdseye.retrieval.passage_collections import StoredCorpus
from berdseye.retrieval.pipeline_registry import parse_pipeline
from berdseye.retrieval.protocol import Query

pytestmark = pytest.mark.timeout(1200)  # on a busy machine, nodes and their processes need minutes to start

WORDS = LexicalIndexer()
BM25 = parse_pipeline("bm25").ranker


def node_of(passages: ShardedCollection, cluster: Connection, shard: int) -> str:
    """The beginning of the id of the node that serves a shard."""
    server = passages._servers[2]._servers[shard]
    name: str = cluster.ray.get(server._actor.pulse.options(concurrency_group="pulse").remote())
    return name.partition("(")[2].rstrip(")")


def assert_equal(found: list[Ranking], expected: list[Ranking]) -> None:
    assert len(found) == len(expected)
    for one, other in zip(found, expected, strict=True):
        assert np.array_equal(one.ids, other.ids)
        assert np.array_equal(one.scores, other.scores)


@pytest.mark.slow
def test_a_node_killed_in_the_middle_of_a_batch(tied: Corpus, nodes: SeveralNodes, cluster: Connection) -> None:
    build_shards(tied, WORDS, cluster, 2)
    few = [Query(q) for q in QUESTIONS]
    expected = BM25.rank(StoredCorpus(tied), few, 20)
    spare = nodes.add()
    with sharded(tied, nodes.address) as passages:
        assert_equal(BM25.rank(passages, few, 20), expected)
        killed = node_of(passages, cluster, 1)

        found: list[Any] = []
        many = few * 3000
        asking = threading.Thread(target=lambda: found.append(BM25.rank(passages, many, 20)))
        asking.start()
        time.sleep(1.0)
        assert asking.is_alive()  # it is in the middle of it
        nodes.kill(killed)
        asking.join(timeout=90)
        assert_equal(found[0], expected * 3000)
        assert node_of(passages, cluster, 1) != killed
    assert len(nodes.nodes) == 2
    assert spare in nodes.nodes or killed == spare


@pytest.mark.slow
def test_no_node_left_names_the_shard_and_its_node(tied: Corpus, nodes: SeveralNodes, cluster: Connection) -> None:
    build_shards(tied, WORDS, cluster, 2)
    few = [Query(q) for q in QUESTIONS]
    expected = BM25.rank(StoredCorpus(tied), few, 20)
    with sharded(tied, nodes.address, patience=6) as passages:
        assert_equal(BM25.rank(passages, few, 20), expected)
        was = node_of(passages, cluster, 0)
        for name in list(nodes.nodes):
            nodes.kill(name)
        began = time.monotonic()
        with pytest.raises(UnavailableError) as told:
            BM25.rank(passages, few, 20)
        assert time.monotonic() - began < 12
        assert "The shard 0 (passages 0 to 1,199) of 2 has not responded for 6 s" in str(told.value)
        assert was in str(told.value)

        # The same collection answers as soon as there are nodes again.
        nodes.add()
        nodes.add()
        assert_equal(_patiently(passages, few), expected)


def _patiently(passages: ShardedCollection, queries: list[Query]) -> list[Ranking]:
    for _ in range(10):
        try:
            return BM25.rank(passages, queries, 20)
        except UnavailableError:
            continue
    raise AssertionError("the shards did not come back")
