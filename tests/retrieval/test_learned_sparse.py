"""Learned sparse retrieval, against a matrix product."""

from pathlib import Path
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from berdseye.data.records import Ranking
from berdseye.retrieval.learned_sparse import Sparse, SparseIndexer
from berdseye.retrieval.passage_collections import InMemoryPassages
from berdseye.retrieval.protocol import Query
from tests.retrieval.made_encoders import TableSparseEncoder, passages_of, rows

TERMS = 5
# Halves, whose products float32 holds exactly; most weights are 0, and a model may give some below.
WEIGHTS = st.lists(st.sampled_from([0, 0, 0, 0.5, 1.5, -1, 2]), min_size=TERMS, max_size=TERMS)


def ranked(passages: list[list[float]], queries: list[list[float]], k: int) -> list[Ranking]:
    encoder = TableSparseEncoder(rows("p", passages) | rows("q", queries))
    with patch("berdseye.retrieval.learned_sparse.open_sparse_encoder", lambda _: encoder), patch("os.fsync"):
        collection = InMemoryPassages(passages_of([f"p{n}" for n in range(len(passages))]))
        return Sparse("table").rank(collection, [Query(f"q{n}") for n in range(len(queries))], k)


@settings(max_examples=40, deadline=None)
@given(st.lists(WEIGHTS, max_size=12), st.lists(WEIGHTS, min_size=1, max_size=4), st.integers(1, 13))
def test_scores_are_inner_products(passages: list[list[float]], queries: list[list[float]], k: int) -> None:
    for query, found in zip(queries, ranked(passages, queries, k), strict=True):
        scores = {n: float(np.dot(p, query)) for n, p in enumerate(passages) if np.multiply(p, query).any()}
        expected = sorted(scores.items(), key=lambda item: (item[1], item[0]), reverse=True)[:k]
        assert list(zip(found.ids.tolist(), found.scores.tolist(), strict=True)) == expected


def test_passages_that_share_no_term_are_not_found() -> None:
    (found,) = ranked([[1, 0, 0, 0, 0], [0, 1, 0, 0, 0]], [[0, 0, 0, 0, 1]], 5)
    assert found.ids.tolist() == []


def built(folder: Path, block: int, batches: list[list[str]], encoder: TableSparseEncoder) -> dict[str, bytes]:
    folder.mkdir()
    with (
        patch("berdseye.retrieval.learned_sparse._BLOCK_WEIGHTS", block),
        patch("berdseye.retrieval.lexical.writing._STRETCH", max(block, 3)),
        patch("berdseye.retrieval.learned_sparse.open_sparse_encoder", lambda _: encoder),
    ):
        SparseIndexer("table").build([passages_of(texts) for texts in batches], folder)
    return {p.name: p.read_bytes() for p in folder.iterdir()}


def test_blocks_are_merged_into_the_same_index(tmp_path: Path) -> None:
    """Terms are kept by number: with more than ten, the order of their texts is not that of their digits."""
    rng = np.random.default_rng(0)
    weights = rng.normal(size=(40, 300)) * (rng.random((40, 300)) < 0.1)
    weights[7] = 0
    encoder = TableSparseEncoder(rows("p", weights))
    texts = [f"p{n}" for n in range(40)]
    whole = built(tmp_path / "whole", 10**9, [texts], encoder)
    for size in (1, 3, 40):
        batches = [texts[start : start + size] for start in range(0, 40, size)]
        assert built(tmp_path / f"pieces{size}", 20, batches, encoder) == whole


@pytest.mark.parametrize("batches", [[], [[]]])
def test_no_passages(tmp_path: Path, batches: list[list[str]]) -> None:
    encoder = TableSparseEncoder(rows("q", [[1.0, 0.0]]))
    built(tmp_path / "empty", 10, batches, encoder)
    index = SparseIndexer("table").load(tmp_path / "empty")
    assert index.count == 0
    assert [r.ids.tolist() for r in index.search([{"00000000": 1.0}, {}], 3)] == [[], []]
