"""Existing FAISS indexes in Sphere's layout, against inner products by NumPy."""

import json
import pickle
import shutil
import zlib
from collections.abc import Sequence
from pathlib import Path

import faiss
import numpy as np
import pytest

import berdseye.retrieval.dense.existing_ranker as ranker_module
from berdseye.data.corpora import Corpus
from berdseye.data.errors import BadInputError
from berdseye.data.workspace import Workspace
from berdseye.retrieval.dense.existing_index import partition_folders, read_documents
from berdseye.retrieval.passage_collections import InMemoryPassages
from berdseye.retrieval.pipeline import search, search_passages
from berdseye.retrieval.pipeline_registry import parse_pipeline
from tests.retrieval.lucene.lucene_indexes import corpus_of_rows
from tests.retrieval.made_encoders import TableEncoder, passages_of, rows

COUNT, DIMENSION = 60, 8
VECTORS = np.random.default_rng(0).normal(size=(COUNT, DIMENSION)).astype(np.float32)
QUERIES = np.random.default_rng(1).normal(size=(3, DIMENSION)).astype(np.float32)
ROWS = [{"id": f"doc{n}", "title": f"Title {n}", "text": f"passage number {n} of the web"} for n in range(COUNT)]


def entry(row: dict[str, str]) -> tuple[object, ...]:
    return row["id"], zlib.compress(row["text"].encode()), zlib.compress(row["title"].encode()), "url"


def partition(
    folder: Path,
    documents: Sequence[dict[str, str]],
    vectors: np.ndarray,
    *,
    kind: str = "Flat",
    probes: int = 1,
    buffered: int = 0,
) -> None:
    """A partition as distributed-faiss writes it: for L2, with a dimension that makes all lengths equal.

    The last `buffered` vectors are in the buffer, not in the index, but have their entries in `meta.pkl`.
    """
    longest = (VECTORS**2).sum(axis=1).max()
    extra = np.sqrt(np.maximum(longest - (vectors**2).sum(axis=1, keepdims=True), 0))
    kept = np.hstack([vectors, extra]).astype(np.float32)
    index = faiss.index_factory(DIMENSION + 1, kind, faiss.METRIC_L2)
    index.train(kept)
    index.add(kept[: len(kept) - buffered])
    folder.mkdir(parents=True)
    faiss.write_index(index, str(folder / "index.faiss"))
    (folder / "meta.pkl").write_bytes(pickle.dumps([entry(row) for row in documents]))
    (folder / "buffer.pkl").write_bytes(pickle.dumps([kept[len(kept) - buffered :]]))
    (folder / "cfg.json").write_text(json.dumps({"nprobe": probes, "metric": "l2"}))


