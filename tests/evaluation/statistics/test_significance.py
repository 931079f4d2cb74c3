"""Paired tests: against scipy and statsmodels, how often they cry wolf, and what is missing."""

from collections.abc import Callable
from inspect import signature

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.multitest import multipletests

from berdseye.data.errors import BadInputError, UnknownNameError
from berdseye.evaluation.failures.contrast import contrast, contrasts
from berdseye.evaluation.leaderboard.board import board
from berdseye.evaluation.methods.report import methods_report
from berdseye.evaluation.statistics.significance import TESTS, Test, aligned, compare
from berdseye.evaluation.studies.comparing import comparisons

RANDOM = np.random.default_rng(1)
SMALL = {"a": np.array([1, 1, 1, 0, 1, 1, 0, 1.0]), "b": np.array([0, 1, 0, 0, 0.5, 0, 1, 0.0])}


def test_t_is_that_of_scipy() -> None:
    [found] = compare(SMALL, test="t")
    assert found.p == pytest.approx(stats.ttest_rel(SMALL["a"], SMALL["b"]).pvalue)
    assert found.difference == pytest.approx(3.5 / 8)  # 1 + 0 + 1 + 0 + .5 + 1 - 1 + 1


def test_randomisation_is_that_of_scipy_when_all_signs_are_tried() -> None:
    differences = SMALL["a"] - SMALL["b"]
    exact = stats.permutation_test(
        (differences,),
        lambda x, axis: x.mean(axis=axis),
        permutation_type="samples",
        vectorized=True,
        n_resamples=np.inf,
    ).pvalue
    [found] = compare(SMALL, test="randomisation")
    assert found.p == pytest.approx(exact, rel=1e-12)


def test_few_distinct_differences_are_enumerated_and_many_are_drawn() -> None:
    # 30 wins and 12 losses of one size: the sign test, twice the tail of a binomial. Ties do not count.
    differences = np.array([1.0] * 30 + [-1.0] * 12 + [0.0] * 58)
    [few] = compare({"a": differences, "b": np.zeros(100)})
    assert few.p == pytest.approx(stats.binomtest(30, 42).pvalue, rel=1e-12)
    many = np.random.default_rng(3).normal(0.2, 1.0, 60)
    [drawn] = compare({"a": many, "b": np.zeros(60)})
    assert drawn.p == pytest.approx(stats.ttest_1samp(many, 0).pvalue, abs=0.02)
    assert (drawn.p * 10_000) == pytest.approx(round(drawn.p * 10_000)), (
        "a share of 9,999 drawn signs and the observed ones"
    )


def test_drawn_signs_give_a_pair_the_same_p_whatever_else_is_compared() -> None:
    random = np.random.default_rng(5)
    values = {name: random.normal(share, 1.0, 80) for name, share in zip("abc", (0.0, 0.3, 0.6), strict=True)}
    values["d"] = np.where(np.arange(80) < 20, np.nan, random.normal(0.2, 1.0, 80))
    together = {(c.a, c.b): c.p for c in compare(values, correction="none")}
    alone = {(a, b): compare({a: values[a], b: values[b]}, correction="none")[0].p for a, b in together}
    assert together == alone
    for (a, b), p in together.items():
        assert p == pytest.approx(stats.ttest_rel(values[a], values[b], nan_policy="omit").pvalue, abs=0.02)


@pytest.mark.parametrize("function", [compare, board, comparisons, contrast, contrasts, methods_report])
def test_the_same_test_is_the_default_everywhere(function: Callable[..., object]) -> None:
    """So the letters of *Runs* and the differences of *Compare* and *Studies* agree."""
    assert signature(function).parameters["test"].default == TESTS[0]


@pytest.mark.parametrize("test", TESTS)
def test_equal_systems_are_called_different_as_often_as_promised(test: Test) -> None:
    random = np.random.default_rng(7)
    wolves = 0
    for _ in range(300):
        a, b = random.random((2, 60)) < 0.4
        [found] = compare({"a": a.astype(float), "b": b.astype(float)}, test=test)
        wolves += found.p < 0.05
    # 300 trials at 5%: 15 expected, standard deviation 3.8.
    assert 3 <= wolves <= 30


def test_the_correction_is_that_of_statsmodels() -> None:
    values = {
        name: (RANDOM.random(80) < share).astype(float)
        for name, share in zip("abcd", (0.3, 0.35, 0.5, 0.6), strict=True)
    }
    plain = compare(values, test="t", correction="none")
    assert [c.adjusted for c in plain] == [c.p for c in plain]
    for name in ("holm", "bonferroni", "fdr_bh"):
        found = compare(values, test="t", correction=name)
        np.testing.assert_allclose([c.adjusted for c in found], multipletests([c.p for c in plain], method=name)[1])


@pytest.mark.parametrize("test", TESTS)
def test_questions_that_one_system_lacks_are_left_out_and_counted(test: Test) -> None:
    a = np.array([1, np.nan, 0, 1, 1, 0.0])
    b = np.array([0, 1, 0, np.nan, 1, 0.0])
    [found] = compare({"a": a, "b": b}, test=test)
    assert (found.n, found.left_out, found.difference) == (4, 2, 0.25)


@pytest.mark.parametrize("test", TESTS)
def test_no_difference_at_all_and_too_few_questions(test: Test) -> None:
    ones = np.ones(5)
    [equal] = compare({"a": ones, "b": ones}, test=test)
    assert (equal.difference, equal.p, equal.significant) == (0, 1, False)
    [one] = compare({"a": np.array([1.0]), "b": np.array([0.0])}, test=test)
    assert np.isnan(one.p)
    assert not one.significant


@settings(max_examples=30, deadline=None)
@given(st.lists(st.sampled_from([0.0, 0.2, 0.5, 1.0]), min_size=4, max_size=30), st.sampled_from(TESTS))
def test_the_order_of_questions_does_not_matter(values: list[float], test: Test) -> None:
    a = np.array(values)
    b = a[::-1].copy()
    places = np.random.default_rng(0).permutation(len(a))
    [one] = compare({"a": a, "b": b}, test=test)
    [other] = compare({"a": a[places], "b": b[places]}, test=test)
    assert one.p == pytest.approx(other.p)
    assert 0 < one.p <= 1


def test_what_cannot_be_compared_is_refused() -> None:
    with pytest.raises(UnknownNameError, match="randomisation"):
        compare(SMALL, test="randomization")  # type: ignore[arg-type]
    with pytest.raises(UnknownNameError, match="holm"):
        compare(SMALL, correction="hollm")
    with pytest.raises(BadInputError, match="different questions"):
        compare({"a": np.ones(3), "b": np.ones(4)})


def test_systems_are_aligned_by_question_and_not_by_place() -> None:
    questions, values = aligned({"a": {"q1": 1.0, "q2": 0.0}, "b": {"q2": 0.5, "q3": 1.0}})
    assert questions == ["q1", "q2", "q3"]
    np.testing.assert_equal(values["b"], [np.nan, 0.5, 1.0])
