"""Shards built and searched over several nodes."""

import numpy as np
import pytest
from built_here import encode_here
from one_index import QUERIES, assert_same
from several_nodes import SeveralNodes
from tied_corpus import write_tied_corpus

from berdseye.data.corpora import Corpus
from berdseye.data.errors import StaleError, UnavailableError
from berdseye.data.workspace import Workspace
from berdseye.retrieval.cluster.building import build_shards
from berdseye.retrieval.cluster.connection import Connection
from berdseye.retrieval.cluster.searching import sharded
from berdseye.retrieval.dense.ranker import DenseIndexer
from berdseye.retrieval.lexical.ranker import LexicalIndexer
from berdseye.retrieval.pipeline import search, search_passages
from berdseye.retrieval.pipeline_registry import parse_pipeline

pytestmark = pytest.mark.timeout(1200)  # on a busy machine, nodes and their processes need minutes to start

WORDS, VECTORS = LexicalIndexer(), DenseIndexer("static")


def test_nodes_find_what_one_index_finds(tied: Corpus, nodes: SeveralNodes, cluster: Connection) -> None:
    told: list[tuple[int, str, int | None]] = []
    for indexer in (WORDS, VECTORS):
        build_shards(tied, indexer, cluster, 3, rebuild=True, progress=lambda *said: told.append(said))
    assert (2400, "passages encoded for dense(static)", 2400) in told
    assert {what for _, what, _ in told if "encoded" not in what} == {
        "passages in shards of lexical(english)",
        "passages in shards of dense(static)",
    }
    quantised = DenseIndexer("static", "sq8")
    encode_here(tied, quantised, 2)  # a number of shards that no other test builds of this corpus
    plan = build_shards(tied, quantised, cluster, 2)
    kept = sorted(path.name for path in (plan.folder / "encoded").iterdir())
    assert kept == ["made_from.json", "trained.faiss"]  # for a shard that must be built again; vectors are not kept
    with sharded(tied, nodes.address) as passages:
        assert_same(tied, passages)
        pipeline = parse_pipeline("dense(static,index=sq8)")
        found = search_passages(passages, pipeline, QUERIES, 20)
        assert np.array_equal(found[1], search(tied, pipeline, QUERIES, 20)[1])


def test_a_file_that_is_truncated_meanwhile_is_reported_by_the_node(
    workspace: Workspace, nodes: SeveralNodes, cluster: Connection
) -> None:
    corpus = write_tied_corpus(workspace, 100)
    plan = build_shards(corpus, WORDS, cluster, 1)
    with sharded(corpus, nodes.address) as passages:
        passages.index(WORDS)  # looked at here, not yet opened there
        path = plan.place(plan.shard(0)) / "postings.values"
        path.write_bytes(path.read_bytes()[:-2])
        with pytest.raises(UnavailableError, match=r"cannot be searched on node 127\.0\.0\.1 .* postings\.values has"):
            search_passages(passages, parse_pipeline("bm25"), QUERIES, 5)


def test_a_corpus_rebuilt_during_a_search_is_reported(
    workspace: Workspace, nodes: SeveralNodes, cluster: Connection
) -> None:
    corpus = write_tied_corpus(workspace, 100)
    build_shards(corpus, WORDS, cluster, 1)
    with sharded(corpus, nodes.address) as passages:
        changed = write_tied_corpus(workspace, 100, seed=1)
        with pytest.raises(StaleError, match="has been replaced"):
            search_passages(passages, parse_pipeline("bm25"), QUERIES, 5)
    with sharded(changed, nodes.address) as passages, pytest.raises(StaleError, match=r"shard 0 .* another state"):
        passages.index(WORDS)
