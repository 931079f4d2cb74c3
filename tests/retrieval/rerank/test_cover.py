"""Reranking for coverage, against every set there is."""

from collections.abc import Sequence
from itertools import combinations, pairwise
from math import e
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from berdseye.data.errors import BadInputError
from berdseye.data.records import Pair, Perspective, Question, Scores
from berdseye.data.workspace import Workspace
from berdseye.retrieval.expansion.manual import ManualPerspectives
from berdseye.retrieval.passage_collections import InMemoryPassages
from berdseye.retrieval.pipeline import search_passages
from berdseye.retrieval.pipeline_registry import parse_pipeline
from berdseye.retrieval.protocol import PipelineContext, Query, query_of
from berdseye.retrieval.rerank.cover import Cover, choose
from tests.retrieval.made_encoders import passages_of

PROBABILITY = st.integers(0, 8).map(lambda n: n / 8)
PASSAGES, PERSPECTIVES = st.integers(1, 6), st.integers(1, 3)


def drawn(data: st.DataObject, passages: int, perspectives: int) -> Scores:
    row = st.lists(PROBABILITY, min_size=perspectives, max_size=perspectives)
    return np.array(data.draw(st.lists(row, min_size=passages, max_size=passages)), np.float32)


def worth(chosen: Sequence[int], supports: Scores, relevance: Scores, weight: float) -> float:
    """Expected share of perspectives that a set covers, and the relevance of its members."""
    missing = np.prod(1 - supports[list(chosen)].astype(float), axis=0)
    return weight * float(np.mean(1 - missing)) + (1 - weight) * float(relevance[list(chosen)].sum())


@settings(max_examples=80, deadline=None)
@given(st.data(), PASSAGES, PERSPECTIVES, st.sampled_from([0.0, 0.3, 0.5, 1.0]))
def test_every_prefix_is_nearly_the_best_set(
    data: st.DataObject, passages: int, perspectives: int, weight: float
) -> None:
    """At least 1 - 1/e of the best of its size (Nemhauser, Wolsey and Fisher, 1978)."""
    supports = drawn(data, passages, perspectives)
    relevance = drawn(data, passages, 1)[:, 0]
    order, gains = choose(supports, relevance, weight)
    assert sorted(order) == list(range(passages))
    for k in range(1, passages + 1):
        reached = worth(order[:k], supports, relevance, weight)
        best = max(worth(s, supports, relevance, weight) for s in combinations(range(passages), k))
        assert reached >= (1 - 1 / e) * best - 1e-6
        assert sum(gains[:k]) == pytest.approx(reached, abs=1e-5), "gains add up to what the set is worth"
    assert all(one >= other - 1e-6 for one, other in pairwise(gains)), "gains never rise"


@settings(max_examples=80, deadline=None)
@given(st.data(), PASSAGES, PERSPECTIVES)
def test_each_choice_gains_the_most(data: st.DataObject, passages: int, perspectives: int) -> None:
    supports, relevance = drawn(data, passages, perspectives), np.zeros(passages, np.float32)
    order, _ = choose(supports, relevance, 1.0)
    for k, chosen in enumerate(order):
        left = [n for n in range(passages) if n not in order[:k]]
        gains = {n: round(worth([*order[:k], n], supports, relevance, 1.0), 9) for n in left}
        assert chosen == max(gains, key=lambda n: (gains[n], -n)), "of equals the earlier comes first"


@settings(max_examples=60, deadline=None)
@given(st.data(), PASSAGES, st.sampled_from([0.0, 0.5]))
def test_where_nothing_overlaps_the_greedy_set_is_the_best(data: st.DataObject, passages: int, weight: float) -> None:
    """Each passage supports a perspective of its own, so that what a set is worth is a sum: the objective is modular."""
    supports = np.diag(drawn(data, passages, 1)[:, 0])
    relevance = drawn(data, passages, 1)[:, 0]
    order, _ = choose(supports, relevance, weight)
    for k in range(1, passages + 1):
        best = max(worth(s, supports, relevance, weight) for s in combinations(range(passages), k))
        assert worth(order[:k], supports, relevance, weight) == pytest.approx(best, abs=1e-6)


TEXTS = ["cars cars cars cars: yes", "cars cars cars: yes", "cars cars: no", "cars", "trams: no"]
SAYS = {"yes": "Yes, they are.", "no": "No, they are not."}
QUESTION = Question("q", "d", "cars", (Perspective(SAYS["yes"], "supporting"), Perspective(SAYS["no"], "opposing")))


def says(detector: str, pairs: Sequence[Pair]) -> Scores:
    """A detector that reads the last word of a passage."""
    assert detector in ("embedded", "similarity(static)")
    return np.array([float(p.perspective == SAYS.get(p.passage.rpartition(" ")[2], "")) for p in pairs], np.float32)


