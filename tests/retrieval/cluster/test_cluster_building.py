"""Building shards: cut off, failing, and repaired."""

import subprocess
import sys
import time
from pathlib import Path

import pytest
from built_here import CutHere, encode_here
from filelock import FileLock
from one_index import QUERIES
from several_nodes import SeveralNodes
from tied_corpus import write_tied_corpus

from berdseye.data.corpora import Corpus
from berdseye.data.corpora.corpus import part_path
from berdseye.data.errors import BerdseyeError, UnavailableError
from berdseye.data.workspace import Workspace
from berdseye.retrieval.cluster.building import build_shards
from berdseye.retrieval.cluster.connection import Connection
from berdseye.retrieval.cluster.shards import ShardPlan
from berdseye.retrieval.dense.ranker import DenseIndexer
from berdseye.retrieval.lexical.ranker import LexicalIndexer
from berdseye.retrieval.pipeline import search, search_passages
from berdseye.retrieval.pipeline_registry import parse_pipeline

WORDS, VECTORS = LexicalIndexer(), DenseIndexer("static")
MANY = 60
BUILD = """
import sys
from pathlib import Path
from berdseye.data.corpora import Corpus
from berdseye.retrieval.cluster.building import build_shards
from berdseye.retrieval.cluster.connection import connect
from berdseye.retrieval.lexical.ranker import LexicalIndexer

pytestmark = pytest.mark.timeout(1200)  # on a busy machine, nodes and their processes need minutes to start

build_shards(Corpus(Path(sys.argv[1])), LexicalIndexer(), connect(sys.argv[2]), int(sys.argv[3]))
"""


def manifests(plan: ShardPlan) -> dict[Path, int]:
    """When each shard was finished."""
    return {path: path.stat().st_mtime_ns for path in plan.folder.glob("[0-9]*/manifest.json")}


@pytest.mark.slow
def test_a_build_that_is_killed_goes_on_with_what_is_missing(
    workspace: Workspace, nodes: SeveralNodes, cluster: Connection
) -> None:
    corpus = write_tied_corpus(workspace, 1200)
    plan = ShardPlan.of(corpus, WORDS, MANY)
    process = subprocess.Popen([sys.executable, "-c", BUILD, corpus.folder, nodes.address, str(MANY)])
    try:
        while not manifests(plan):
            assert process.poll() is None
            time.sleep(0.01)
    finally:
        process.kill()
        process.wait()
    time.sleep(1.0)  # until its tasks have ended as well
    finished = manifests(plan)
    assert 0 < len(finished) < MANY

    assert build_shards(corpus, WORDS, cluster, MANY) == plan
    assert len(manifests(plan)) == MANY
    assert {path: manifests(plan)[path] for path in finished} == finished
    assert [p.name for p in plan.folder.iterdir() if p.name.startswith(".")] == []


@pytest.mark.slow
def test_a_damaged_shard_alone_is_built_again(workspace: Workspace, cluster: Connection) -> None:
    corpus = write_tied_corpus(workspace, 300)
    encode_here(corpus, VECTORS, 2)
    plan = build_shards(corpus, VECTORS, cluster, 2)
    first = manifests(plan)
    path = plan.place(plan.shard(1)) / "vectors.faiss"
    path.write_bytes(path.read_bytes()[:-4])
    assert build_shards(corpus, VECTORS, cluster, 2) == plan
    changed = {path for path, made in manifests(plan).items() if first[path] != made}
    assert changed == {plan.place(plan.shard(1)) / "manifest.json"}
    pipeline = parse_pipeline("dense(static)")
    found = search_passages(CutHere(corpus, 2), pipeline, QUERIES, 300)
    assert found[0].tolist() == search(corpus, pipeline, QUERIES, 300)[0].tolist()


@pytest.mark.slow
def test_a_shard_that_cannot_be_built_is_named(workspace: Workspace, cluster: Connection) -> None:
    corpus = write_tied_corpus(workspace, 3000)
    damage(corpus)
    plan = ShardPlan.of(corpus, WORDS, 3)
    with pytest.raises(UnavailableError, match=r"shard 2 \(passages 2,000 to 2,999\) of 3 could not be built on node"):
        build_shards(corpus, WORDS, cluster, 3)
    assert not plan.is_built(plan.shard(2))
    with pytest.raises(UnavailableError, match=r"Passages 2,000 to 2,999 could not be read on node .* is kept"):
        build_shards(corpus, VECTORS, cluster, 3)


def test_two_processes_do_not_build_the_same_shards(workspace: Workspace, cluster: Connection) -> None:
    corpus = write_tied_corpus(workspace, 10)
    plan = ShardPlan.of(corpus, WORDS, 2)
    plan.folder.mkdir(parents=True)
    with FileLock(plan.folder.parent / ".2.lock"), pytest.raises(BerdseyeError, match="process is building the shards"):
        build_shards(corpus, WORDS, cluster, 2)


def damage(corpus: Corpus) -> None:
    """Cut the last part of the corpus in half."""
    path = part_path(corpus.folder, 2000)
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
