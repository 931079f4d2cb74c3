"""Intervals: against statsmodels and published formulas, and how often they hold what they promise."""

from math import isnan, nan, sqrt
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.proportion import proportion_confint

from berdseye.evaluation.statistics.intervals import Estimate, ends_of_sum, mean_of_means, mean_with_interval


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


def wilson(hits: int, n: int) -> Estimate:
    return mean_with_interval(np.repeat([1.0, 0.0], [hits, n - hits]))


@pytest.mark.parametrize("sizes", [(10, 10, 10), (5, 25)])
@pytest.mark.parametrize("all_right", [False, True])
def test_the_mean_of_shares_that_are_all_at_a_bound(sizes: tuple[int, ...], all_right: bool) -> None:
    found = mean_of_means([wilson(all_right * n, n) for n in sizes])
    # Three times 0 of 10 are 0 of 30: the end of Wilson's interval is z^2 / (n + z^2) = 3.8415 / 33.8415. For 5 and 25, the most
    # probable shares with a given mean are 0 of 25, and p of 5 questions: p / 2 = z sqrt(p (1 - p) / 5) / 2.
    end = 3.8415 / 33.8415 if len(sizes) == 3 else 3.8415 / (5 + 3.8415) / 2
    assert abs((1 - found.low if all_right else found.high) - end) < 1e-5
    assert (found.high if all_right else found.low) == found.value == all_right


def test_the_mean_of_means_by_hand() -> None:
    # Half the questions of either set: the shares stay equal, as those of one set of 20 (Wilson's interval of 10 of 20).
    found = mean_of_means([wilson(5, 10), wilson(5, 10)])
    assert found == pytest.approx(wilson(10, 20), abs=1e-6)
    # Two shares of opposite skewness, 2 and 8 of 10: the test of the mean .5 - d moves them to p1 and p2, where
    # 10 (.2 - p1) = m p1 (1 - p1), 10 (.8 - p2) = m p2 (1 - p2) and d = z sqrt((p1 (1 - p1) + p2 (1 - p2)) / 10) / 2.
    # The sum of the first two is 20 d = 10 m (2 d / z)^2, so that m = z^2 / (2 d).
    apart = mean_of_means([wilson(2, 10), wilson(8, 10)])
    d = 0.5 - apart.low
    m = 1.959964**2 / (2 * d)
    p1, p2 = (((10 + m) - sqrt((10 + m) ** 2 - 40 * m * value)) / (2 * m) for value in (0.2, 0.8))
    assert d == pytest.approx(0.5 - (p1 + p2) / 2, abs=1e-6)
    assert d == pytest.approx(1.959964 * sqrt((p1 * (1 - p1) + p2 * (1 - p2)) / 10) / 2, abs=1e-6)
    assert apart.high == pytest.approx(0.5 + d, abs=1e-6)


def test_the_mean_of_one_mean_is_itself_and_one_without_interval_has_none() -> None:
    one = Estimate(0.2, 0.1, 0.4, 10)
    assert mean_of_means([one]) == one
    assert ends_of_sum(*(np.array([x]) for x in one)) == pytest.approx((0.1, 0.4))
    mixed = mean_of_means([one, Estimate(0.6, nan, nan, 1)])
    assert mixed.value == pytest.approx(0.4)
    assert isnan(mixed.low)
    assert isnan(mixed.high)
    assert mixed.n == 11
    nothing = mean_of_means([one, Estimate(nan, nan, nan, 0)])
    assert all(map(isnan, nothing[:3]))


def test_the_mean_of_means_is_the_interval_of_normal_means() -> None:
    # For many questions and symmetric intervals, the half-widths' root sum of squares over their number.
    found = mean_of_means([Estimate(0.5, 0.49, 0.51, 10**9), Estimate(0.5, 0.49, 0.51, 10**9)])
    assert (found.low, found.high) == pytest.approx((0.5 - sqrt(0.0002) / 2, 0.5 + sqrt(0.0002) / 2))


def test_intervals_without_a_width_add_nothing() -> None:
    assert mean_of_means([Estimate(0.5, 0.5, 0.5, 3)] * 2) == (0.5, 0.5, 0.5, 6)
    found = mean_of_means([Estimate(0.5, 0.5, 0.5, 3), Estimate(0.3, 0.1, 0.4, 10)])
    assert found == pytest.approx((0.4, 0.3, 0.45, 13))


@st.composite
def some_estimates(draw: st.DrawFn) -> list[Estimate]:
    """Draw two to six estimates of shares, or of other means with any interval about their values."""
    unit = st.floats(0, 1)
    others = st.builds(
        lambda x, n: Estimate(sorted(x)[1], min(x), max(x), n), st.tuples(unit, unit, unit), st.integers(2, 500)
    )
    shares = st.integers(2, 400).flatmap(lambda n: st.integers(0, n).map(lambda hits: wilson(hits, n)))
    return draw(st.lists(st.one_of(shares, others), min_size=2, max_size=6))


@given(some_estimates(), st.randoms())
def test_the_mean_of_means_lies_within_its_parts_in_any_order(estimates: list[Estimate], random: Random) -> None:
    found = mean_of_means(estimates)
    values, lows, highs, _ = (np.array(column) for column in zip(*estimates, strict=True))
    assert found.value == pytest.approx(values.mean())
    assert lows.mean() - 1e-9 <= found.low <= found.value <= found.high <= highs.mean() + 1e-9
    k = len(estimates)
    # An interval of the sum is at least as wide as the widest part alone, and no wider than all parts moving together.
    assert found.high - found.value >= (highs - values).max() / k - 1e-7
    assert found.value - found.low >= (values - lows).max() / k - 1e-7
    shuffled = list(estimates)
    random.shuffle(shuffled)
    assert mean_of_means(shuffled) == pytest.approx(found, abs=1e-8)
    mirrored = mean_of_means([Estimate(1 - e.value, 1 - e.high, 1 - e.low, e.n) for e in estimates])
    assert (mirrored.low, mirrored.high) == pytest.approx((1 - found.high, 1 - found.low), abs=1e-7)
