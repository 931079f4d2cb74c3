"""Reranking by a cross-encoder."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from berdseye.data.errors import BadInputError
from berdseye.data.records import Passage, Scores
from berdseye.retrieval.encoders.encoder_registry import open_cross_encoder
from berdseye.retrieval.passage_collections import InMemoryPassages
from berdseye.retrieval.pipeline import search_passages
from berdseye.retrieval.pipeline_registry import parse_pipeline
from berdseye.retrieval.protocol import Query
from berdseye.retrieval.rerank.cross_encoder import CrossEncoded
from tests.retrieval.encoders import tiny_models
from tests.retrieval.made_encoders import TableCrossEncoder, passages_of


def test_passages_come_in_the_order_of_its_scores(monkeypatch: pytest.MonkeyPatch) -> None:
    """Equal ones with the later first; pads stay where they are, and scores are the model's, be they below zero."""
    monkeypatch.setattr("berdseye.retrieval.rerank.cross_encoder.open_cross_encoder", lambda _: TableCrossEncoder())
    passages = InMemoryPassages(passages_of(["1", "-3", "1", "7.5", "-3"]))
    ids = np.array([[0, 1, 2, 3, 4], [1, 4, -1, -1, -1], [-1] * 5])
    out_ids, out_scores = CrossEncoded("table").apply(passages, [Query("q")] * 3, ids, np.zeros((3, 5), np.float32))
    assert out_ids.tolist() == [[3, 2, 0, 4, 1], [4, 1, -1, -1, -1], [-1] * 5]
    assert out_scores.tolist() == [[7.5, 1, 1, -3, -3], [-3, -3, 0, 0, 0], [0] * 5]


def test_passages_that_are_cut_are_reported_once(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("berdseye.retrieval.rerank.cross_encoder.open_cross_encoder", lambda _: TableCrossEncoder())
    passages, zeros = InMemoryPassages(passages_of(["1", "100", "-3"])), np.zeros((2, 3), np.float32)
    CrossEncoded("table").apply(passages, [Query("q")] * 2, np.array([[0, 1, 2], [1, -1, -1]]), zeros)
    said = "2 of 4 pairs of a query and a passage have a text that is too long for crossencoder(table) and was cut."
    assert [record.getMessage() for record in caplog.records] == [said]
    caplog.clear()
    CrossEncoded("table").apply(passages, [Query("q")] * 2, np.array([[0, 2, -1], [2, -1, -1]]), zeros)
    assert caplog.records == []


def test_a_real_model_cuts_from_the_first_token_too_many(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BERDSEYE_DEVICE", "cpu")
    encoder: Any = open_cross_encoder(str(tiny_models.classifying_bert(tmp_path / "mine")))
    room = encoder.length - 3 - 4  # three special tokens, and four of the query
    lengths = (room, room + 1, 100 * room)
    passages = [Passage(n, str(n), "", "cars " * length) for n, length in enumerate(lengths)]
    assert encoder.cut("are cars banned?", passages).tolist() == [False, True, True]
    scores = encoder.score("are cars banned?", passages)
    assert scores[1] == pytest.approx(scores[0], abs=1e-6), "what is cut makes no difference"
    assert encoder.cut("are cars banned?", []).shape == (0,)
    open_cross_encoder.cache_clear()


def test_a_score_that_is_no_number_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("berdseye.retrieval.rerank.cross_encoder.open_cross_encoder", lambda _: TableCrossEncoder())
    stage, ids = CrossEncoded("table"), np.array([[0, 1]])
    with pytest.raises(BadInputError, match="is NaN"):
        stage.apply(InMemoryPassages(passages_of(["1", "nan"])), [Query("q")], ids, np.zeros((1, 2), np.float32))


def test_a_real_model_reads_query_title_and_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A tiny BERT of random weights, behind the pipeline and by itself."""
    folder = tiny_models.classifying_bert(tmp_path / "mine")
    monkeypatch.setenv("BERDSEYE_DEVICE", "cpu")
    passages = [Passage(n, str(n), "zoo" if n % 2 else "", f"cars {text}") for n, text in
                enumerate(["and trams", "for cities", "banned", "the school"])]  # fmt: skip
    encoder = open_cross_encoder(str(folder))
    expected: Scores = encoder.score("are cars banned?", passages)
    pipeline = parse_pipeline(f"bm25 >> crossencoder({folder})")
    ids, scores = search_passages(InMemoryPassages(passages), pipeline, ["are cars banned?"], 4)
    assert ids[0].tolist() == np.argsort(-expected).tolist()
    assert np.allclose(scores[0], np.sort(expected)[::-1], atol=1e-6)
    assert str(pipeline) == f"bm25 >> crossencoder({folder})"
    open_cross_encoder.cache_clear()
