"""Maximal marginal relevance."""

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from berdseye.data.errors import BadInputError
from berdseye.data.records import Ids, Passage, Scores
from berdseye.data.workspace import Workspace
from berdseye.retrieval.encoders.protocol import Vectors
from berdseye.retrieval.passage_collections import InMemoryPassages
from berdseye.retrieval.pipeline import search, search_passages
from berdseye.retrieval.pipeline_registry import parse_pipeline
from berdseye.retrieval.protocol import Query
from berdseye.retrieval.rerank.mmr import MMR
from tests.retrieval.corpus_files import CITY, corpus_of
from tests.retrieval.made_encoders import TableEncoder, passages_of, rows, use_encoder

ONE = [Query("q")]


def apply(
    stage: MMR, count: int, ids: Sequence[Sequence[int]], scores: Sequence[Sequence[float]]
) -> tuple[Ids, Scores]:
    """The stage over the passages p0, p1, …"""
    passages = InMemoryPassages(passages_of([f"p{n}" for n in range(count)]))
    return stage.apply(passages, ONE * len(ids), np.array(ids, np.int64), np.array(scores, np.float32))


def naive(
    relevance: Sequence[float], vectors: Sequence[Sequence[float]], weight: float
) -> tuple[list[int], list[float]]:
    """Carbonell and Goldstein's definition, one passage at a time."""

    def cosine(one: Sequence[float], other: Sequence[float]) -> float:
        lengths = float(np.linalg.norm(one) * np.linalg.norm(other))
        return float(np.dot(one, other)) / lengths if lengths else 0.0

    order: list[int] = []
    values: list[float] = []
    while len(order) < len(relevance):
        left = {
            n: weight * relevance[n] - (1 - weight) * max((cosine(vectors[n], vectors[o]) for o in order), default=0.0)
            for n in range(len(relevance))
            if n not in order
        }
        best = max(left, key=lambda n: (round(left[n], 6), -n))
        order.append(best)
        values.append(left[best])
    return order, values


# Eighths and axes, so that sums are exact and equal values abound.
RELEVANCE = st.lists(st.integers(1, 8).map(lambda n: n / 8), min_size=1, max_size=9).map(
    lambda v: sorted(v, reverse=True)
)
AXES = st.sampled_from([(1.0, 0.0), (0.0, 1.0), (-1.0, 0.0), (0.0, -3.0), (0.0, 0.0)])


@settings(max_examples=80, deadline=None)
@given(RELEVANCE, st.data(), st.sampled_from([0.0, 0.25, 0.5, 0.75, 1.0]))
def test_the_order_is_that_of_the_definition(relevance: list[float], data: st.DataObject, weight: float) -> None:
    vectors = data.draw(st.lists(AXES, min_size=len(relevance), max_size=len(relevance)))
    relevance = [r / relevance[0] for r in relevance]
    with pytest.MonkeyPatch.context() as patch:
        use_encoder(patch, TableEncoder(rows("p", vectors), "dot"))
        ids, scores = apply(MMR(weight), len(relevance), [list(range(len(relevance)))], [relevance])
    order, values = naive(relevance, vectors, weight)
    assert ids[0].tolist() == order
    assert scores[0].tolist() == pytest.approx(values, abs=1e-5)


def test_a_weight_of_one_leaves_the_ranking(workspace: Workspace) -> None:
    corpus = corpus_of(workspace, CITY)
    plain = search(corpus, parse_pipeline("dense(static)"), ["cars", "elephants"], 4)[0]
    weighted = search(corpus, parse_pipeline("dense(static) >> mmr(1)"), ["cars", "elephants"], 4)[0]
    assert np.array_equal(plain, weighted)


def test_three_passages_by_hand(monkeypatch: pytest.MonkeyPatch) -> None:
    """Weight 0.5; relevance 2, 1.8 and 1 over 2; cosines 0 and 1: 0.8, 0 and 2: 0, 1 and 2: 0.6.

    First 0.5 * 1 = 0.5 (0). Then 1: 0.5 * 0.9 - 0.5 * 0.8 = 0.05, and 2: 0.5 * 0.5 - 0 = 0.25 (2). Last 1: 0.05.
    """
    use_encoder(monkeypatch, TableEncoder(rows("p", [[1.0, 0.0], [0.8, 0.6], [0.0, 1.0]])))
    ids, scores = apply(MMR(0.5), 3, [[0, 1, 2, -1], [-1, -1, -1, -1]], [[2.0, 1.8, 1.0, 0.0], [0.0] * 4])
    assert ids.tolist() == [[0, 2, 1, -1], [-1, -1, -1, -1]]
    assert np.allclose(scores[0], [0.5, 0.25, 0.05, 0.0])


