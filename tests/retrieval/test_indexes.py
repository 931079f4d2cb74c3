"""Indexes on disk."""

import resource
import subprocess
import sys
from pathlib import Path

import pytest
from corpus_files import CITY, corpus_of

from data.corpora import Corpus, add_corpus, open_corpus
from data.errors import BadInputError, BerdseyeError
from data.workspace import Workspace
from retrieval.bm25 import BM25
from retrieval.dense import Dense
from retrieval.indexes import ensure_index
from retrieval.protocol import Retriever
from retrieval.registry import parse_pipeline
from retrieval.search import search

# Builds an index, and waits for a line of input each time that progress is told.
SLOW = """
import sys
from pathlib import Path
from data.corpora import Corpus
from retrieval.bm25 import BM25
from retrieval.indexes import ensure_index

def wait(count, what):
    print(count, flush=True)
    sys.stdin.readline()

ensure_index(Corpus(Path(sys.argv[1])), BM25(), progress=wait)
"""


class Builds:
    """Counts how often progress was told, which building does and loading does not."""

    def __init__(self) -> None:
        self.count = 0

    def __call__(self, count: int, what: str) -> None:
        del count, what
        self.count += 1


def ensure(corpus: Corpus, retriever: Retriever, *, rebuild: bool = False) -> tuple[list[int], int]:
    """What the index finds, and how often it was built for that."""
    builds = Builds()
    index = ensure_index(corpus, retriever, rebuild=rebuild, progress=builds)
    return index.search(["elephants"], 2)[0].ids.tolist(), builds.count


@pytest.mark.parametrize("retriever", [BM25(), Dense()])
def test_an_index_is_built_once(workspace: Workspace, retriever: Retriever) -> None:
    corpus = corpus_of(workspace, CITY)
    assert ensure(corpus, retriever) == ([4, 3], 1)
    assert ensure(corpus, retriever) == ([4, 3], 0)
    assert ensure(corpus, retriever, rebuild=True) == ([4, 3], 1)


@pytest.mark.parametrize("retriever", [BM25(), Dense()])
def test_a_corpus_made_anew_is_indexed_anew(workspace: Workspace, retriever: Retriever) -> None:
    assert ensure(corpus_of(workspace, CITY), retriever) == ([4, 3], 1)
    assert ensure(corpus_of(workspace, CITY[::-1]), retriever) == ([1, 2], 1)


def test_an_index_of_another_corpus_is_not_taken(workspace: Workspace) -> None:
    """As when a folder of indexes outlives its corpus, for example in a restored backup."""
    old = corpus_of(workspace, CITY)
    ensure(old, BM25())
    (old.folder / "indexes").rename(workspace.folder / "indexes")
    new = corpus_of(workspace, CITY[::-1])
    (workspace.folder / "indexes").rename(new.folder / "indexes")
    assert ensure(new, BM25()) == ([1, 2], 1)


def test_an_index_of_another_engine_is_not_taken(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    corpus = corpus_of(workspace, CITY)
    ensure(corpus, BM25())
    monkeypatch.setattr("bm25s.__version__", "0.0.0")
    assert ensure(corpus, BM25()) == ([4, 3], 1)


@pytest.mark.parametrize("retriever", [BM25(), Dense()])
def test_a_damaged_index_is_built_again(workspace: Workspace, retriever: Retriever) -> None:
    corpus = corpus_of(workspace, CITY)
    ensure(corpus, retriever)
    (folder,) = (p for p in (corpus.folder / "indexes").iterdir() if p.is_dir())
    files = sorted(p for p in folder.iterdir() if p.stat().st_size > 8)
    assert len(files) >= 2
    for path in files:
        path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
        assert ensure(corpus, retriever) == ([4, 3], 1), path.name


def test_of_two_processes_one_builds(workspace: Workspace) -> None:
    corpus = corpus_of(workspace, CITY)
    process = subprocess.Popen(
        [sys.executable, "-c", SLOW, str(corpus.folder)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "6\n"
    with pytest.raises(BerdseyeError, match="index bm25 of 'c' is being built by another process"):
        ensure_index(corpus, BM25(), wait=False)
    assert process.stdin is not None
    process.stdin.write("\n")
    process.stdin.flush()
    assert ensure(corpus, BM25()) == ([4, 3], 0)
    process.communicate(timeout=20)
    assert process.returncode == 0


@pytest.mark.parametrize("retriever", [BM25(), Dense()])
def test_a_full_disk_is_told(workspace: Workspace, retriever: Retriever) -> None:
    corpus = corpus_of(workspace, [f"text {n} among many others" for n in range(2000)])
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, hard))
    try:
        with pytest.raises(BerdseyeError, match="could not be written"):
            ensure_index(corpus, retriever)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert [p for p in (corpus.folder / "indexes").iterdir() if p.is_dir()] == []


def test_pages_need_no_index(workspace: Workspace) -> None:
    with pytest.raises(BadInputError, match="It needs no index"):
        ensure_index(corpus_of(workspace, CITY, kind="pages"), BM25())


def test_titles_are_searched(workspace: Workspace, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("title,text\nElephants,Large animals.\n,Small animals.\n")
    add_corpus(workspace, "t", tmp_path / "t.csv")
    ids, _ = search(open_corpus(workspace, "t"), parse_pipeline("bm25"), ["elephant"], 2)
    assert ids.tolist() == [[0, -1]]
