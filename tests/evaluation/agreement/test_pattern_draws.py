"""Intervals of Fleiss' kappa and Krippendorff's alpha from label patterns: prior, coverage, and where there are none."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from berdseye.data.statistics import FEWEST_UNITS, NO_INTERVAL
from berdseye.evaluation.agreement import coefficients
from berdseye.evaluation.agreement.alignment import aligned
from berdseye.evaluation.agreement.coefficients import patterns
from berdseye.evaluation.agreement.kappa import cohen_kappa
from berdseye.evaluation.agreement.pattern_draws import pattern_interval
from berdseye.evaluation.agreement.together import together
from tests.annotation.made_pairs import long_form

THREE = np.array([[3, 0], [2, 1], [1, 2], [0, 3]])


def test_two_raters_have_nearly_the_interval_of_cohens_kappa() -> None:
    # Both raters give each label equally often here, so that both kappas, and their posteriors, are nearly equal.
    _, low, high = cohen_kappa(np.array([[[20.0, 5.0], [5.0, 70.0]]]))
    counts, times = np.array([[2, 0], [1, 1], [0, 2]]), np.array([20.0, 10.0, 70.0])
    value = float(coefficients.fleiss(counts, times))
    ends = pattern_interval(counts, times, coefficients.fleiss, value, draws=20_000)
    assert ends == pytest.approx((low[0], high[0]), abs=0.02)


def test_a_closed_form_of_the_posterior() -> None:
    # Raw agreement of two raters and two labels is the share of the patterns in which they agree. With 6 items of agreement and
    # 2 of the other kind, the prior makes it Beta(6 + 1, 2 + 1/2).
    from scipy.stats import beta

    counts, times = np.array([[2, 0], [1, 1], [0, 2]]), np.array([2.0, 2.0, 4.0])
    ends = pattern_interval(counts, times, coefficients.raw, 0.75, draws=200_000)
    assert ends == pytest.approx(beta(7, 2.5).ppf([0.025, 0.975]), abs=0.003)


def test_coverage_where_positives_are_rare() -> None:
    # 5% positive, three raters, kappa .4: with probability .4 all give one label. The bootstrap of 2,000 samples of 30 items
    # contains .4 in 72% of the samples with an interval.
    chances = 0.6 * np.array([0.05**3, 3 * 0.05**2 * 0.95, 3 * 0.05 * 0.95**2, 0.95**3])
    chances += 0.4 * np.array([0.05, 0, 0, 0.95])
    drawn = np.random.default_rng(1).multinomial(30, chances, size=2000)
    tables, often = np.unique(drawn, axis=0, return_counts=True)
    held = known = 0
    for table, count in zip(tables.astype(float), often.tolist(), strict=True):
        value = float(coefficients.fleiss(THREE, table))
        low, high = pattern_interval(THREE, table, coefficients.fleiss, value)
        known += count * (low == low)
        held += count * (low <= 0.4 <= high)
    assert 0.92 < held / known < 0.99


def test_raters_who_always_agree_have_an_interval_below_one() -> None:
    low, high = pattern_interval(THREE[[0, 3]], np.array([3.0, 27.0]), coefficients.fleiss, 1.0)
    assert high == 1
    assert 0.3 < low < 0.95


def test_the_table_names_the_method_and_says_where_there_is_none() -> None:
    labels = [aligned(long_form(*("xxyyxyxxyy"[:n], "xyyyxxxxyx"[:n], "xxyyxyxxyx"[:n]))) for n in (10, 4)]
    rows, few = ({row.statistic: row for row in together(side)} for side in labels)
    for name in ("Fleiss' kappa", "Krippendorff's alpha"):
        assert (
            rows[name].interval == "quantiles of a Dirichlet posterior distribution of the label patterns (4,000 draws)"
        )
        assert rows[name].low < rows[name].value < rows[name].high
        assert few[name].n == 4 < FEWEST_UNITS
        assert (few[name].interval, np.isnan(few[name].low)) == (NO_INTERVAL, True)
    whole = {row.statistic: row for row in together(labels[0], questions=np.arange(10) // 2)}
    assert "bootstrap over questions" in whole["Fleiss' kappa"].interval


@settings(deadline=None, max_examples=50)
@given(st.lists(st.lists(st.integers(0, 4), min_size=3, max_size=3), min_size=5, max_size=30), st.integers(2, 3))
def test_intervals_are_within_the_bounds_and_about_the_value(rows: list[list[int]], factor: int) -> None:
    counts = np.array([row for row in rows if sum(row) > 1], dtype=np.int64).reshape(-1, 3)
    if len(counts) < FEWEST_UNITS:
        return
    found = patterns(counts)
    times = found.times.astype(float)
    value = float(coefficients.alpha(found.counts, times))
    low, high = pattern_interval(found.counts, times, coefficients.alpha, value, draws=400)
    if np.isnan(value):
        assert np.isnan(low)
        return
    assert -1 <= low <= value <= high <= 1
    many = pattern_interval(
        found.counts, 100.0**factor * times, coefficients.raw, coefficients.raw(found.counts, times).item()
    )
    assert many[1] - many[0] < 0.15
