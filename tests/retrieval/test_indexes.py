"""Indexes on disk."""

import json
import re
import resource
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import IO

import faiss
import numpy as np
import pytest

from berdseye.data.corpora import Corpus, add_corpus, open_corpus
from berdseye.data.errors import BadInputError, BerdseyeError, DamagedError
from berdseye.data.workspace import Workspace
from berdseye.retrieval.dense.layouts import LAYOUTS
from berdseye.retrieval.indexes import ensure_index, index_folder
from berdseye.retrieval.learned_sparse import Sparse
from berdseye.retrieval.pipeline import search
from berdseye.retrieval.pipeline_registry import parse_pipeline
from berdseye.retrieval.protocol import Indexer, Made, Query, Ranker
from tests.retrieval.corpus_files import CITY, corpus_of
from tests.retrieval.made_encoders import TableEncoder, TableSparseEncoder, use_encoder

ELEPHANTS = [Query("elephants")]
BOTH = ("bm25", "dense(static)")
# Builds an index, and waits for a line of input each time that progress is told.
SLOW = """
import sys
from pathlib import Path
from berdseye.data.corpora import Corpus
from berdseye.retrieval.indexes import ensure_index
from berdseye.retrieval.pipeline_registry import parse_pipeline

def wait(done, what, total=None):
    print(done, total, flush=True)
    sys.stdin.readline()

indexer = parse_pipeline(sys.argv[2]).ranker.indexers[0]
ensure_index(Corpus(Path(sys.argv[1])), indexer, rebuild=len(sys.argv) > 3, progress=wait)
print("built", flush=True)
"""


class Builds:
    """Counts how often progress was told, which building does and loading does not."""

    def __init__(self) -> None:
        self.count = 0

    def __call__(self, done: int, what: str, total: int | None = None, /) -> None:
        del done, what, total
        self.count += 1


def ranker_of(pipeline: str) -> Ranker:
    return parse_pipeline(pipeline).ranker


class Ensured:
    """A corpus whose indexes are made sure of whenever they are asked for; `Stored` keeps them open."""

    def __init__(self, corpus: Corpus, rebuild: bool) -> None:
        self.corpus, self.rebuild, self.builds = corpus, rebuild, Builds()

    def index(self, indexer: Indexer[Made]) -> Made:
        return ensure_index(self.corpus, indexer, rebuild=self.rebuild, progress=self.builds)


def ensure(corpus: Corpus, pipeline: str | Ranker, *, rebuild: bool = False) -> tuple[list[int], int]:
    """What the index finds, and how often it was built for that."""
    ranker = ranker_of(pipeline) if isinstance(pipeline, str) else pipeline
    collection = Ensured(corpus, rebuild)
    return ranker.rank(collection, ELEPHANTS, 2)[0].ids.tolist(), collection.builds.count


def files_of(corpus: Corpus, pipeline: str | Ranker) -> list[Path]:
    ranker = ranker_of(pipeline) if isinstance(pipeline, str) else pipeline
    return sorted(p for p in index_folder(corpus, ranker.indexers[0]).iterdir() if not p.name.startswith("."))


@pytest.mark.parametrize("pipeline", BOTH)
def test_an_index_is_built_once(workspace: Workspace, pipeline: str) -> None:
    corpus = corpus_of(workspace, CITY)
    assert ensure(corpus, pipeline) == ([4, 3], 1)
    assert ensure(corpus, pipeline) == ([4, 3], 0)
    assert ensure(corpus, pipeline, rebuild=True) == ([4, 3], 1)


def test_scoring_functions_share_the_index_of_their_tokenizer(workspace: Workspace) -> None:
    corpus = corpus_of(workspace, CITY)
    assert ensure(corpus, "bm25") == ([4, 3], 1)
    for pipeline in ("qld", "bm25(k1=2,variant=plus)", "bm25(variant=okapi)"):
        assert ensure(corpus, pipeline)[1] == 0
    assert ensure(corpus, "bm25(tokenizer=porter)")[1] == 1


