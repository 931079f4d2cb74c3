"""`dense(ENCODER) >> pap` and its kind over passages."""

from collections.abc import Sequence

import numpy as np
import pytest

from berdseye.data.errors import BadInputError
from berdseye.data.workspace import Workspace
from berdseye.retrieval.dense.layouts import LAYOUTS
from berdseye.retrieval.dense.ranker import Dense
from berdseye.retrieval.encoders.known_models import DENSE
from berdseye.retrieval.encoders.protocol import Encoder, Similarity, Vectors
from berdseye.retrieval.passage_collections import InMemoryPassages
from berdseye.retrieval.pipeline import search_passages
from berdseye.retrieval.pipeline_registry import parse_pipeline
from berdseye.retrieval.projection.forms import FORMS, ROOTED
from berdseye.retrieval.projection.perspectives import FromData, perspective_source
from berdseye.retrieval.projection.ranker import Projected, usual_lengths
from berdseye.retrieval.protocol import PipelineContext, Query
from tests.data.language_models.scripted import ScriptedModel
from tests.retrieval.made_encoders import TableEncoder, passages_of, rows, use_encoder
from tests.retrieval.projection.naive_forms import NAIVE
from tests.retrieval.projection.naive_forms import Vectors as Four

COUNT, DIMENSION = 120, 12
ASKED = [Query(f"q{n}", root=f"r{n % 3}", perspective=f"p{n % 2}") for n in range(7)]


@pytest.fixture
def vectors() -> dict[str, Vectors]:
    """Of passages, queries, roots and perspectives, with 20 passages twice."""
    rng = np.random.default_rng(0)
    made = {kind: rng.normal(size=(n, DIMENSION)).astype(np.float32) for kind, n in
            (("c", COUNT), ("q", 7), ("r", 3), ("p", 2))}  # fmt: skip
    made["c"][-20:] = made["c"][:20]
    return made


def encoder_of(vectors: dict[str, Vectors], similarity: Similarity = "dot") -> TableEncoder:
    table: dict[str, Sequence[float]] = {}
    for kind, held in vectors.items():
        unit = held / np.linalg.norm(held, axis=1, keepdims=True) if similarity == "cosine" else held
        table |= rows(kind, unit)
    return TableEncoder(table, similarity)


def passages() -> InMemoryPassages:
    return InMemoryPassages(passages_of([f"c{n}" for n in range(COUNT)]))


def expected(form: str, encoder: TableEncoder, query: Query, *, difference: bool = False) -> Vectors:
    """Scores of all passages, one at a time."""
    q, r = encoder.table[query.text], encoder.table[query.root]
    p = q - r if difference else encoder.table[query.perspective]
    made = FORMS[form](q, r, p, 1.0)
    c = np.stack([encoder.table[f"c{n}"] for n in range(COUNT)])
    c = c / np.linalg.norm(c, axis=1, keepdims=True)
    return made.score(c @ made.v, c @ p)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("own", ["dot", "cosine", "euclidean"])
