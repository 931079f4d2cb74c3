"""Dense indexes that are exact, against NumPy."""

from collections.abc import Callable, Sequence

import faiss
import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from berdseye.data.errors import BadInputError
from berdseye.data.models.static_embedding import static_embedding
from berdseye.data.records import Scores
from berdseye.retrieval.dense.index import DenseIndex
from berdseye.retrieval.dense.layouts import METRICS
from berdseye.retrieval.dense.ranker import Dense
from berdseye.retrieval.encoders.protocol import Similarity, Vectors
from berdseye.retrieval.passage_collections import InMemoryPassages
from berdseye.retrieval.pipeline_registry import parse_pipeline
from berdseye.retrieval.protocol import Query
from tests.retrieval.corpus_files import CITY
from tests.retrieval.made_encoders import TableEncoder, passages_of, rows, use_encoder

Matrix = npt.NDArray[np.float64]


def cosine(queries: Matrix, passages: Matrix) -> Matrix:
    lengths = np.linalg.norm(queries, axis=1)[:, None] * np.linalg.norm(passages, axis=1)
    return queries @ passages.T / np.maximum(lengths, 1e-12)


def euclidean(queries: Matrix, passages: Matrix) -> Matrix:
    return -((queries[:, None] - passages[None]) ** 2).sum(axis=2)


EXACT: dict[Similarity, Callable[[Matrix, Matrix], Matrix]] = {
    "dot": lambda queries, passages: queries @ passages.T,
    "cosine": cosine,
    "euclidean": euclidean,
}


def in_order(scores: Sequence[float], k: int) -> list[int]:
    return sorted(range(len(scores)), key=lambda n: (scores[n], n), reverse=True)[:k]


VECTORS = st.lists(st.tuples(*[st.integers(-2, 2)] * 3), min_size=1, max_size=90)


@settings(max_examples=40, deadline=None)
@given(VECTORS, VECTORS, st.integers(1, 95), st.sampled_from(["dot", "euclidean"]))
def test_whole_numbers_are_ranked_exactly(
    passages: list[tuple[int, ...]], queries: list[tuple[int, ...]], k: int, similarity: Similarity
) -> None:
    """Scores of small whole numbers have no rounding, and few values, so that equals abound."""
    vectors = faiss.index_factory(3, "Flat", METRICS[similarity])
    vectors.add(np.array(passages, np.float32))
    found = DenseIndex(vectors, similarity, exact=True).search(np.array(queries, np.float32), k)
    expected = EXACT[similarity](np.array(queries, float), np.array(passages, float))
    for ranking, scores in zip(found, expected.tolist(), strict=True):
        assert ranking.ids.tolist() == in_order(scores, k)
        assert ranking.scores.tolist() == [scores[n] for n in ranking.ids]


@pytest.mark.parametrize("own", ["cosine", "dot", "euclidean"])
@pytest.mark.parametrize("asked", [None, "cosine", "dot", "euclidean"])
def test_every_similarity_of_every_encoder(
    monkeypatch: pytest.MonkeyPatch, own: Similarity, asked: Similarity | None
) -> None:
    rng = np.random.default_rng(0)
    passages, queries = rng.normal(size=(300, 16)), rng.normal(size=(25, 16))
    if own == "cosine":
        passages, queries = (m / np.linalg.norm(m, axis=1, keepdims=True) for m in (passages, queries))
    use_encoder(monkeypatch, TableEncoder(rows("p", passages) | rows("q", queries), own))
    found = Dense("table", similarity=asked).rank(
        InMemoryPassages(passages_of([f"p{n}" for n in range(300)])), [Query(f"q{n}") for n in range(25)], 20
    )
    for ranking, scores in zip(found, EXACT[asked or own](queries, passages), strict=True):
        assert np.allclose(ranking.scores, np.sort(scores)[::-1][:20], atol=1e-5)
        assert np.allclose(scores[ranking.ids], ranking.scores, atol=1e-5)


@pytest.mark.parametrize("count", [1, 25])
def test_equals_come_with_the_later_first_whatever_the_order(count: int) -> None:
    """As many copies of each vector as the search asks for beyond k, and more; FAISS changes its method at 20 queries."""
    rng = np.random.default_rng(1)
    distinct = rng.normal(size=(7, 64)).astype(np.float32)
    queries = rng.normal(size=(count, 64)).astype(np.float32)
    copies = np.arange(700) % 7
    for numbers in (copies, copies[::-1], np.sort(copies)):
        vectors = faiss.index_factory(64, "Flat", faiss.METRIC_INNER_PRODUCT)
        vectors.add(np.ascontiguousarray(distinct[numbers]))
        index = DenseIndex(vectors, "dot", exact=True)
        for k in (1, 5, 99, 101, 350):
            for query, ranking in zip(queries, index.search(queries, k), strict=True):
                products = (distinct @ query)[numbers].tolist()
                assert ranking.ids.tolist() == in_order(products, k)


def test_the_static_encoder_against_a_matrix_product() -> None:
    encoder = static_embedding()
    words = ("car", "tram", "zoo", "tree", "school", "river", "music")
    texts = [f"{one} {other}" for one in words for other in words]
    queries = ["a tram by the river", "music at school", "zoo"]
    products: Scores = encoder.encode(queries) @ encoder.encode(texts).T
    found = Dense().rank(InMemoryPassages(passages_of(texts)), [Query(q) for q in queries], 10)
    for ranking, scores in zip(found, products, strict=True):
        assert np.allclose(ranking.scores, np.sort(scores)[::-1][:10], atol=1e-6)
        assert np.allclose(scores[ranking.ids], ranking.scores, atol=1e-6)


