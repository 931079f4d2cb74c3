"""Shards of a large corpus on several Ray nodes of this machine, beside one index: also when a node is killed.

    BERDSEYE_BENCH_SIZES=22000000 BERDSEYE_BENCH_WORKSPACE=FOLDER \
    python -m pytest -m benchmark -s tests/benchmarks/bench_cluster.py

The first size counts. The folder is a workspace as `bench_scale.py` leaves it; without one, everything is made here.
"""

import os
import threading
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from berdseye.data.corpora import open_corpus
from berdseye.data.records import Ranking
from berdseye.data.workspace import Workspace
from berdseye.retrieval.cluster.building import build_shards
from berdseye.retrieval.cluster.connection import connect
from berdseye.retrieval.cluster.searching import sharded
from berdseye.retrieval.indexes import ensure_index
from berdseye.retrieval.lexical.ranker import LexicalIndexer
from berdseye.retrieval.passage_collections import StoredCorpus
from berdseye.retrieval.pipeline_registry import parse_pipeline
from berdseye.retrieval.protocol import Query
from tests.data.synthetic_passages import synthetic_queries, write_synthetic_corpus
from tests.retrieval.cluster.several_nodes import SeveralNodes

SIZE = int(os.environ.get("BERDSEYE_BENCH_SIZES", "100000").split(",")[0])
NODES, QUERIES, K, ROUNDS = 2, 200, 100, 20
BM25 = parse_pipeline("bm25").ranker


def seconds(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def milliseconds(rank: Callable[[Query], object], queries: list[Query]) -> str:
    taken = [1000 * seconds(lambda query=query: rank(query)) for query in queries]  # type: ignore[misc]
    return f"median {np.median(taken):.1f} ms, 95th percentile {np.percentile(taken, 95):.1f} ms"


def different(found: list[Ranking], expected: list[Ranking]) -> int:
    """How many rankings are not the same to the last bit."""
    return sum(
        not (np.array_equal(a.ids, b.ids) and np.array_equal(a.scores, b.scores))
        for a, b in zip(found, expected, strict=True)
    )


@pytest.mark.benchmark
@pytest.mark.timeout(36_000)
def test_shards_of_a_large_corpus(tmp_path: Path) -> None:
    """Prints times; asserts that every ranking equals that of one index."""
    workspace = Workspace.create(Path(os.environ.get("BERDSEYE_BENCH_WORKSPACE", tmp_path / "workspace")))
    name = f"synthetic-{SIZE}"
    if name not in workspace.corpora():
        write_synthetic_corpus(workspace, name, SIZE)
    corpus, queries = open_corpus(workspace, name), [Query(text) for text in synthetic_queries(QUERIES)]
    ensure_index(corpus, LexicalIndexer())
    alone = StoredCorpus(corpus)
    expected = BM25.rank(alone, queries, K)
    print(f"\n{SIZE:,} passages, one index: {milliseconds(lambda q: BM25.rank(alone, [q], K), queries)}", flush=True)
    nodes = SeveralNodes(NODES)
    try:
        with connect(nodes.address) as cluster:
            build = seconds(lambda: build_shards(corpus, LexicalIndexer(), cluster, NODES))
        print(f"{NODES} shards built by {NODES} nodes in {build:.0f} s (0: they were there)", flush=True)
        with sharded(corpus, nodes.address) as shards:
            first = seconds(lambda: BM25.rank(shards, queries[:1], K))
            print(f"first answer after {first:.1f} s", flush=True)
            assert different(BM25.rank(shards, queries, K), expected) == 0
            print(f"{NODES} shards: {milliseconds(lambda q: BM25.rank(shards, [q], K), queries)}", flush=True)
            spare = nodes.add()
            found: list[Ranking] = []
            asking = threading.Thread(target=lambda: found.extend(BM25.rank(shards, queries * ROUNDS, K)))
            asking.start()
            time.sleep(3)
            assert asking.is_alive(), "the node is to be killed while it is asked"
            nodes.kill(next(name for name in nodes.nodes if name != spare))
            waited = seconds(asking.join)
            assert different(found, expected * ROUNDS) == 0
            print(f"a node killed during {QUERIES * ROUNDS:,} queries: all answered {waited:.0f} s later, all the same")
    finally:
        nodes.close()
