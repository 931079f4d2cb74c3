"""Depth, union, leaning and sycophancy, worked out by hand."""

from math import inf, nan

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from berdseye.data.errors import BadInputError
from berdseye.data.records import Perspective, Question
from berdseye.evaluation.bias.sides import Leaning, delta, leanings, side_counts, supporting_places
from berdseye.evaluation.labels.support import Support
from berdseye.evaluation.measures import mrecall
from berdseye.evaluation.scores.cover import documents_to_cover, first_ranks, union_coverage

# Four questions: covered by rank 3; covered by rank 1 (one perspective); never covered; without perspectives.
SUPPORT = Support.of([[[1, 0], [0, 0], [0, 1]], [[1], [0], [1]], [[0, 1], [0, 1], [nan, 0]], np.zeros((2, 0))])


def test_first_ranks() -> None:
    np.testing.assert_equal(first_ranks(SUPPORT), [[1, 3], [1, nan], [inf, 1], [nan, nan]])


def test_documents_to_cover() -> None:
    np.testing.assert_equal(documents_to_cover(SUPPORT, 100), [3, 1, nan, nan])
    np.testing.assert_equal(documents_to_cover(SUPPORT, 2), [nan, 1, nan, nan])
    np.testing.assert_equal(documents_to_cover(Support.of([np.zeros((0, 2))]), 5), [nan])
    with pytest.raises(BadInputError, match="got 0"):
        documents_to_cover(SUPPORT, 0)


def test_two_systems_cover_together_what_neither_does_alone() -> None:
    one = Support.of([[[1, 0], [0, 0]], [[0]], np.zeros((1, 0))])
    other = Support.of([[[0, 0], [0, 1]], [[0]], np.zeros((1, 0))])
    np.testing.assert_equal(union_coverage([one], 2), [0, 0, nan])
    np.testing.assert_equal(union_coverage([one, other], 2), [1, 0, nan])
    np.testing.assert_equal(union_coverage([one, other], 1), [0, 0, nan])  # the second system covers at rank 2
    with pytest.raises(BadInputError, match="different questions"):
        union_coverage([one, SUPPORT], 2)
    with pytest.raises(BadInputError, match="at least one system"):
        union_coverage([], 2)


@settings(max_examples=60, deadline=None)
@given(arrays(bool, (6, 5, 3)), arrays(bool, (6, 5, 3)), st.integers(1, 5))
def test_union_and_depth_agree_with_mrecall(one: np.ndarray, other: np.ndarray, k: int) -> None:
    a, b = (Support(x, np.full(6, 3), np.full(6, 5), np.ones_like(x)) for x in (one, other))
    # A depth within k is the same as all perspectives covered by the top k.
    covered = ~np.isnan(documents_to_cover(a, k))
    np.testing.assert_array_equal(covered, a.supports[:, :k].any(axis=1).all(axis=1))
    if k >= 3:
        np.testing.assert_array_equal(covered, mrecall(a, k) == 1)
    assert (union_coverage([a, b], k) >= np.maximum(union_coverage([a], k), union_coverage([b], k))).all()


QUESTIONS = [
    Question("a", "d", "?", (Perspective("no", "opposing"), Perspective("yes", "supporting"))),
    Question("b", "d", "?", (Perspective("yes", "supporting"), Perspective("no", "opposing"))),
    Question("c", "d", "?", (Perspective("yes", "supporting"), Perspective("no"))),
    Question("d", "d", "?", (Perspective("yes", "supporting"),)),
    Question("e", "d", "?", (Perspective("a", "supporting"), Perspective("b", "supporting"))),
]


def test_sides_are_known_where_there_is_one_of_each() -> None:
    assert supporting_places(QUESTIONS).tolist() == [1, 0, -1, -1, -1]


def test_leaning() -> None:
    support = Support.of([[[0, 1], [1, 0]], [[1, 0]], [[1, 1]], [[0]], [[0, 0]]])
    places = np.array([1, 0, -1, -1, 0])
    # Of the first question the top passage speaks for place 1, which is the supporting one.
    assert leanings(support, places, 1) == [Leaning.SUPPORTING, Leaning.SUPPORTING, None, None, Leaning.NEITHER]
    assert leanings(support, places, 2)[0] is Leaning.BOTH
    assert leanings(support, 1 - places.clip(0), 1)[0] is Leaning.OPPOSING


def test_delta_is_one_ratio_over_the_passages_of_all_questions() -> None:
    # Top 3 of the first question hold the supporting side (place 0) twice and the opposing once, of the second the opposing alone
    # twice, of the third (place 1 is the supporting one) each side once; the last has no known sides.
    support = Support.of([[[1, 0], [1, 1], [0, 0]], [[0, 1], [0, 1], [0, 0]], [[1, 0], [0, 1], [0, 0]], [[1, 0]]])
    counts = side_counts(support, np.array([0, 0, 1, -1]), 3)
    np.testing.assert_equal(counts, [[2, 1], [0, 2], [1, 1], [nan, nan]])
    # p = 3 / 9 and n = 4 / 9: Delta = (3 - 4) / 3. The mean of the questions' own ratios, 1/2 and 0, would leave the second out.
    assert delta(counts) == pytest.approx((-1 / 3, nan, nan, 3), nan_ok=True)
    assert delta(counts[1:2]) == pytest.approx((nan, nan, nan, 1), nan_ok=True)
    assert delta(counts[3:]) == pytest.approx((nan, nan, nan, 0), nan_ok=True)
    assert delta(np.array([[3, 0], [0, 0]])).value == 1


def test_the_interval_of_delta_is_that_of_a_ratio() -> None:
    random = np.random.default_rng(4)
    counts = random.binomial(5, (0.4, 0.3), size=(400, 2)).astype(float)
    value, low, high, n = delta(counts)
    assert n == 400
    # The oracle is the delta method for a ratio of means: the deviations of n - (n/p) p, over p.
    ratio = counts[:, 1].sum() / counts[:, 0].sum()
    error = np.std(counts[:, 1] - ratio * counts[:, 0], ddof=1) / counts[:, 0].mean() / np.sqrt(n)
    assert value == pytest.approx(1 - ratio)
    assert (low, high) == pytest.approx((value - 1.96 * error, value + 1.96 * error), abs=0.25 * error)
    rare = np.tile([0.0, 1.0], (40, 1))
    rare[0] = [1, 1]
    assert np.isnan(delta(rare)[1:3]).all(), (
        "a third of the resamples have no supporting passage, so Delta has no lower bound"
    )
