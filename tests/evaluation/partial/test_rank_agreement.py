"""Kendall's tau against scipy, ties too, and the error rates that D-MERIT prints."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import kendalltau

from berdseye.evaluation.partial.rank_agreement import error_rate, kendall_tau, pair_tau, pairs_without, signs

FEW = st.lists(st.integers(0, 4), min_size=2, max_size=9)


@given(FEW, st.integers(0, 10_000))
@settings(max_examples=200, deadline=None)
def test_tau_b_is_scipys(full: list[int], seed: int) -> None:
    partial = np.random.default_rng(seed).integers(0, 4, (3, len(full))).astype(float)
    ours = kendall_tau(partial, np.array(full, dtype=float))
    theirs = [kendalltau(row, full).statistic for row in partial]
    assert ours == pytest.approx(np.array(theirs), nan_ok=True)


@given(st.lists(st.floats(0, 1), min_size=2, max_size=12, unique_by=lambda v: round(v, 12)))
@settings(max_examples=100, deadline=None)
def test_equal_rankings_agree_wholly_and_turned_ones_not_at_all(scores: list[float]) -> None:
    full = np.array(scores)
    for variant in ("a", "b"):
        assert kendall_tau(full**3 + full, full, variant=variant) == pytest.approx(1)  # type: ignore[arg-type]
        assert kendall_tau(-full, full, variant=variant) == pytest.approx(-1)  # type: ignore[arg-type]


def test_tied_pairs_count_as_neither_in_variant_a() -> None:
    # Pairs (1,2) (1,3) (2,3): agree, agree, tied under the partial labels. a: 2/3; b: 2 / sqrt(2 * 3).
    full, partial = np.array([3.0, 2.0, 1.0]), np.array([2.0, 1.0, 1.0])
    assert kendall_tau(partial, full, variant="a") == pytest.approx(2 / 3)
    assert kendall_tau(partial, full) == pytest.approx(2 / np.sqrt(6))
    # Half an error of three pairs.
    assert error_rate(kendall_tau(partial, full, variant="a")) == pytest.approx(100 * 0.5 / 3)


def test_means_that_differ_in_their_last_bits_are_tied() -> None:
    assert signs(np.array([0.1 + 0.2, 0.3])).tolist() == [0]


def test_tau_over_some_pairs() -> None:
    # Systems 1 2 3 in the order 1 > 2 > 3; the partial labels turn (1,2) alone.
    full, partial = np.array([3.0, 2.0, 1.0]), np.array([2.0, 3.0, 1.0])
    assert pair_tau(partial, full, np.array([True, True, True])) == pytest.approx(1 / 3)
    assert pair_tau(partial, full, pairs_without(3, 2)) == -1
    assert pair_tau(partial, full, pairs_without(3, 0)) == 1
    assert np.isnan(pair_tau(partial, full, np.zeros(3, dtype=bool)))


def test_printed_taus_that_fit_no_66_untied_pairs_are_tau_b_with_tied_systems() -> None:
    """.462, .585 and .687 (table 9): agreement over the root of 66 pairs and 66 less the tied ones."""
    for tau in (0.462, 0.585, 0.687):
        assert abs(tau - round(tau * 66) / 66) > 0.0005
    assert round(30 / np.sqrt(66 * 64), 3) == 0.462
    assert round(38 / np.sqrt(66 * 64), 3) == 0.585
    assert round(45 / np.sqrt(66 * 65), 3) == 0.687
