"""Confidence sequences: against the authors' library, and how often they ever miss under continuous looking."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from berdseye.evaluation.statistics.anytime import (
    betting,
    difference,
    empirical_bernstein,
    evidence,
    interval_at_all_times,
)
from berdseye.evaluation.statistics.drawn_sample import DrawnSample

TRIALS = 400


def test_betting_is_that_of_the_authors_library() -> None:
    x = np.random.default_rng(11).beta(2, 5, 200)
    found = betting(x)
    # confseq 0.0.11, confseq.betting.betting_cs(x, breaks=1000), whose package needs a compiler: the figures are recorded.
    for time, low, high in ((9, 0.079, 0.589), (49, 0.206, 0.376), (199, 0.245, 0.318)):
        assert found.low[time] == pytest.approx(low, abs=1e-9)
        assert found.high[time] == pytest.approx(high, abs=1e-9)


def test_empirical_bernstein_is_close_to_the_authors_library() -> None:
    x = np.random.default_rng(11).beta(2, 5, 200)
    found = empirical_bernstein(x)
    # confseq 0.0.11, predmix_empbern_twosided_cs(x, truncation=.5), whose running mean begins at 0, not at 1/2 (the paper).
    for time, low, high, close in ((49, 0.11532929, 0.43290783, 0.005), (199, 0.23442712, 0.33004116, 0.002)):
        assert found.low[time] == pytest.approx(low, abs=close)
        assert found.high[time] == pytest.approx(high, abs=close)


@pytest.mark.parametrize("sequence", [betting, empirical_bernstein])
@pytest.mark.parametrize("share", [0.02, 0.5])
def test_at_most_one_sample_in_twenty_is_ever_missed(sequence: object, share: float) -> None:
    random, missed = np.random.default_rng(0), 0
    for _ in range(TRIALS):
        found = sequence((random.random(150) < share).astype(float))  # type: ignore[operator]
        missed += bool(((found.low > share) | (found.high < share)).any())
    assert missed / TRIALS <= 0.05 + 2 * (0.05 * 0.95 / TRIALS) ** 0.5


def test_the_difference_of_two_runs_lies_between_minus_one_and_one() -> None:
    random = np.random.default_rng(1)
    first, second = (random.random(400) < 0.7).astype(float), (random.random(400) < 0.4).astype(float)
    found = difference(first, second)
    assert found.low[0] >= -1
    assert found.low[-1] > 0, "400 questions show a difference of .3"
    assert found.high[-1] < 0.6
    assert (difference(second, first).high[-1], difference(second, first).low[-1]) == pytest.approx(
        (-found.low[-1], -found.high[-1])
    )


def drawn(values: np.ndarray, detector: np.ndarray, weights: np.ndarray, random: np.random.Generator) -> DrawnSample:
    order = np.argsort(random.exponential(size=len(values)) / weights)
    chances = weights[order] / np.cumsum(weights[order][::-1])[::-1]
    ones = np.ones(len(values))
    return DrawnSample(detector, values, values, values, -ones, ones, order[:-1], chances[:-1])


@pytest.mark.parametrize("detector", ["right", "useless", "against"])
def test_a_wrong_order_is_seldom_ever_shown(detector: str) -> None:
    """Two runs that are nearly equal, the first behind by one unit; a look after every draw."""
    random, wrong = np.random.default_rng(2), 0
    for _ in range(TRIALS):
        values = random.permutation(np.repeat([1.0, -1.0, 0.0], [20, 21, 59]))
        said = {"right": values, "useless": random.choice([-1.0, 0.0, 1.0], 100), "against": np.ones(100)}[detector]
        weights = np.where(said != 0, 1.0, 0.2)
        found = evidence(drawn(values, said, weights, random), weights)
        wrong += found.error(1) <= 0.05
    assert wrong / TRIALS <= 0.025 + 2 * (0.025 * 0.975 / TRIALS) ** 0.5


def test_a_good_detector_makes_the_evidence_stronger() -> None:
    random, stops = np.random.default_rng(3), {True: [], False: []}  # type: ignore[var-annotated]
    for _ in range(60):
        values = random.permutation(np.repeat([1.0, -1.0, 0.0], [90, 30, 180]))
        for good, said in ((True, values), (False, np.zeros(300))):
            found = evidence(drawn(values, said, np.ones(300), random))
            stops[good].append(int(np.argmax(found.above >= np.log(40))))
    assert np.median(stops[True]) < 0.7 * np.median(stops[False])


def test_what_is_open_is_read_against_the_claim() -> None:
    values, random = np.repeat([1.0, 0.0], [60, 40]), np.random.default_rng(4)
    sure = drawn(random.permutation(values), np.zeros(100), np.ones(100), random)
    low = sure.low.copy()
    low[sure.sequence[:60]] = -1
    open_ones = DrawnSample(
        sure.detector, sure.people, low, sure.high, sure.least, sure.most, sure.sequence[:70], sure.chances[:70]
    )
    assert evidence(sure).error(1) < 0.05
    assert evidence(open_ones).error(1) == 1
    assert evidence(sure).sign == 1


def test_an_interval_at_all_times_holds_at_each_of_many_looks() -> None:
    random, missed = np.random.default_rng(5), 0
    for _ in range(TRIALS):
        values = (random.random(120) < 0.3) / 120.0
        said = np.where(random.random(120) < 0.8, values, 1 / 120 - values)
        weights = np.where(random.random(120) < 0.5, 1.0, 0.2)
        sample = drawn(values, said, weights, random)
        sample = replace(sample, least=np.zeros(120), most=np.full(120, 1 / 120))
        ends = [
            interval_at_all_times(
                replace(sample, sequence=sample.sequence[:draws], chances=sample.chances[:draws]), weights
            )
            for draws in (10, 40, 80)
        ]
        assert all(later[0] >= earlier[0] - 1e-3 for earlier, later in pairwise(ends)), (
            "what is ruled out stays ruled out"
        )
        missed += any(not low <= values.sum() <= high for low, high in ends)
    assert missed / TRIALS <= 0.05 + 2 * (0.05 * 0.95 / TRIALS) ** 0.5
    assert ends[-1][1] - ends[-1][0] < 0.5, "80 of 120 labels say something"


def test_an_interval_at_all_times_begins_with_the_bounds_and_ends_with_the_total() -> None:
    values = np.array([0.25, 0.0, 0.25, 0.0])
    whole = DrawnSample(
        values, values, values, values, np.zeros(4), np.full(4, 0.25), np.arange(4), np.array([0.25, 1 / 3, 0.5, 1.0])
    )
    assert interval_at_all_times(whole) == (0.5, 0.5)
    none = replace(whole, sequence=np.zeros(0, np.int64), chances=np.zeros(0))
    assert interval_at_all_times(none) == (0.0, 1.0)


def test_without_a_draw_there_is_no_evidence() -> None:
    values = np.ones(5)
    none = DrawnSample(values, values, values, values, -values, values, np.zeros(0, np.int64), np.zeros(0))
    assert evidence(none).sign == 0
    assert evidence(none).error(1) == 1
