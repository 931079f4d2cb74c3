"""Chances of a wrong order: hand-worked, exact where few labels are open, and over questions against a closed form."""

import numpy as np
import pytest
from made_lists import lists_of
from scipy.stats import norm

from berdseye.data.errors import BadInputError
from berdseye.evaluation.measures import parse_measures
from berdseye.evaluation.trust.wrong_order import chance_against, wrong_order

PRECISION = parse_measures("Precision@1")[0]


def test_ties_count_half() -> None:
    assert chance_against(1, np.array([1.0, 0.0, -1.0, 2.0])) == (1 + 0.5) / 4
    assert chance_against(-1, np.array([1.0, 0.0, -1.0, 2.0])) == (2 + 0.5) / 4


def test_open_labels_by_hand() -> None:
    # One question, one passage each. Now 1 against 0; P is .7 and .2. Turned: .3 x .2 = .06; level: .7 x .2 + .3 x .8 = .38.
    lists = lists_of([[[0]], [[1]]], [1], np.array([[[1.0], [0.0]]]), np.array([[[0.7], [0.2]]]))
    drawn = lists.drawn(PRECISION, 20_000, seed=1)
    found = wrong_order(lists.values_now(PRECISION), drawn, 0, 1)
    assert found.labels == pytest.approx(0.06 + 0.38 / 2, abs=0.01)
    assert found.questions == 0  # one question, always drawn
    assert drawn.mean(axis=0)[:, 0] == pytest.approx([0.7, 0.2], abs=0.02)


def test_a_label_that_both_systems_share_is_drawn_once() -> None:
    lists = lists_of([[[0]], [[0]]], [1], np.array([[[1.0]]]), np.array([[[0.5]]]))
    drawn = lists.drawn(PRECISION, 200)
    assert np.array_equal(drawn[:, 0], drawn[:, 1])
    assert 0.3 < drawn.mean() < 0.7


def test_over_many_questions_the_bootstrap_is_near_the_normal() -> None:
    random = np.random.default_rng(3)
    now = np.stack([random.normal(0.55, 0.2, 400), random.normal(0.53, 0.2, 400)])
    found = wrong_order(now, now[None], 0, 1, resamples=20_000)
    difference = now[0] - now[1]
    expected = norm.cdf(-abs(difference.mean()) / (difference.std() / np.sqrt(400)))
    assert found.questions == pytest.approx(expected, abs=0.01)
    assert found.labels == 0  # nothing is open


def test_level_systems_have_no_order_and_unjudged_ones_are_an_error() -> None:
    level = np.ones((2, 3))
    assert np.isnan(wrong_order(level, level[None], 0, 1)).all()
    with pytest.raises(BadInputError, match="No question has a value"):
        wrong_order(np.full((2, 3), np.nan), level[None], 0, 1)
