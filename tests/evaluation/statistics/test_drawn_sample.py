"""Totals from labels that were drawn with known probabilities: against the authors' library, by hand, and without bias."""

import numpy as np
import pytest

from berdseye.evaluation.statistics.drawn_sample import DrawnSample, total

UNITS = 400


def sample_of(
    people: np.ndarray, detector: np.ndarray, weights: np.ndarray, draws: int, random: np.random.Generator
) -> DrawnSample:
    order = np.argsort(random.exponential(size=len(people)) / weights)
    left = np.cumsum(weights[order][::-1])[::-1]
    chances = weights[order] / left
    labels = people.astype(np.float64)
    return DrawnSample(
        detector.astype(np.float64),
        labels,
        labels,
        labels,
        np.zeros(len(people)),
        np.ones(len(people)),
        order[:draws],
        chances[:draws],
    )


def test_equal_probabilities_give_the_estimate_of_the_authors_library() -> None:
    random = np.random.default_rng(7)
    people = (random.random(UNITS) < 0.4).astype(float)
    detector = np.where(random.random(UNITS) < 0.8, people, 1 - people)
    order = random.permutation(UNITS)[:60]
    sample = DrawnSample(
        detector, people, people, people, np.zeros(UNITS), np.ones(UNITS), order, 1 / (UNITS - np.arange(60))
    )
    # ppi_mean_pointestimate(people[order], detector[order], detector, lam=...) of ppi-python 0.2.3.
    for weight, mean in ((0.0, 0.51666667), (0.5, 0.46541667), (1.0, 0.41416667)):
        assert total(sample, weight=weight).estimate.value / UNITS == pytest.approx(mean, abs=1e-8)
    tuned = total(sample)
    assert tuned.estimate.value / UNITS == pytest.approx(0.4513428, abs=0.01), "its lambda; ours differs in 1/n"
    assert tuned.effective == pytest.approx(60)
    assert tuned.heaviest == pytest.approx(0.05)


def test_hand_worked() -> None:
    # Units 0 and 1 of three: chances 1/2, then 1/4 among the two left. Labels 1 and 0; the detector says 1, 1, 0.
    labels = np.array([1.0, 0.0, np.nan])
    sample = DrawnSample(
        np.array([1.0, 1.0, 0.0]),
        labels,
        labels,
        labels,
        np.zeros(3),
        np.ones(3),
        np.array([0, 1]),
        np.array([0.5, 0.25]),
    )
    # lambda 1: Z_1 = 2 + (1 - 1) / .5 = 2; Z_2 = 1 + 1 + (0 - 1) / .25 = -2; weights 1/6 and 1/2, that is 1/4 and 3/4.
    assert total(sample, weight=1.0).estimate.value == pytest.approx(-1.0)
    # lambda 0: Z_1 = 1 / .5 = 2; Z_2 = 1 + 0.
    assert total(sample, weight=0.0).estimate.value == pytest.approx(0.25 * 2 + 0.75 * 1)


@pytest.mark.parametrize("weight", [0.0, 0.6, 1.0])
def test_there_is_no_bias_however_uneven_the_draws(weight: float) -> None:
    random = np.random.default_rng(1)
    people = random.random(30)
    detector = random.random(30)
    weights = np.where(people > 0.5, 1.0, 0.2)
    found = [total(sample_of(people, detector, weights, 6, random), weight=weight).estimate.value for _ in range(4_000)]
    assert np.mean(found) == pytest.approx(people.sum(), abs=4 * np.std(found) / np.sqrt(len(found)))
    assert abs(np.mean(people[weights == 1]) * 30 - people.sum()) > 3, "the plain mean of what is drawn would be biased"


@pytest.mark.parametrize("right", [0.9, 0.7, 0.5])
@pytest.mark.parametrize("draws", [50, 200])
def test_intervals_hold_under_uneven_draws(right: float, draws: int) -> None:
    random, held = np.random.default_rng(0), 0
    for _ in range(400):
        people = (random.random(600) < 0.3).astype(float)
        detector = np.where(random.random(600) < right, people, 1 - people)
        weights = np.where(random.random(600) < 0.3, 1.0, 0.3)
        estimate = total(sample_of(people, detector, weights, draws, random)).estimate
        held += estimate.low <= people.sum() <= estimate.high
    assert held / 400 >= 0.92


def test_what_leaves_without_a_draw_counts_as_known_from_then_on() -> None:
    """After the first of two draws from four units, one of the others is labelled elsewhere."""
    random, found = np.random.default_rng(2), []
    people, detector = np.array([1.0, 0.0, 1.0, 1.0]), np.array([0.0, 1.0, 1.0, 0.0])
    for _ in range(4_000):
        sequence = random.permutation(4)[:3]
        sample = DrawnSample(
            detector, people, people, people, np.zeros(4), np.ones(4), sequence, np.array([1 / 4, np.nan, 1 / 2])
        )
        found.append(total(sample, weight=1.0).estimate.value)
    assert np.mean(found) == pytest.approx(3.0, abs=4 * np.std(found) / np.sqrt(len(found)))


def test_everything_known_has_no_width_and_nothing_known_no_value() -> None:
    people = np.array([1.0, 0.0, 1.0])
    sample = sample_of(people, np.zeros(3), np.ones(3), 3, np.random.default_rng(0))
    assert total(sample).estimate[:3] == (2, 2, 2)
    empty = total(sample_of(people, np.zeros(3), np.ones(3), 0, np.random.default_rng(0)))
    assert np.isnan(empty.estimate.value)
    one = total(sample_of(people, np.zeros(3), np.ones(3), 1, np.random.default_rng(0)))
    assert np.isfinite(one.estimate.value)
    assert np.isnan(one.estimate.low)
    assert np.isnan(one.p)


def test_both_readings_of_what_is_not_known_are_covered() -> None:
    random = np.random.default_rng(3)
    people = (random.random(UNITS) < 0.4).astype(float)
    sample = sample_of(people, people, np.ones(UNITS), 50, random)
    low, high = people.copy(), people.copy()
    unsure = sample.sequence[:5]
    low[unsure], high[unsure] = 0, 1
    open_ones = DrawnSample(people, low, low, high, np.zeros(UNITS), np.ones(UNITS), sample.sequence, sample.chances)
    wide, narrow = total(open_ones).estimate, total(sample).estimate
    assert wide.low <= narrow.low
    assert wide.high >= narrow.high
    assert wide.high - wide.low > narrow.high - narrow.low


def test_draws_of_some_units_are_a_sampling_of_these() -> None:
    random, found = np.random.default_rng(4), []
    people, weights = random.random(12), random.uniform(0.2, 1, 12)
    relevant = np.arange(12) < 6
    for _ in range(3_000):
        whole = sample_of(np.where(relevant, people, 0), np.zeros(12), weights, 6, random)
        part = whole.only(relevant, weights)
        assert len(part.detector) == 6
        if part.draws:
            found.append(total(part, weight=0.0).estimate.value)
    assert whole.only(relevant, None) is whole
    assert np.mean(found) == pytest.approx(people[:6].sum(), abs=5 * np.std(found) / np.sqrt(len(found)))


def test_a_hundred_thousand_labels_take_less_than_two_seconds() -> None:
    from time import perf_counter

    random = np.random.default_rng(5)
    people = (random.random(150_000) < 0.3).astype(float)
    sample = sample_of(people, people, random.uniform(0.2, 1, 150_000), 100_000, random)
    began = perf_counter()
    assert np.isfinite(total(sample).estimate.low)
    assert perf_counter() - began < 2