def reranked(pipeline: str, query: Query, around: PipelineContext, k: int = 4) -> tuple[list[int], list[float]]:
    found = search_passages(InMemoryPassages(passages_of(TEXTS)), parse_pipeline(pipeline, around), [query], k)
    return found[0][0].tolist(), found[1][0].tolist()


def test_both_sides_come_first() -> None:
    """By BM25 the longest runs of "cars" come first; the last passage lacks the word and cannot come in."""
    around = PipelineContext(None, says)
    plain, _ = reranked("bm25(b=0)", query_of(QUESTION), around)
    assert plain == [0, 1, 2, 3]
    assert reranked("bm25(b=0) >> cover(embedded)", query_of(QUESTION), around) == ([0, 2, 1, 3], [0.5, 0.5, 0.0, 0.0])
    assert reranked("bm25(b=0) >> cover(similarity(static))", query_of(QUESTION), around)[0] == [0, 2, 1, 3]


def test_the_weight_is_that_of_coverage() -> None:
    around = PipelineContext(None, says)
    for weight, order in ((0, [0, 1, 2, 3]), (0.2, [0, 1, 2, 3]), (0.9, [0, 2, 1, 3])):
        assert reranked(f"bm25(b=0) >> cover(embedded,weight={weight})", query_of(QUESTION), around)[0] == order


def test_what_is_missing_is_reported(workspace: Workspace) -> None:
    with pytest.raises(BadInputError, match="requires detectors, which are not available here"):
        reranked("bm25 >> cover(embedded)", query_of(QUESTION), PipelineContext())
    with pytest.raises(BadInputError, match=r"'cars' has no perspectives to cover.*cover\(embedded,perspectives=llm\)"):
        reranked("bm25 >> cover(embedded)", Query("cars"), PipelineContext(None, says))
    with pytest.raises(BadInputError, match="requires a workspace"):
        parse_pipeline("bm25 >> cover(embedded,perspectives=typed)", PipelineContext(None, says))
    with pytest.raises(BadInputError, match="questions have no perspectives here"):
        reranked("bm25 >> cover(embedded,perspectives=manual)", Query("cars"), PipelineContext(workspace, says))


def test_perspectives_of_a_source_take_the_place_of_the_question_s(workspace: Workspace, tmp_path: Path) -> None:
    """The gold ones would put a passage of the other side second."""
    around = PipelineContext(workspace, says)
    ManualPerspectives(workspace).put("cars", [SAYS["no"]])
    assert reranked("bm25(b=0) >> cover(embedded,perspectives=manual)", query_of(QUESTION), around)[0] == [2, 0, 1, 3]
    (tmp_path / "p.jsonl").write_text('{"question": "cars", "perspectives": ["Yes, they are.", "No, they are not."]}\n')
    from_file = f"bm25(b=0) >> cover(embedded,perspectives={tmp_path / 'p.jsonl'})"
    assert reranked(from_file, Query("cars"), around)[0] == [0, 2, 1, 3]


def test_pairs_of_all_questions_are_asked_at_once() -> None:
    asked: list[int] = []

    def counting(detector: str, pairs: Sequence[Pair]) -> Scores:
        asked.append(len(pairs))
        return says(detector, pairs)

    one, two = query_of(QUESTION), Query("trams", perspectives=(SAYS["no"],))
    nothing = Query("xylophone", perspectives=(SAYS["no"],))
    pipeline = parse_pipeline("bm25(b=0) >> cover(embedded)", PipelineContext(None, counting))
    ids, _ = search_passages(InMemoryPassages(passages_of(TEXTS)), pipeline, [one, nothing, two], 3)
    assert ids.tolist() == [[0, 2, 1], [-1, -1, -1], [4, -1, -1]]
    assert asked == [4 * 2 + 0 + 1 * 1]


def test_a_question_that_nothing_was_generated_for_keeps_its_ranking() -> None:
    class Nothing:
        name = version = "nothing"

        def perspectives(self, questions: Sequence[str], *_: object) -> list[tuple[str, ...]]:
            return [() if q == "cars" else (SAYS["no"],) for q in questions]

    stage = Cover("embedded", source=Nothing(), label_function=says)
    ids, scores = np.array([[0, 1, 2], [0, 1, 2]]), np.array([[3, 2, 1]] * 2, np.float32)
    out_ids, out_scores = stage.apply(
        InMemoryPassages(passages_of(TEXTS)), [Query("cars"), Query("other")], ids, scores
    )
    assert out_ids.tolist() == [[0, 1, 2], [2, 0, 1]]
    assert out_scores[0].tolist() == [3, 2, 1]
