"""Base rates estimated from probabilities alone, and from judged pairs."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import expit, logit

from berdseye.detectors.base_rates import (
    Doubles,
    estimated_base_rate,
    move_from_labels,
    moved,
    moved_threshold,
    threshold_of_share,
)


def made_pairs(rate: float, n: int, seed: int = 0) -> tuple[np.ndarray, Doubles]:
    """Labels with this share of support, and calibrated probabilities for a base rate of 20%: scores of the two classes are
    normal, two standard deviations apart, whose log-odds are linear in the score."""
    generator = np.random.default_rng(seed)
    truth = generator.random(n) < rate
    scores = generator.normal(np.where(truth, 1.0, -1.0), 1.0)
    return truth, np.asarray(expit(2 * scores + logit(0.2)), dtype=np.float64)


@pytest.mark.parametrize("rate", [0.03, 0.2, 0.5])
def test_calibrated_probabilities_reveal_the_base_rate(rate: float) -> None:
    _, p = made_pairs(rate, 20_000)
    assert estimated_base_rate(p, 0.2) == pytest.approx(rate, abs=0.015)


def test_moved_probabilities_are_calibrated_for_the_new_rate() -> None:
    truth, p = made_pairs(0.05, 50_000, seed=1)
    by = logit(estimated_base_rate(p, 0.2)) - logit(0.2)
    assert p.mean() > 2 * truth.mean()
    assert moved(p, by).mean() == pytest.approx(truth.mean(), abs=0.005)


def test_no_pairs_change_nothing() -> None:
    assert estimated_base_rate(np.zeros(0), 0.168) == 0.168
    assert move_from_labels(np.zeros(0), np.zeros(0, dtype=bool), 0.7) == pytest.approx(0.7)


def test_many_judged_pairs_find_the_move_and_few_move_little() -> None:
    truth, p = made_pairs(0.05, 20_000, seed=2)
    wanted = logit(0.05) - logit(0.2)
    assert move_from_labels(p, truth) == pytest.approx(wanted, abs=0.1)
    assert abs(move_from_labels(p[:3], truth[:3])) < abs(wanted)
    assert move_from_labels(np.full(30, 0.5), np.zeros(30, dtype=bool)) < -1


@given(st.floats(0.01, 0.99), st.floats(-3, 3), st.floats(0.001, 0.999))
def test_a_moved_threshold_decides_as_moved_probabilities_do(threshold: float, by: float, p: float) -> None:
    at = moved_threshold(threshold, by)
    after = float(moved(np.array([p]), by)[0])
    if abs(after - threshold) > 1e-9:
        assert (p >= at) == (after >= threshold)


@given(st.lists(st.floats(0, 1, width=32), min_size=1, max_size=50), st.floats(0.01, 1))
def test_the_threshold_of_a_share_is_reached_by_it(values: list[float], share: float) -> None:
    p = np.array(values, dtype=np.float32)
    threshold = threshold_of_share(p, share)
    exactly = p.astype(np.float64)  # a threshold next to it may be the same number in single precision
    assert (exactly >= threshold).mean() >= share - 1e-9
    assert (exactly >= threshold + 1e-4 + 1e-9).mean() < share


def test_a_tenth_of_the_pairs_reaches_the_threshold_of_a_tenth() -> None:
    p = np.arange(100) / 100
    assert (p >= threshold_of_share(p, 0.1)).sum() == 10
    assert threshold_of_share(p, 1.0) == 0
