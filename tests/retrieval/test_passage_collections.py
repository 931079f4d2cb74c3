"""Passages that are indexed on the fly."""

import pytest

from berdseye.retrieval.dense.ranker import Dense, DenseIndexer
from berdseye.retrieval.passage_collections import InMemoryPassages
from berdseye.retrieval.pipeline_registry import parse_pipeline
from berdseye.retrieval.protocol import Query
from tests.retrieval.corpus_files import CITY
from tests.retrieval.made_encoders import TableEncoder, passages_of, rows, use_encoder


def test_passages_are_numbered_by_their_place() -> None:
    passages = [p._replace(id=10 * p.id + 7) for p in passages_of(CITY)]
    collection = InMemoryPassages(passages)
    (found,) = parse_pipeline("bm25").ranker.rank(collection, [Query("tortoise")], 3)
    assert found.ids.tolist() == [3]
    assert collection.passages(found.ids.tolist()) == [passages[3]]


def test_an_index_is_built_once_and_none_is_shared(monkeypatch: pytest.MonkeyPatch) -> None:
    encoder = TableEncoder(rows("p", [[1, 0], [0, 1]]))
    use_encoder(monkeypatch, encoder)
    encoded: list[int] = []
    encode = encoder.encode_passages
    monkeypatch.setattr(encoder, "encode_passages", lambda batch: encoded.append(len(batch)) or encode(batch))
    one, other = InMemoryPassages(passages_of(["p0", "p1"])), InMemoryPassages(passages_of(["p1", "p0"]))
    for _ in range(2):
        assert Dense("table").rank(one, [Query("p0")], 1)[0].ids.tolist() == [0]
        assert Dense("table").rank(other, [Query("p0")], 1)[0].ids.tolist() == [1]
    assert encoded == [2, 2]
    assert one.index(DenseIndexer("table")) is one.index(DenseIndexer("table"))
    Dense("table", similarity="euclidean").rank(one, [Query("p0")], 1)
    assert encoded == [2, 2, 2]


def test_each_search_probes_as_many_lists_as_it_says() -> None:
    collection = InMemoryPassages(passages_of(CITY))
    one, many = (collection.index(DenseIndexer("static", "hnsw", probes=n)) for n in (1, 64))
    assert one is not many
