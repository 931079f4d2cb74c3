"""SparseCL, against Hoyer's formula by hand and the order of scores that the authors' code computes."""

from collections.abc import Sequence
from math import sqrt
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from berdseye.data.errors import BadInputError
from berdseye.data.records import Passage
from berdseye.retrieval.encoders.encoder_registry import open_encoder
from berdseye.retrieval.passage_collections import InMemoryPassages
from berdseye.retrieval.pipeline_registry import parse_pipeline
from berdseye.retrieval.protocol import Query
from berdseye.retrieval.rerank.contradiction import Contradicting, contradiction, hoyer
from tests.retrieval.encoders import tiny_models
from tests.retrieval.made_encoders import TableEncoder, passages_of

ROWS = st.lists(st.floats(-9, 9, width=32), min_size=4, max_size=4).filter(lambda row: max(map(abs, row)) > 0.01)


@settings(max_examples=80, deadline=None)
@given(ROWS, st.floats(0.1, 50), st.permutations(range(4)))
def test_hoyer_s_sparsity(row: list[float], factor: float, order: list[int]) -> None:
    """(sqrt(d) - |x|_1 / |x|_2) / (sqrt(d) - 1), which neither lengths nor signs nor the order of numbers change."""
    one, two = sum(map(abs, row)), sqrt(sum(x * x for x in row))
    (found,) = hoyer(np.array([row], np.float32))
    assert found == pytest.approx((2 - one / two) / (2 - 1), abs=1e-4)
    assert 0 <= found <= 1
    changed = np.array([[-row[n] * factor for n in order]], np.float32)
    assert hoyer(changed)[0] == pytest.approx(found, abs=1e-4)


def test_the_sparsest_and_the_least_sparse_vectors() -> None:
    assert hoyer(np.array([[0, -3, 0, 0], [2, -2, 2, 2]], np.float32)).tolist() == [1, 0]


def test_scores_by_hand() -> None:
    """q = (1, 0, 0, 0); c1 - q = (-1, 1, 0, 0) has |x|_1 / |x|_2 = sqrt(2); c2 - q = (-1/2, 1/2, 1/2, 1/2) has 2, sparsity 0."""
    passages = np.array([[0, 1, 0, 0], [0.5, 0.5, 0.5, 0.5], [1, 0, 0, 0]], np.float32)
    scores = contradiction(passages[2], passages, np.array([0.25, 0.5, 1.0], np.float32), 2.0)
    assert scores == pytest.approx([0.25 + 2 * (2 - sqrt(2)), 0.5, -2])


TEXTS = ["alike", "opposite", "copy", "far"]


def encoders(monkeypatch: pytest.MonkeyPatch) -> None:
    """Under the model, `opposite` differs from the query in two numbers, and `alike` in all; the embedder finds both similar."""
    tuned = {
        "q": [1, 1, 1, 1],
        "alike": [1, 3, 2, 0],
        "opposite": [1, 1, 1, -1],
        "copy": [2, 2, 2, 2],
        "far": [-1, 1, 1, 1],
    }
    similar = {"q": [1, 0], "alike": [1, 0.1], "opposite": [1, 0.2], "copy": [1, 0], "far": [0, 1]}
    opened = {"tuned": TableEncoder(tuned, "dot", "7"), "similar": TableEncoder(similar, "dot", "8")}
    monkeypatch.setattr("berdseye.retrieval.rerank.contradiction.open_encoder", opened.__getitem__)


@pytest.mark.parametrize(
    ("alpha", "expected"),
    [(0, ["alike", "opposite", "far", "copy"]), (2, ["opposite", "far", "alike", "copy"])],
)
def test_the_stage_prefers_what_resembles_the_query_but_for_a_few_numbers(
    monkeypatch: pytest.MonkeyPatch, alpha: float, expected: Sequence[str]
) -> None:
    """With alpha = 0 it is the order of cosines, except that a copy of the query contradicts nothing; pads stay."""
    encoders(monkeypatch)
    stage = Contradicting("tuned", alpha, "similar")
    passages = [p._replace(title="a title") for p in passages_of(TEXTS)]
    ids = np.array([[2, 3, 0, 1, -1], [3, 0, -1, -1, -1]])
    out_ids, out_scores = stage.apply(InMemoryPassages(passages), [Query("q")] * 2, ids, np.zeros((2, 5), np.float32))
    assert [TEXTS[n] for n in out_ids[0, :4]] == expected
    assert out_scores[0, 3] == -2
    assert sorted(out_ids[1, :2].tolist()) == [0, 3]
    assert out_ids[1, 2:].tolist() == [-1, -1, -1]
    assert stage.versions == {"tuned": "7", "similar": "8"}


def test_real_models_read_texts_without_titles(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A tiny BERT of random weights behind the pipeline, and the formula over its vectors one pair at a time."""
    monkeypatch.setenv("BERDSEYE_DEVICE", "cpu")
    folder = tiny_models.bert(tmp_path / "tuned")
    texts = ["cars should be banned from cities", "cars should be banned", "trams and cars", "uniforms for cars"]
    passages = [Passage(n, str(n), "zoos", text) for n, text in enumerate(texts)]
    pipeline = parse_pipeline(f"bm25 >> sparsecl({folder},alpha=3)")
    assert str(pipeline) == f"bm25 >> sparsecl({folder},alpha=3)"
    (stage,) = pipeline.stages
    ids = np.array([[0, 1, 2, 3]])
    query = "cars should be banned"
    out_ids, out_scores = stage.apply(InMemoryPassages(passages), [Query(query)], ids, np.zeros((1, 4), np.float32))

    def vector(name: str, text: str) -> list[float]:
        (row,) = open_encoder(name).encode_passages([Passage(0, "", "", text)])
        return (row / np.linalg.norm(row)).astype(np.float64).tolist()

    for place, score in zip(out_ids[0].tolist(), out_scores[0].tolist(), strict=True):
        if texts[place] == query:
            assert score == -2
            continue
        x = np.subtract(vector(str(folder), query), vector(str(folder), texts[place]))
        sparsity = (4 - np.abs(x).sum() / sqrt((x * x).sum())) / 3
        assert score == pytest.approx(
            np.dot(vector("static", query), vector("static", texts[place])) + 3 * sparsity, abs=1e-4
        )
    assert sorted(out_ids[0].tolist()) == [0, 1, 2, 3]
    assert out_ids[0, -1] == 1
    open_encoder.cache_clear()


def test_names() -> None:
    for name in ("bm25 >> sparsecl(m,alpha=1.5)", "colbert(c)%50 >> sparsecl(org/m,alpha=4,embedder=UAE-Large-V1)"):
        assert str(parse_pipeline(name)) == name
    with pytest.raises(BadInputError, match="requires alpha"):
        parse_pipeline("bm25 >> sparsecl(m)")
    with pytest.raises(BadInputError):
        parse_pipeline("bm25 >> sparsecl(m,alpha=-1)")