def test_relevance_is_relative_to_the_query_or_as_in_the_paper_to_all_queries(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two queries with the largest scores 4 and 1. Weight 0.8; the cosine of 0 and 1 is 1, of both and 2 is 0.

    Of the second query, 1 scores 0.8 * 0.9 / 1 - 0.2 = 0.52 and 2 scores 0.8 * 0.6 / 1 = 0.48: 1 comes first. Divided by 4, 1
    scores 0.18 - 0.2 = -0.02 and 2 scores 0.12: 2 comes first.
    """
    use_encoder(monkeypatch, TableEncoder(rows("p", [[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]])))
    both = [[0, 1, 2]] * 2, [[4.0, 3.6, 2.4], [1.0, 0.9, 0.6]]
    ids, scores = apply(MMR(0.8), 3, *both)
    assert ids.tolist() == [[0, 1, 2]] * 2
    assert np.allclose(scores, [[0.8, 0.52, 0.48]] * 2)
    ids, scores = apply(MMR(0.8, variant="paper"), 3, *both)
    assert ids.tolist() == [[0, 1, 2], [0, 2, 1]]
    assert np.allclose(scores, [[0.8, 0.52, 0.48], [0.2, 0.12, -0.02]])


def test_a_question_alone_and_a_run_have_one_order(workspace: Workspace) -> None:
    corpus, pipeline = corpus_of(workspace, CITY), parse_pipeline("bm25 >> mmr(0.5)")
    questions = ["cars", "elephants walk", "cars and trams in streets"]
    together = search(corpus, pipeline, questions, 4)
    for row, question in enumerate(questions):
        ids, scores = search(corpus, pipeline, [question], 4)
        assert ids[0].tolist() == together[0][row].tolist()
        assert scores[0].tolist() == pytest.approx(together[1][row].tolist())


def test_runs_that_were_divided_in_another_way_are_outdated() -> None:
    released, paper = (
        parse_pipeline(f"bm25 >> mmr(0.5{variant})") for variant in (",variant=released", ",variant=paper")
    )
    assert (str(released), str(paper)) == ("bm25 >> mmr(0.5)", "bm25 >> mmr(0.5,variant=paper)")
    assert set(released.versions) - set(paper.versions) == {"mmr"}


def test_a_duplicate_goes_to_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    use_encoder(monkeypatch, TableEncoder(rows("p", [[1, 0], [1, 0], [0.1, 0.995]])))
    assert apply(MMR(0.6), 3, [[0, 1, 2]], [[1.0, 0.99, 0.5]])[0].tolist() == [[0, 2, 1]]


@pytest.mark.parametrize("scores", [[-1.0, -2.0, -4.0], [0.0, 0.0, 0.0]])
def test_scores_below_zero_are_taken_as_they_are(scores: list[float], monkeypatch: pytest.MonkeyPatch) -> None:
    """As those of query likelihood and of euclidean distances are: there is nothing to divide them by."""
    use_encoder(monkeypatch, TableEncoder(rows("p", np.eye(3))))
    ids, values = apply(MMR(0.5), 3, [[0, 1, 2]], [scores])
    assert ids.tolist() == [[0, 1, 2]]
    assert values[0].tolist() == pytest.approx([0.5 * s for s in scores])


def test_titles_do_not_make_passages_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of one document all passages have the same title; what is compared are the texts."""
    seen: list[str] = []

    class Listening(TableEncoder):
        def encode_passages(self, passages: Sequence[Passage]) -> Vectors:
            seen.extend(p.title for p in passages)
            return super().encode_passages(passages)

    use_encoder(monkeypatch, Listening(rows("p", np.eye(2))))
    titled = InMemoryPassages([p._replace(title="One title") for p in passages_of(["p0", "p1"])])
    MMR(0.5).apply(titled, ONE, np.array([[0, 1]]), np.array([[1.0, 0.5]], np.float32))
    assert seen == ["", ""]


def test_the_embedder_is_the_one_that_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """To one embedder p0 and p1 are alike, to the other p0 and p2."""
    near = {"one": rows("p", [[1, 0], [1, 0], [0, 1]]), "other": rows("p", [[1, 0], [0, 1], [1, 0]])}
    monkeypatch.setattr("berdseye.retrieval.rerank.mmr.open_encoder", lambda name: TableEncoder(near[name]))
    for embedder, order in (("one", [0, 2, 1]), ("other", [0, 1, 2])):
        stage = parse_pipeline(f"bm25 >> mmr(0.5,embedder={embedder})").stages[0]
        assert isinstance(stage, MMR)
        assert apply(stage, 3, [[0, 1, 2]], [[1.0, 0.9, 0.8]])[0].tolist() == [order]


def test_an_embedder_of_any_similarity_is_compared_by_cosine(monkeypatch: pytest.MonkeyPatch) -> None:
    """A long vector is no more alike than a short one."""
    use_encoder(monkeypatch, TableEncoder(rows("p", [[1, 0], [0.1, 0], [90, 100]]), "dot"))
    assert apply(MMR(0.5), 3, [[0, 1, 2]], [[1.0, 0.9, 0.8]])[0].tolist() == [[0, 2, 1]]


def test_only_the_depth_is_reordered() -> None:
    """Two of three passages go on to the stage; the third cannot come back."""
    passages = InMemoryPassages(passages_of(["cars cars cars", "cars cars", "cars trams"]))
    assert search_passages(passages, parse_pipeline("bm25%2 >> mmr(0.1)"), ["cars"], 2)[0].tolist() == [[0, 1]]
    assert search_passages(passages, parse_pipeline("bm25%3 >> mmr(0.1)"), ["cars"], 2)[0].tolist() == [[0, 2]]
    whole = search_passages(passages, parse_pipeline("bm25%2 >> mmr(0.1)"), ["cars"], 5)[0]
    assert sorted(whole[0].tolist()) == [-1, -1, 0, 1, 2], "more are asked for than the depth"


def test_without_a_weight_there_is_nothing_to_do(workspace: Workspace) -> None:
    pipeline = parse_pipeline("bm25 >> mmr(tuned)")
    with pytest.raises(BadInputError, match=r"mmr\(tuned\) has no tuned weight here"):
        search_passages(InMemoryPassages(passages_of(CITY)), pipeline, ["cars"], 2)
    with pytest.raises(
        BadInputError, match=r"No weight was tuned for 'bm25 >> mmr\(tuned\)' on corpus 'c'\. Run `berdseye tune`"
    ):
        search(corpus_of(workspace, CITY), pipeline, ["cars"], 2)