@pytest.fixture
def sphere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Three partitions of 20 passages, of which the last has inverted lists and visits all of them."""
    encoder = TableEncoder(rows("q", QUERIES), "dot")
    monkeypatch.setattr(ranker_module, "open_encoder", lambda _: encoder)
    folder = tmp_path / "dense"
    for number in range(3):
        own = slice(20 * number, 20 * (number + 1))
        kind, probes = ("IVF4,Flat", 4) if number == 2 else ("Flat", 1)
        partition(folder / str(number), ROWS[own], VECTORS[own], kind=kind, probes=probes)
    return folder


def ranked(corpus: Corpus, folder: Path, k: int = 10) -> list[list[str]]:
    ids, _ = search(corpus, parse_pipeline(f"faiss({folder},encoder=table)"), ["q0", "q1", "q2"], k)
    return [[p.source_id for p in corpus.passages([i for i in row if i >= 0])] for row in ids.tolist()]


def expected(k: int, without: Sequence[int] = ()) -> list[list[str]]:
    scores = QUERIES @ VECTORS.T
    scores[:, list(without)] = -np.inf
    return [[f"doc{n}" for n in row] for row in np.argsort(-scores, axis=1)[:, :k].tolist()]


def test_all_partitions_are_ranked_by_inner_products(workspace: Workspace, sphere: Path) -> None:
    corpus = corpus_of_rows(workspace, ROWS[::-1])
    assert ranked(corpus, sphere) == expected(10)
    assert ranked(corpus, sphere, 60) == expected(60)
    pipeline = parse_pipeline(f"faiss({sphere}/,encoder=table,probes=2) >> mmr(1)")
    assert str(pipeline) == f"faiss({sphere},encoder=table,probes=2) >> mmr(1)"
    assert parse_pipeline(str(pipeline)) == pipeline
    before = pipeline.ranker.versions
    partition(sphere / "3", ROWS[:1], VECTORS[:1])
    assert pipeline.ranker.versions != before


@pytest.mark.usefixtures("sphere")
def test_one_folder_of_inner_products_is_an_index_too(workspace: Workspace, tmp_path: Path) -> None:
    index = faiss.IndexFlatIP(DIMENSION)
    index.add(VECTORS)
    (tmp_path / "one").mkdir()
    faiss.write_index(index, str(tmp_path / "one" / "index.faiss"))
    (tmp_path / "one" / "meta.pkl").write_bytes(pickle.dumps([row["id"] for row in ROWS]))
    assert ranked(corpus_of_rows(workspace, ROWS), tmp_path / "one") == expected(10)


def test_documents_that_the_corpus_merged_are_passed_over(workspace: Workspace, sphere: Path) -> None:
    best = [int(docid.removeprefix("doc")) for docid in expected(4)[0]]
    same = [{**row, "text": "the same", "title": ""} if n in best else row for n, row in enumerate(ROWS)]
    for number in range(3):
        (sphere / str(number) / "meta.pkl").write_bytes(
            pickle.dumps([entry(row) for row in same[20 * number : 20 * (number + 1)]])
        )
    corpus = corpus_of_rows(workspace, same)
    assert corpus.manifest.duplicates_merged == 3
    kept = {p.source_id for batch in corpus.batches() for p in batch}
    lost = [n for n in best if f"doc{n}" not in kept]
    assert ranked(corpus, sphere, 20) == expected(20, without=lost)


def test_a_corpus_of_other_documents_is_refused(workspace: Workspace, sphere: Path) -> None:
    with pytest.raises(BadInputError, match=r"\(59 passages\) lacks document 'doc59' of the index \(60 documents\)"):
        ranked(corpus_of_rows(workspace, ROWS[:59]), sphere)
    moved = [{**row, "title": "", "text": f"nothing like it: {'x' * (n + 1)}"} for n, row in enumerate(ROWS)]
    with pytest.raises(BadInputError, match=r"Document 'doc10' of the index differs"):
        ranked(corpus_of_rows(workspace, moved, "moved"), sphere)


def test_an_encoder_of_another_dimension_is_refused(
    workspace: Workspace, sphere: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    narrow = TableEncoder(rows("q", QUERIES[:, :5]), "dot")
    monkeypatch.setattr(ranker_module, "open_encoder", lambda _: narrow)
    with pytest.raises(BadInputError, match="dimension 9, but the encoder returns 5"):
        ranked(corpus_of_rows(workspace, ROWS), sphere)


def test_entries_of_the_buffer_belong_to_no_vector(workspace: Workspace, sphere: Path) -> None:
    """distributed-faiss saves them after those of the index; they must not shift the passages of the next partition."""
    shutil.rmtree(sphere / "0")
    partition(sphere / "0", ROWS[:20], VECTORS[:20], buffered=3)
    assert ranked(corpus_of_rows(workspace, ROWS), sphere, 20) == expected(20, without=[17, 18, 19])


def test_fewer_entries_than_vectors_are_reported(workspace: Workspace, sphere: Path) -> None:
    (sphere / "1" / "meta.pkl").write_bytes(pickle.dumps([entry(row) for row in ROWS[20:39]]))
    with pytest.raises(BadInputError, match=r"has 19 entries for the 20 vectors of index\.faiss"):
        ranked(corpus_of_rows(workspace, ROWS), sphere)


@pytest.mark.parametrize("kind", ["IVF4,SQ8", "HNSW16_SQ8", "IVF4,PQ3x3", "PCAR9,IVF4,SQ8"])
def test_compressed_indexes_visit_as_many_lists_as_their_settings_say(
    workspace: Workspace, sphere: Path, kind: str
) -> None:
    for number in range(3):
        shutil.rmtree(sphere / str(number))
        own = slice(20 * number, 20 * (number + 1))
        partition(sphere / str(number), ROWS[own], VECTORS[own], kind=kind, probes=40)
    found = ranked(corpus_of_rows(workspace, ROWS), sphere, 60)
    assert [len(one) for one in found] == [60, 60, 60]
    if "PQ" not in kind:  # three codes of three bits order too roughly
        assert [one[0] for one in found] == [one[0] for one in expected(1)]


class Evil:
    def __reduce__(self) -> tuple[object, tuple[str]]:
        return print, ("run by a pickle",)


def test_a_pickle_that_would_run_code_is_refused(sphere: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (sphere / "0" / "meta.pkl").write_bytes(pickle.dumps([Evil()]))
    with pytest.raises(
        BadInputError, match=r"meta\.pkl: The file cannot be read: it has the instruction (STACK_)?GLOBAL"
    ):
        list(read_documents(sphere / "0"))
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize("protocol", [3, 4, 5])
def test_entries_are_read_as_pickle_reads_them(sphere: Path, protocol: int) -> None:
    long = "a long text " * 30_000
    rows = [
        ("a", "text", "title"),
        ("b", "text", "title", 2**40, -1, 0.5, None, True),
        ("c", long, ""),
        ("d",),
        [7, "x"],
    ]
    (sphere / "0" / "meta.pkl").write_bytes(pickle.dumps(rows + rows[:1] * 3000, protocol=protocol))
    found = list(read_documents(sphere / "0"))
    assert [docid for docid, _ in found] == ["a", "b", "c", "d", "7", *["a"] * 3000]
    assert [text for _, text in found[:5]] == ["title text", "title text", long, "", "x"]


@pytest.mark.parametrize(
    ("content", "said"),
    [(b"", "cannot be read"), (pickle.dumps({"a": 1}), "EMPTY_DICT"), (pickle.dumps(("a",)), "Expected a list, got tuple"),
     (pickle.dumps([("a",), ()]), "Entry 1 has no document id"), (pickle.dumps([None]), "Entry 0 has no document id")],
)  # fmt: skip
def test_entries_that_are_none_are_reported(sphere: Path, content: bytes, said: str) -> None:
    (sphere / "0" / "meta.pkl").write_bytes(content)
    with pytest.raises(BadInputError, match=said):
        list(read_documents(sphere / "0"))


def test_parts_that_are_missing_are_reported(sphere: Path, tmp_path: Path) -> None:
    assert [p.name for p in partition_folders(sphere)] == ["0", "1", "2"]
    (sphere / "1").rename(sphere / "3")
    with pytest.raises(BadInputError, match="Partition 1 is missing"):
        partition_folders(sphere)
    with pytest.raises(BadInputError, match="no FAISS index"):
        partition_folders(tmp_path / "nothing")
    (sphere / "3").rename(sphere / "1")
    (sphere / "2" / "meta.pkl").unlink()
    with pytest.raises(BadInputError, match=r"meta\.pkl is missing"):
        partition_folders(sphere)
    with pytest.raises(BadInputError, match="requires the encoder"):
        parse_pipeline(f"faiss({sphere})")
    pipeline = parse_pipeline(f"faiss({sphere},encoder=table)")
    with pytest.raises(BadInputError, match="corpus of passages only"):
        search_passages(InMemoryPassages(passages_of(["p"])), pipeline, ["q0"], 1)