def test_all_passages_are_candidates_and_no_more() -> None:
    (found,) = Dense().rank(InMemoryPassages(passages_of(CITY)), [Query("anything")], 50)
    assert sorted(found.ids.tolist()) == list(range(len(CITY)))
    assert Dense().rank(InMemoryPassages([]), [Query("anything")], 5)[0].ids.tolist() == []


def test_texts_without_words_score_nothing() -> None:
    (found,) = Dense().rank(InMemoryPassages(passages_of(["", "tram", "", "\ud800"])), [Query("tram")], 4)
    assert found.ids.tolist()[0] == 1
    assert found.scores[0] == pytest.approx(1.0)
    words = Dense().rank(InMemoryPassages(passages_of(["tram", "", "zoo", ""])), [Query("")], 4)
    assert words[0].ids.tolist() == [3, 2, 1, 0]
    assert words[0].scores.tolist() == [0, 0, 0, 0]


@pytest.mark.parametrize("similarity", ["cosine", "dot", "euclidean"])
def test_a_vector_of_zeros(monkeypatch: pytest.MonkeyPatch, similarity: Similarity) -> None:
    use_encoder(monkeypatch, TableEncoder({"zero": [0, 0], "one": [0, 2], "q": [0, 2]}, "dot"))
    collection = InMemoryPassages(passages_of(["zero", "one", "zero"]))
    some, none = Dense("table", similarity=similarity).rank(collection, [Query("q"), Query("zero")], 3)
    assert some.ids.tolist() == [1, 2, 0]
    assert none.ids.tolist() == ([2, 0, 1] if similarity == "euclidean" else [2, 1, 0])


@pytest.mark.parametrize("layout", ["flat", "sq8"])
@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_vectors_that_are_not_finite_are_an_error(monkeypatch: pytest.MonkeyPatch, layout: str, bad: float) -> None:
    """FAISS would leave them out without a word."""
    use_encoder(monkeypatch, TableEncoder({"good": [0, 1], "bad": [0, bad]}, "dot"))
    dense = Dense("table", layout)
    with pytest.raises(BadInputError, match="not finite"):
        dense.rank(InMemoryPassages(passages_of(["good", "bad"])), [Query("good")], 2)
    with pytest.raises(BadInputError, match="not finite"):
        dense.rank(InMemoryPassages(passages_of(["good", "good"])), [Query("bad")], 2)


def test_vectors_of_another_length_are_reported() -> None:
    vectors = faiss.index_factory(3, "Flat", faiss.METRIC_INNER_PRODUCT)
    vectors.add(np.eye(3, dtype=np.float32))
    with pytest.raises(BadInputError, match=r"dimension 3, but the encoder returns 4\. Build the index again"):
        DenseIndex(vectors, "dot", exact=True).search(np.ones((1, 4), np.float32), 2)


def test_questions_asked_together_and_alone_score_alike() -> None:
    collection, queries = (
        InMemoryPassages(passages_of(CITY * 9)),
        [Query(f"{text} {n}") for n in range(7) for text in CITY],
    )
    together = Dense().rank(collection, queries, 54)
    for query, ranking in zip(queries, together, strict=True):
        (alone,) = Dense().rank(collection, [query], 54)
        assert np.allclose(alone.scores, ranking.scores, atol=1e-6)
        assert alone.ids.tolist() == ranking.ids.tolist()


class Instructed(TableEncoder):
    """Looks up instruction and text together."""

    def encode_instructed(self, texts: Sequence[str], instructions: Sequence[str]) -> Vectors:
        return self.encode_queries([f"{i}|{t}" for i, t in zip(instructions, texts, strict=True)])


def test_the_perspective_of_a_query_is_its_instruction(monkeypatch: pytest.MonkeyPatch) -> None:
    """As PIR searches with INSTRUCTOR: the root is the text, and both sides of it find other passages."""
    table = rows("p", np.eye(3)) | {"for|zoos": [1.0, 0, 0], "against|zoos": [0, 1.0, 0], "|zoos": [0, 0, 1.0]}
    use_encoder(monkeypatch, Instructed(table, "dot"))
    pipeline = parse_pipeline("dense(table,instruction=perspective)")
    assert str(pipeline) == "dense(table,instruction=perspective)"
    queries = [
        Query("for zoos", "zoos", "for"),
        Query("against zoos", "zoos", "against"),
        Query("zoos", "zoos"),
        Query("zoos"),
    ]
    passages = InMemoryPassages(passages_of(["p0", "p1", "p2"]))
    found = pipeline.ranker.rank(passages, queries, 1)
    assert [ranking.ids.tolist() for ranking in found] == [[0], [1], [2], [2]]
    use_encoder(monkeypatch, TableEncoder(table, "dot"))
    with pytest.raises(BadInputError, match="reads no instructions"):
        pipeline.ranker.rank(passages, queries, 1)
    with pytest.raises(BadInputError, match="must not be its instruction"):
        parse_pipeline("dense(table,instruction=perspective) >> pap")
