"""Maximal marginal relevance."""

import numpy as np
import pytest
from corpus_files import CITY, corpus_of

from data.records import Ids, Scores
from data.static_embedding import StaticEmbedding
from data.workspace import Workspace
from retrieval.mmr import MMR, _choose
from retrieval.registry import parse_pipeline
from retrieval.search import search


class ByTable(StaticEmbedding):
    """Gives texts the vectors of a table."""

    def __init__(self, vectors: dict[str, list[float]]) -> None:
        self.vectors = vectors

    def encode(self, texts: object) -> Scores:
        return np.array([self.vectors[t] for t in texts], dtype=np.float32)  # type: ignore[attr-defined]


def test_a_weight_of_one_leaves_the_ranking(workspace: Workspace) -> None:
    corpus = corpus_of(workspace, CITY)
    plain = search(corpus, parse_pipeline("dense(static)"), ["cars", "elephants"], 4)[0]
    weighted = search(corpus, parse_pipeline("dense(static) >> mmr(1)"), ["cars", "elephants"], 4)[0]
    assert np.array_equal(plain, weighted)


def test_three_passages_by_hand(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    """Weight 0.5; relevance 2, 1.8 and 1 over 2; cosines 0 and 1: 0.8, 0 and 2: 0, 1 and 2: 0.6.

    First 0.5 * 1 = 0.5 (0). Then 1: 0.5 * 0.9 - 0.5 * 0.8 = 0.05, and 2: 0.5 * 0.5 - 0 = 0.25 (2). Last 1: 0.05.
    """
    corpus = corpus_of(workspace, ["zero", "one", "two"])
    table = ByTable({"zero": [1.0, 0.0], "one": [0.8, 0.6], "two": [0.0, 1.0]})
    monkeypatch.setattr("retrieval.mmr.static_embedding", lambda: table)
    ids: Ids = np.array([[0, 1, 2, -1], [-1, -1, -1, -1]])
    scores: Scores = np.array([[2.0, 1.8, 1.0, 0.0], [0.0, 0.0, 0.0, 0.0]], np.float32)
    out_ids, out_scores = MMR(0.5).apply(corpus, ["q", "none found"], ids, scores)
    assert out_ids.tolist() == [[0, 2, 1, -1], [-1, -1, -1, -1]]
    assert np.allclose(out_scores[0], [0.5, 0.25, 0.05, 0.0])


def test_relevance_is_relative_to_the_whole_batch(workspace: Workspace) -> None:
    corpus = corpus_of(workspace, CITY[:1])
    ids, scores = np.array([[0], [0]]), np.array([[4.0], [1.0]], np.float32)
    assert np.allclose(MMR(0.8).apply(corpus, ["a", "b"], ids, scores)[1], [[0.8], [0.2]])


def test_a_duplicate_goes_to_the_end() -> None:
    relevance = np.array([1.0, 0.99, 0.5], np.float32)
    similarity = np.array([[1.0, 1.0, 0.1], [1.0, 1.0, 0.1], [0.1, 0.1, 1.0]], np.float32)
    assert _choose(relevance, similarity, 0.6)[0] == [0, 2, 1]


def test_passages_that_are_unlike_count_for_their_unlikeness() -> None:
    relevance, similarity = np.zeros(3, np.float32), np.array([[1, 0.5, -0.5], [0.5, 1, 0], [-0.5, 0, 1]], np.float32)
    order, values = _choose(relevance, similarity, 0.0)
    assert order == [0, 2, 1]
    assert values == pytest.approx([0.0, 0.5, -0.5])