def test_projections_share_the_index_of_their_encoder(workspace: Workspace) -> None:
    corpus = corpus_of(workspace, CITY)
    assert ensure(corpus, "dense(static)")[1] == 1
    for pipeline in ("dense(static) >> pap", "dense(static,similarity=euclidean) >> pap+", "hybrid(dense,dense)"):
        assert [ensure_index(corpus, i, progress=pytest.fail) for i in ranker_of(pipeline).indexers]


@pytest.mark.parametrize("pipeline", BOTH)
def test_a_rebuilt_corpus_is_indexed_again(workspace: Workspace, pipeline: str) -> None:
    assert ensure(corpus_of(workspace, CITY), pipeline) == ([4, 3], 1)
    assert ensure(corpus_of(workspace, CITY[::-1]), pipeline) == ([1, 2], 1)


@pytest.mark.parametrize("pipeline", BOTH)
def test_an_index_of_another_corpus_is_not_taken(workspace: Workspace, pipeline: str) -> None:
    """As when a folder of indexes outlives its corpus, for example in a restored backup."""
    old = corpus_of(workspace, CITY)
    ensure(old, pipeline)
    (old.folder / "indexes").rename(workspace.folder / "indexes")
    new = corpus_of(workspace, CITY[::-1])
    (workspace.folder / "indexes").rename(new.folder / "indexes")
    assert ensure(new, pipeline) == ([1, 2], 1)