@pytest.mark.parametrize("asked", [None, "euclidean"])
def test_all_passages_are_ranked_by_the_form(
    form: str, own: Similarity, asked: Similarity | None, vectors: dict[str, Vectors], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Passages have length 1 for it, whatever the encoder, or who asks it, compares by."""
    encoder = encoder_of(vectors, own)
    use_encoder(monkeypatch, encoder)
    monkeypatch.setattr("berdseye.retrieval.dense.index._BLOCK", 50)
    found = Projected(Dense("table", similarity=asked), form).rank(passages(), ASKED, COUNT)
    for query, ranking in zip(ASKED, found, strict=True):
        scores = expected(form, encoder, query)
        assert sorted(ranking.ids.tolist()) == list(range(COUNT))
        assert np.allclose(ranking.scores, np.sort(scores)[::-1], atol=1e-5)
        assert np.allclose(scores[ranking.ids], ranking.scores, atol=1e-5)
        places = {passage: place for place, passage in enumerate(ranking.ids.tolist())}
        assert all(places[COUNT - 20 + n] < places[n] for n in range(20)), "twins come with the later first"


class OwnLengths(TableEncoder):
    """Compares by cosine, and scales its vectors to length 1, as SimCSE's encoder does."""

    def encode_queries(self, texts: Sequence[str]) -> Vectors:
        vectors = super().encode_queries(texts)
        return vectors / np.linalg.norm(vectors, axis=1, keepdims=True) if self.similarity == "cosine" else vectors

    def unscaled(self) -> Encoder:
        return TableEncoder({text: row.tolist() for text, row in self.table.items()}, "dot")


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("own", ["cosine", "dot"])
def test_vectors_keep_the_lengths_of_the_model(
    form: str, own: Similarity, vectors: dict[str, Vectors], monkeypatch: pytest.MonkeyPatch
) -> None:
    """As in PIR's notebook, which combines the pooler's output of SimCSE as it is."""
    vectors["c"] *= np.linspace(0.2, 5, COUNT, dtype=np.float32)[:, None]
    vectors["c"][-20:] = vectors["c"][:20]
    raw = encoder_of(vectors, "dot")
    use_encoder(monkeypatch, OwnLengths({text: row.tolist() for text, row in raw.table.items()}, own))
    monkeypatch.setattr("berdseye.retrieval.dense.index._BLOCK", 50)
    pipeline = parse_pipeline(f"dense(table) >> {form}(vectors=raw)")
    assert str(pipeline) == f"dense(table) >> {form}(vectors=raw)"
    for query, ranking in zip(ASKED, pipeline.ranker.rank(passages(), ASKED, COUNT), strict=True):
        rest = [raw.table[text].astype(np.float64) for text in (query.text, query.root, query.perspective)]
        scores = np.array([NAIVE[form](Four(raw.table[f"c{n}"].astype(np.float64), *rest), 1.0) for n in range(COUNT)])
        assert sorted(ranking.ids.tolist()) == list(range(COUNT))
        assert np.allclose(ranking.scores, scores[ranking.ids], atol=1e-5)
        places = {passage: place for place, passage in enumerate(ranking.ids.tolist())}
        assert all(places[COUNT - 20 + n] < places[n] for n in range(20))


def test_only_simcse_keeps_its_lengths_by_default(monkeypatch: pytest.MonkeyPatch) -> None:
    raw = {row.name for row in DENSE if usual_lengths(row.name) == "raw"}
    assert raw == {row.name for row in DENSE if "simcse" in row.name}
    assert usual_lengths("sup-simcse-bert-base-uncased") == "raw"
    named = {
        "dense(sup-simcse-bert-base-uncased) >> add+(vectors=raw)": "dense(sup-simcse-bert-base-uncased) >> add+",
        "dense(sup-simcse-bert-base-uncased) >> add+(vectors=unit)": "dense(sup-simcse-bert-base-uncased) >> add+(vectors=unit)",
        "dense(static) >> cast(2,vectors=unit)": "dense(static) >> cast(2)",
    }
    assert {name: str(parse_pipeline(name)) for name in named} == named
    use_encoder(monkeypatch, TableEncoder({"a": [1.0]}))
    ours, scaled = (parse_pipeline(name).ranker.versions for name in named if "simcse" in name)
    assert (ours.get("vectors"), scaled.get("vectors")) == ("raw", None)


@pytest.mark.parametrize("form", ["pap", "add", "concat+", "tri-sum"])
def test_an_index_finds_what_a_scan_finds(
    form: str, vectors: dict[str, Vectors], monkeypatch: pytest.MonkeyPatch
) -> None:
    use_encoder(monkeypatch, encoder_of(vectors))
    projected, collection = Projected(Dense("table"), form), passages()
    by_index = projected.rank(collection, ASKED, 10)
    monkeypatch.setattr("berdseye.retrieval.projection.forms.Form.linear", False)
    for one, other in zip(by_index, projected.rank(collection, ASKED, 10), strict=True):
        assert one.ids.tolist() == other.ids.tolist()
        assert np.allclose(one.scores, other.scores, atol=1e-6)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_scan_reads_every_layout(layout: str, vectors: dict[str, Vectors], monkeypatch: pytest.MonkeyPatch) -> None:
    encoder = encoder_of(vectors)
    use_encoder(monkeypatch, encoder)
    found = Projected(Dense("table", layout), "pap+").rank(passages(), ASKED, COUNT)
    for query, ranking in zip(ASKED, found, strict=True):
        assert np.allclose(expected("pap+", encoder, query)[ranking.ids], ranking.scores, atol=0.1)


@pytest.mark.parametrize("form", FORMS)
def test_a_difference_is_the_query_without_its_root(
    form: str, vectors: dict[str, Vectors], monkeypatch: pytest.MonkeyPatch
) -> None:
    encoder = encoder_of(vectors)
    use_encoder(monkeypatch, encoder)
    pipeline = parse_pipeline(f"dense(table) >> {form}(perspective=difference)")
    asked = [q._replace(perspective="") for q in ASKED]
    for query, ranking in zip(asked, pipeline.ranker.rank(passages(), asked, COUNT), strict=True):
        scores = expected(form, encoder, query, difference=True)
        assert np.allclose(scores[ranking.ids], ranking.scores, atol=1e-5)


def test_a_weight_of_zero_leaves_the_query(vectors: dict[str, Vectors], monkeypatch: pytest.MonkeyPatch) -> None:
    use_encoder(monkeypatch, encoder_of(vectors))
    for form in ("pap", "pap+", "cast", "cast+"):
        projected = parse_pipeline(f"dense(table) >> {form}(0)").ranker.rank(passages(), ASKED, 10)
        plain = Dense("table", similarity="cosine").rank(passages(), ASKED, 10)
        assert [r.ids.tolist() for r in projected] == [r.ids.tolist() for r in plain]


@pytest.mark.parametrize(
    ("pipeline", "query", "missing"),
    [
        ("pap", Query("q", root="r"), "perspective"),
        ("add", Query("q", perspective="p"), "root"),
        ("tri-sum", Query("q", root="r"), "perspective"),
        ("pap(perspective=difference)", Query("q", perspective="p"), "root"),
        ("add(perspective=difference)", Query("q"), "root"),
    ],
)
def test_what_a_query_lacks_is_reported(pipeline: str, query: Query, missing: str) -> None:
    whole = Query("What then?", "r", "p")
    with pytest.raises(BadInputError, match=f"The query 'q' has no {missing}, which this projection requires") as error:
        search_passages(
            InMemoryPassages(passages_of(["one"])), parse_pipeline(f"dense(static) >> {pipeline}"), [whole, query], 1
        )
    assert "\n" not in str(error.value)


def test_each_form_asks_for_what_it_uses() -> None:
    for form in FORMS:
        source = perspective_source(None, None, rooted=form in ROOTED)
        assert isinstance(source, FromData)
        assert source.needs == (("perspective", "root") if form in ROOTED else ("perspective",))


def test_a_language_model_names_the_perspective(
    workspace: Workspace, vectors: dict[str, Vectors], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What it names takes the place of what the data say, and a query without a perspective is an error."""
    encoder = encoder_of(vectors)
    use_encoder(monkeypatch, encoder)
    answers = {"q0": '{"root": "r1", "perspective": "p1"}', "q1": '{"root": "q1", "perspective": ""}'}
    model = ScriptedModel(lambda text: answers[text.partition("<query>\n")[2].partition("\n</query>")[0]])
    monkeypatch.setattr("berdseye.retrieval.projection.perspectives.open_language_model", lambda *_: model)
    pipeline = parse_pipeline("dense(table) >> add(perspective=llm)", PipelineContext(workspace))
    (found,) = pipeline.ranker.rank(passages(), [Query("q0")], COUNT)
    assert np.allclose(expected("add", encoder, Query("q0", "r1", "p1"))[found.ids], found.scores, atol=1e-5)
    with pytest.raises(BadInputError, match="found no perspective in 1 of 2 queries, such as 'q1'"):
        pipeline.ranker.rank(passages(), [Query("q0"), Query("q1")], 5)
