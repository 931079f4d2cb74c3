"""From documents' own ids to passages."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import berdseye.retrieval.document_ids as docids_module
from berdseye.data.corpora.corpus import SCHEMA, part_path, write_part
from berdseye.data.errors import BadInputError
from berdseye.data.workspace import Workspace
from berdseye.retrieval.document_ids import DocidIndexer, Docids
from berdseye.retrieval.passage_collections import StoredCorpus
from tests.retrieval.lucene.lucene_indexes import corpus_of_rows


def built(folder: Path, docids: list[str], part: int) -> Docids:
    """The table of a corpus whose passages come from these documents, `part` passages a file."""
    for first in range(0, len(docids), part):
        ids = docids[first : first + part]
        columns = [list(range(first, first + len(ids))), ids, *[[""] * len(ids)] * 3]
        write_part(part_path(folder, first), pa.table(columns, schema=SCHEMA))
    indexer = DocidIndexer(folder)
    indexer.build([], folder)
    return indexer.load(folder)


@settings(max_examples=20, deadline=None)
@given(
    held=st.lists(st.text(max_size=12), unique=True, min_size=1, max_size=60),
    asked=st.lists(st.text(max_size=12), max_size=20),
)
def test_each_document_is_found_and_no_other(
    held: list[str], asked: list[str], tmp_path_factory: pytest.TempPathFactory
) -> None:
    held = list(dict.fromkeys(docids_module.clean(d) for d in held))
    asked = [docids_module.clean(d) for d in asked]
    found = built(tmp_path_factory.mktemp("corpus"), held, part=25)
    assert found.passages(held[::-1]).tolist() == list(range(len(held)))[::-1]
    assert found.passages(asked).tolist() == [held.index(d) if d in held else -1 for d in asked]
    assert found.passages([]).dtype == np.int64


def test_sorting_part_by_part_gives_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names = [f"doc {n}" for n in range(5000)]
    whole = built(tmp_path / "whole", names, part=5000)
    monkeypatch.setattr(docids_module, "_BLOCK", 700)
    parts = built(tmp_path / "parts", names, part=900)
    for name in ("keys.npy", "passages.npy"):
        assert np.array_equal(np.load(tmp_path / "whole" / name), np.load(tmp_path / "parts" / name))
    assert np.array_equal(whole.passages(names), parts.passages(names))
    assert sorted(p.name for p in (tmp_path / "parts").glob("*")) == ["keys.npy", "passages", "passages.npy"]


def test_two_passages_of_one_id_are_reported(tmp_path: Path) -> None:
    with pytest.raises(BadInputError, match="Passages 1 and 2 have the same document id"):
        built(tmp_path, ["a", "b", "b"], part=3)


def test_a_corpus_keeps_its_table_and_cleans_ids_alike(workspace: Workspace) -> None:
    rows = [{"id": f"Q{n}\x00 ", "text": f"passage {n}"} for n in range(3)]
    corpus = corpus_of_rows(workspace, rows)
    assert [p.source_id for p in corpus.passages([0, 1])] == ["Q0", "Q1"]
    docids = StoredCorpus(corpus).index(DocidIndexer(corpus.folder))
    assert docids.passages(["Q2\x00 ", "Q1", "Q3"]).tolist() == [2, 1, -1]
    assert (corpus.folder / "indexes" / "docids" / "keys.npy").stat().st_size == 128 + 3 * 8