def test_an_index_of_another_version_is_not_taken(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    corpus = corpus_of(workspace, CITY)
    for pipeline, place, version in (
        ("bm25", "berdseye.retrieval.lexical.ranker.FORMAT", 0),
        ("dense(static)", "faiss.__version__", "0.0.0"),
    ):
        assert ensure(corpus, pipeline)[1] == 1
        with monkeypatch.context() as patch:
            patch.setattr(place, version)
            assert ensure(corpus, pipeline) == ([4, 3], 1)
        assert ensure(corpus, pipeline) == ([4, 3], 1)


def test_an_index_of_other_weights_is_not_taken(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of the same name and the same length of vectors, as after a model was trained on."""
    texts = ["one", "two"]
    corpus = corpus_of(workspace, texts)
    for version, vectors, found in (("1", [[1, 0], [0, 1]], [0, 1]), ("2", [[0, 1], [1, 0]], [1, 0])):
        table = dict(zip(texts, vectors, strict=True)) | {"elephants": [1, 0]}
        use_encoder(monkeypatch, TableEncoder(table, version=version))
        assert ensure(corpus, "dense(mine)") == (found, 1)


def kinds() -> Iterator[str]:
    yield from ("bm25", "qld(tokenizer=words)", "sparse(mine)")
    yield from (f"dense(mine,index={layout})" for layout in LAYOUTS)


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    """As many passages as every layout learns from."""
    workspace = Workspace.create(tmp_path_factory.mktemp("large") / "workspace")
    return corpus_of(workspace, [f"elephants{n} walk" for n in range(10_000)])


@pytest.mark.parametrize("pipeline", list(kinds()))
def test_a_damaged_index_is_refused_until_it_is_built_again(
    large: Corpus, pipeline: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    vectors = np.random.default_rng(0).normal(size=(10_001, 4))
    texts = [f"elephants{n} walk" for n in range(10_000)] + ["elephants"]
    table = dict(zip(texts, vectors.tolist(), strict=True))
    use_encoder(monkeypatch, TableEncoder(table, "dot"))
    monkeypatch.setattr("berdseye.retrieval.learned_sparse.open_sparse_encoder", lambda _: TableSparseEncoder(table))
    ranker = Sparse("mine") if pipeline.startswith("sparse") else ranker_of(pipeline)
    threads = faiss.omp_get_max_threads()
    faiss.omp_set_num_threads(1)
    found, built = ensure(large, ranker)
    assert built > 0
    for path in files_of(large, ranker):
        whole = path.read_bytes()
        path.write_bytes(whole[: len(whole) // 2])
        if whole:  # a file of no bytes cannot be cut
            with pytest.raises(DamagedError, match=f"{re.escape(path.name)}: .*damaged.*--rebuild`"):
                ensure(large, ranker)
        path.write_bytes(whole)
        assert ensure(large, ranker) == (found, 0)
    path.write_bytes(whole[:-1])
    assert ensure(large, ranker, rebuild=True) == (found, built)
    assert ensure(large, ranker) == (found, 0)
    faiss.omp_set_num_threads(threads)


@pytest.mark.parametrize(
    "content", ["", "[]", "{}", "null", "\x00", '{"indexer": 1}', "{" * 100_000, '{"files": {"a": "b"}}']
)
def test_a_manifest_that_says_nothing_is_never_taken(workspace: Workspace, content: str) -> None:
    corpus = corpus_of(workspace, CITY)
    ensure(corpus, "bm25")
    (manifest,) = (p for p in files_of(corpus, "bm25") if p.name == "manifest.json")
    manifest.write_text(content)
    with pytest.raises(DamagedError, match=r"manifest\.json: .* `berdseye index c --pipeline bm25 --rebuild`"):
        ensure(corpus, "bm25")
    assert ensure(corpus, "bm25", rebuild=True) == ([4, 3], 1)


def test_the_manifest_says_what_made_the_index(workspace: Workspace) -> None:
    corpus = corpus_of(workspace, CITY)
    ensure(corpus, "bm25")
    held = {p.name: p for p in files_of(corpus, "bm25")}
    manifest = json.loads(held.pop("manifest.json").read_text())
    assert (manifest["indexer"], manifest["count"]) == ("lexical(english)", 6)
    assert manifest["corpus_hash"] == corpus.manifest.hash
    held.pop("index.checksums")
    assert manifest["files"] == {name: path.stat().st_size for name, path in held.items()}


def started(corpus: Corpus, pipeline: str, *rebuild: str) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "-c", SLOW, str(corpus.folder), pipeline, *rebuild],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def line(stream: IO[str] | None) -> str:
    assert stream is not None
    return stream.readline().strip()


def test_of_two_processes_one_builds(workspace: Workspace) -> None:
    corpus = corpus_of(workspace, CITY)
    process = started(corpus, "bm25")
    assert line(process.stdout) == "6 6"
    with pytest.raises(BerdseyeError, match=r"process is building index lexical\(english\) of corpus 'c'"):
        ensure_index(corpus, ranker_of("bm25").indexers[0], wait=False)
    assert process.stdin is not None
    process.stdin.write("\n")
    process.stdin.flush()
    assert ensure(corpus, "bm25") == ([4, 3], 0)
    process.communicate(timeout=20)
    assert process.returncode == 0


@pytest.mark.parametrize("pipeline", BOTH)
def test_a_build_that_is_killed_leaves_the_older_index(workspace: Workspace, pipeline: str) -> None:
    corpus = corpus_of(workspace, CITY)
    ensure(corpus, pipeline)
    before = {p.name: p.read_bytes() for p in files_of(corpus, pipeline)}
    process = started(corpus, pipeline, "rebuild")
    assert line(process.stdout) == "6 6"
    process.send_signal(signal.SIGKILL)
    process.communicate(timeout=20)
    assert {p.name: p.read_bytes() for p in files_of(corpus, pipeline)} == before
    assert ensure(corpus, pipeline) == ([4, 3], 0)
    # What the killed process left behind is in nobody's way.
    assert ensure(corpus, pipeline, rebuild=True) == ([4, 3], 1)
    assert [p.name for p in (corpus.folder / "indexes").iterdir() if p.name.endswith(".building")] == []


class Stopped(BaseException):
    """What a signal raises."""


@pytest.mark.parametrize("error", [Stopped, BerdseyeError])
@pytest.mark.parametrize("pipeline", [*BOTH, "dense(static,index=ivf)", "sparse"])
def test_an_interrupted_build_is_continued_and_gives_the_same_files(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch, pipeline: str, error: type[BaseException]
) -> None:
    monkeypatch.setattr("berdseye.retrieval.lexical.writing._BLOCK_TOKENS", 30_000)
    monkeypatch.setattr("berdseye.retrieval.learned_sparse._BLOCK_WEIGHTS", 10_000)
    texts = [f"text {n} of {n % 97} and {n % 13} others" for n in range(20_000)]
    if pipeline == "sparse":
        table = {text: [float(n % 3), 1.0 + n % 7, 0.0, float(n % 2)] for n, text in enumerate(texts)}
        monkeypatch.setattr(
            "berdseye.retrieval.learned_sparse.open_sparse_encoder", lambda _: TableSparseEncoder(table)
        )
        indexer: Indexer[object] = Sparse("mine").indexers[0]
    else:
        indexer = ranker_of(pipeline).indexers[0]
    whole, interrupted = corpus_of(workspace, texts, name="whole"), corpus_of(workspace, texts, name="interrupted")
    ensure_index(whole, indexer)
    told: list[int] = []

    def stop(done: int, *_: object) -> None:
        told.append(done)
        if len(told) in (2, 4):
            raise error("stopped")

    for _ in range(2):
        with pytest.raises(error):
            ensure_index(interrupted, indexer, progress=stop)
    ensure_index(interrupted, indexer, progress=stop)
    assert told[:2] == [4096, 8192]
    assert told[2] > 4096, "the second build began where the first one had stopped"
    assert told[4] > told[2]
    assert told[-1] == len(texts)
    assert [p.name for p in (interrupted.folder / "indexes").iterdir() if p.name.endswith(".building")] == []
    first, second = (
        {
            p.name: p.read_bytes()
            for p in index_folder(c, indexer).iterdir()
            if p.suffix not in (".json", ".checksums") or p.name == "totals.json"
        }
        for c in (whole, interrupted)
    )
    assert first.keys() == second.keys()
    assert [name for name in first if first[name] != second[name]] == []


@pytest.mark.parametrize("pipeline", BOTH)
def test_what_a_build_of_another_corpus_left_is_not_taken(workspace: Workspace, pipeline: str) -> None:
    indexer = ranker_of(pipeline).indexers[0]

    def stop(done: int, *_: object) -> None:
        if done > 5000:
            raise Stopped

    old = corpus_of(workspace, [f"text {n}" for n in range(9000)])
    with pytest.raises(Stopped):
        ensure_index(old, indexer, progress=stop)
    assert ensure(corpus_of(workspace, CITY), pipeline) == ([4, 3], 1)


@pytest.mark.parametrize("pipeline", BOTH)
def test_a_full_disk_is_reported(workspace: Workspace, pipeline: str) -> None:
    corpus = corpus_of(workspace, [f"text {n} among many others" for n in range(4000)])
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, hard))
    try:
        with pytest.raises(BerdseyeError, match=r"could not be (written|built)"):
            ensure_index(corpus, ranker_of(pipeline).indexers[0])
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert [p for p in (corpus.folder / "indexes").iterdir() if p.is_dir()] == []


def test_pages_need_no_index(workspace: Workspace) -> None:
    with pytest.raises(BadInputError, match="It needs no index"):
        ensure_index(corpus_of(workspace, CITY, kind="pages"), ranker_of("bm25").indexers[0])


def test_titles_are_searched(workspace: Workspace, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("title,text\nElephants,Large animals.\n,Small animals.\n")
    add_corpus(workspace, "t", tmp_path / "t.csv")
    ids, _ = search(open_corpus(workspace, "t"), parse_pipeline("bm25"), ["elephant"], 2)
    assert ids.tolist() == [[0, -1]]
