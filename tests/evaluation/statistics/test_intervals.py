"""Intervals: against statsmodels and published formulas, and how often they hold what they promise."""

from math import isnan, nan, sqrt

import numpy as np
import pytest
from statsmodels.stats.proportion import proportion_confint

from berdseye.evaluation.statistics.intervals import Estimate, mean_of_means, mean_with_interval


@pytest.mark.parametrize(("hits", "n"), [(0, 2), (0, 30), (3, 10), (30, 30), (150, 300)])
def test_values_of_zero_and_one_get_wilsons_interval(hits: int, n: int) -> None:
    found = mean_with_interval(np.array([1.0] * hits + [0.0] * (n - hits)))
    assert (found.low, found.high) == pytest.approx(proportion_confint(hits, n, method="wilson"))
    # The formula itself (Wilson, 1927) with z = 1.959964.
    z, p = 1.959964, hits / n
    middle, half = p + z * z / (2 * n), z * sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    expected = ((middle - half) / (1 + z * z / n), (middle + half) / (1 + z * z / n))
    assert (found.low, found.high) == pytest.approx(expected, abs=1e-6)
    assert (found.value, found.n) == (pytest.approx(p), n)


def test_values_that_are_no_numbers_are_left_out() -> None:
    assert mean_with_interval(np.array([1.0, nan, 0.0, nan])) == mean_with_interval(np.array([1.0, 0.0]))


def test_one_question_gives_no_interval_and_none_gives_nothing() -> None:
    one = mean_with_interval(np.array([0.4, nan]))
    assert (one.value, one.n) == (0.4, 1)
    assert isnan(one.low)
    assert isnan(one.high)
    for empty in (np.array([]), np.array([nan, nan])):
        none = mean_with_interval(empty)
        assert none.n == 0
        assert all(map(isnan, none[:3]))


def test_the_bootstrap_is_repeatable_and_holds_the_mean() -> None:
    values = np.array([0.2, 0.4, 0.4, 0.6, 1.0, 0.0, 0.8])
    found = mean_with_interval(values)
    assert found == mean_with_interval(values)
    assert found == pytest.approx(mean_with_interval(values[::-1]))
    assert found.value == pytest.approx(values.mean())
    assert found.low < found.value < found.high
    assert mean_with_interval(values, seed=1).low == pytest.approx(found.low, abs=0.05)
    wide, narrow = (mean_with_interval(values, confidence=c) for c in (0.99, 0.8))
    assert wide.high - wide.low > found.high - found.low > narrow.high - narrow.low


def test_equal_values_have_an_interval_with_a_width() -> None:
    # With 0 and 1 added to five times .4: mean 3/7, variance (5 * (.4 - 3/7)^2 + (3/7)^2 + (4/7)^2) / 6 = .08571; Student's
    # quantile of 6 degrees is 2.44691, so that half the width is 2.44691 * sqrt(.08571 / 7) = .27077.
    equal = mean_with_interval(np.full(5, 0.4))
    assert (equal.low, equal.high) == pytest.approx((3 / 7 - 0.27077, 3 / 7 + 0.27077), abs=1e-5)
    many = mean_with_interval(np.full(500, 0.4))
    assert 0.005 < many.high - many.low < 0.02
    ones = mean_with_interval(np.full(4, 3.0), bounds=None)
    assert isnan(ones.low), "nothing is known of how far values without bounds may be off"


COVERED = {
    "k/5, p = .05": (lambda r, size: r.binomial(5, 0.05, size) / 5, 0.05),
    "k/5, p = .3": (lambda r, size: r.binomial(5, 0.3, size) / 5, 0.3),
    "k/5, p = .95": (lambda r, size: r.binomial(5, 0.95, size) / 5, 0.95),
    "U-shaped": (lambda r, size: r.beta(0.5, 0.5, size), 0.5),
    "uniform": (lambda r, size: r.random(size), 0.5),
    "rare": (lambda r, size: 0.4 * (r.random(size) < 0.1), 0.04),
    "0 and 1": (lambda r, size: (r.random(size) < 0.5).astype(float), 0.5),
}


@pytest.mark.parametrize("n", [2, 3, 5, 8, 10, 15])
@pytest.mark.parametrize("name", COVERED)
def test_few_values_are_covered_as_often_as_promised_and_never_without_a_width(name: str, n: int) -> None:
    draw, truth = COVERED[name]
    found = [mean_with_interval(row) for row in draw(np.random.default_rng(n), (400, n))]
    assert np.mean([e.low <= truth <= e.high for e in found]) >= 0.9
    assert all(e.low < e.high for e in found)
    assert all(e.low <= e.value <= e.high for e in found)


def test_the_bootstrap_is_as_wide_as_the_standard_error_says() -> None:
    values = np.random.default_rng(0).choice([0.0, 0.2, 0.4, 0.6, 0.8, 1.0], size=400)
    found = mean_with_interval(values)
    half = 1.96 * values.std() / sqrt(400)
    assert found.low == pytest.approx(values.mean() - half, abs=0.1 * half)
    assert found.high == pytest.approx(values.mean() + half, abs=0.1 * half)


def test_the_bootstrap_covers_the_truth_about_as_often_as_it_says() -> None:
    # 300 samples of 60 draws of k/5; the true mean is 5 * 0.3 / 5. Three standard deviations of a share of .95: .038.
    draws = np.random.default_rng(1).binomial(5, 0.3, size=(300, 60)) / 5
    held = [found.low <= 0.3 <= found.high for found in map(mean_with_interval, draws)]
    assert 0.91 <= np.mean(held) <= 0.99


def test_the_mean_of_means_by_hand() -> None:
    # Value (.2 + .4 + .6) / 3; below: sqrt(.1^2 + .2^2 + .2^2) / 3 = .1; above: sqrt(.2^2 + .1^2 + .2^2) / 3 = .1.
    found = mean_of_means([Estimate(0.2, 0.1, 0.4, 10), Estimate(0.4, 0.2, 0.5, 20), Estimate(0.6, 0.4, 0.8, 30)])
    assert found == pytest.approx((0.4, 0.3, 0.5, 60))


def test_the_mean_of_one_mean_is_itself_and_one_without_interval_has_none() -> None:
    one = Estimate(0.2, 0.1, 0.4, 10)
    assert mean_of_means([one]) == pytest.approx(one)
    mixed = mean_of_means([one, Estimate(0.6, nan, nan, 1)])
    assert mixed.value == pytest.approx(0.4)
    assert isnan(mixed.low)
    assert mixed.n == 11


def test_the_mean_of_means_is_the_interval_of_normal_means() -> None:
    # For symmetric intervals the method is the normal one: the half-widths' root sum of squares over their number.
    found = mean_of_means([Estimate(0.5, 0.4, 0.6, 1), Estimate(0.5, 0.4, 0.6, 1)])
    assert (found.low, found.high) == pytest.approx((0.5 - sqrt(0.02) / 2, 0.5 + sqrt(0.02) / 2))
