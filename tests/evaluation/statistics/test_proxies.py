"""Combinations of detectors: weights worked out by hand, cross-fitting, and unbiased corrected means."""

from dataclasses import replace
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from berdseye.evaluation.scores.corrected import corrected_mean
from berdseye.evaluation.statistics.drawn_sample import DrawnSample, total
from berdseye.evaluation.statistics.proxies import DetectedSample, proxy_of_mean, proxy_of_total

nan = np.nan


def drawn(people: np.ndarray, detectors: np.ndarray, order: np.ndarray, chances: np.ndarray) -> DetectedSample:
    ones = np.ones(len(people))
    sample = DrawnSample(detectors.mean(axis=0), people, people, people, 0 * ones, ones, order, chances)
    return DetectedSample(sample, detectors, np.arange(len(people)))


def test_a_detector_that_is_right_gets_the_weight() -> None:
    random = np.random.default_rng(0)
    people = (random.random(300) < 0.4).astype(float)
    detectors = np.array([people, random.permutation(people), np.zeros(300)])
    judged = np.where(np.arange(300) < 100, people, nan)
    weights = proxy_of_mean(judged, detectors).weights
    assert weights[0] > 0.9
    assert weights[2] == 0, "a detector that says the same of everything explains nothing"
    assert weights.sum() <= 1


def test_weights_of_a_fold_do_not_depend_on_its_labels() -> None:
    random = np.random.default_rng(1)
    people, detectors = random.random(60), random.random((2, 60))
    people[40:] = nan
    before = proxy_of_mean(people, detectors).values
    for question in (0, 7, 39):
        changed = people.copy()
        changed[question] = 1 - changed[question]
        after = proxy_of_mean(changed, detectors).values
        assert after[question] == before[question]
        assert (after != before).any()


def test_units_of_one_question_are_in_one_fold() -> None:
    """The labels of one question, drawn early and late, do not change the values of any unit of it."""
    random = np.random.default_rng(2)
    people, detectors = random.random(80), random.random((3, 80))
    of_unit = np.repeat(np.arange(20), 4)
    order = random.permutation(80)[:40]
    sample = DrawnSample(
        detectors.mean(axis=0), people, people, people, np.zeros(80), np.ones(80), order, 1 / (80 - np.arange(40.0))
    )
    before = proxy_of_total(sample, detectors, of_unit).values
    question = of_unit[order[0]]
    other = np.where(of_unit == question, 1 - people, people)
    after = proxy_of_total(replace(sample, people=other), detectors, of_unit).values
    np.testing.assert_array_equal(after[of_unit == question], before[of_unit == question])
    assert (after != before).any()


@settings(deadline=None, max_examples=40)
@given(st.integers(0, 10_000), st.integers(2, 40), st.integers(0, 20))
def test_one_detector_is_what_it_was(seed: int, judged: int, others: int) -> None:
    random = np.random.default_rng(seed)
    people = (random.random(judged + others) < 0.5).astype(float)
    detector = np.where(random.random(len(people)) < 0.8, people, 1 - people)
    people[judged:] = nan
    assert corrected_mean(people, detector[None])[:5] == corrected_mean(people, detector)[:5]
    assert proxy_of_mean(people, detector[None]).values is not None
    np.testing.assert_array_equal(proxy_of_mean(people, detector[None]).values, detector)


@settings(deadline=None, max_examples=40)
@given(st.integers(0, 10_000), st.integers(1, 4), st.integers(3, 40))
def test_a_combination_is_within_the_bounds_of_the_detectors(seed: int, count: int, judged: int) -> None:
    random = np.random.default_rng(seed)
    detectors, people = random.random((count, 50)), random.random(50)
    people[judged:] = nan
    found = proxy_of_mean(people, detectors)
    assert (found.values >= 0).all()
    assert (found.values <= detectors.max(axis=0) + 1e-12).all()
    assert (found.weights >= 0).all()
    assert found.weights.sum() <= 1 + 1e-12


def test_two_equal_detectors_are_one() -> None:
    random = np.random.default_rng(3)
    people = (random.random(200) < 0.3).astype(float)
    detector = np.where(random.random(200) < 0.9, people, 1 - people)
    people[80:] = nan
    one, two = corrected_mean(people, detector), corrected_mean(people, np.array([detector, detector]))
    assert two.estimate.value == pytest.approx(one.estimate.value, abs=0.01)
    assert two.weights[0] == pytest.approx(two.weights[1], abs=0.05)
    assert (two.estimate.high - two.estimate.low) < 1.1 * (one.estimate.high - one.estimate.low)


def test_the_estimate_of_every_order_of_a_small_population_has_its_total_as_the_mean() -> None:
    """All 120 orders of 5 units of unequal weights, 3 of them drawn; lambda is 1. The proxy is fitted in each anew."""
    people = np.array([1.0, 0.0, 1.0, 1.0, 0.0])
    detectors = np.array([[1.0, 0.0, 0.0, 1.0, 1.0], [0.0, 0.0, 1.0, 1.0, 0.0]])
    weights, mean, spread = np.array([1.0, 0.4, 0.7, 1.0, 0.2]), 0.0, 0.0
    for order in permutations(range(5)):
        left, chances = weights.sum(), []
        for unit in order:
            chances.append(weights[unit] / left)
            left -= weights[unit]
        sample = drawn(people, detectors, np.array(order[:3]), np.array(chances[:3]))
        value = total(sample.combined()[0], weight=1.0).estimate.value
        mean += np.prod(chances) * value
        spread += np.prod(chances) * abs(value - 3)
    assert abs(mean - 3) < 0.1 * spread
    assert abs(mean - 3) < 0.1


def test_two_detectors_that_err_apart_narrow_the_interval_and_cover() -> None:
    random, held, together, alone = np.random.default_rng(4), 0, [], []
    for _ in range(400):
        truth = (random.random(300) < 0.4).astype(float)
        detectors = np.array([np.where(random.random(300) < 0.85, truth, 1 - truth) for _ in range(3)])
        people = np.where(np.arange(300) < 80, truth, nan)
        both, one = corrected_mean(people, detectors).estimate, corrected_mean(people, detectors[0]).estimate
        held += both.low <= 0.4 <= both.high
        together.append(both.high - both.low)
        alone.append(one.high - one.low)
    assert held / 400 >= 0.93
    assert np.mean(together) < 0.93 * np.mean(alone)
