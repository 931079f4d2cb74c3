"""Pairs of systems by p-value: paired t-tests, what is annotated, partial tau and concordance."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from made_ranks import hand_made, random_matrices
from scipy.stats import ttest_rel

from berdseye.evaluation.partial.rank_agreement import (
    BUCKETS,
    PairTests,
    annotated,
    annotation_order,
    bucket_figures,
    concordance,
    in_bucket,
    paired_t_tests,
    significant,
)
from berdseye.evaluation.partial.rank_matrices import recall
from berdseye.evaluation.partial.selection import first_found, only


def test_paired_t_tests_are_scipys() -> None:
    values = recall(random_matrices(1), 20)
    found = paired_t_tests(values)
    place = 0
    for a in range(5):
        for b in range(a + 1, 5):
            assert found.p[place] == pytest.approx(ttest_rel(values[a], values[b]).pvalue)
            assert found.differences[place] == pytest.approx((values[a] - values[b]).mean())
            place += 1


def test_equal_systems_do_not_differ_and_a_constant_difference_is_certain() -> None:
    values = np.array([[0.5, 0.2, 0.9], [0.5, 0.2, 0.9], [0.4, 0.1, 0.8], [np.nan, 0, 0]])
    assert paired_t_tests(values[:2]).p.tolist() == [1.0]
    assert paired_t_tests(values[1:3]).p.tolist() == [0.0]
    # The query without a value for the last system counts for none.
    assert paired_t_tests(values).differences[2] == pytest.approx((0.2 + 0.9) / 2)


def test_every_pair_with_an_order_is_in_one_bucket() -> None:
    tests = PairTests(np.array([1, -1, 1, 1, 1, 0.0]), np.array([0.0, 0.0099, 0.01, 0.05, 1.0, 1.0]))
    members = [in_bucket(tests, bucket).tolist() for bucket in BUCKETS]
    assert members[0] == [True, True, False, False, False, False]
    assert members[1] == [False, False, True, False, False, False]
    assert members[2] == [False, False, False, True, True, False]  # systems of equal means have no order


def test_a_list_is_annotated_from_the_top_and_the_rest_after_it() -> None:
    made = hand_made()
    order = annotation_order(made, 2, seed=1)
    assert order[0, :2].tolist() == [1, 0]  # b is found, a is not
    assert order[1, 2] == 0  # e is found, c and d in some order after it
    assert sorted(order[1].tolist()) == [0, 1, 2]
    assert annotated(made, order, 0.0).sum(axis=1).tolist() == [1, 1]
    assert annotated(made, order, 0.5).sum(axis=1).tolist() == [1, 2]
    assert np.array_equal(annotated(made, order, 1.0), made.exists)


@given(st.integers(0, 30))
@settings(max_examples=15, deadline=None)
def test_more_is_annotated_with_a_larger_share_and_all_of_it_reproduces_the_full_set(seed: int) -> None:
    made = random_matrices(seed, queries=20)
    orders = [annotation_order(made, s, seed) for s in range(5)]
    for small, large in ((0.0, 0.3), (0.3, 0.7), (0.7, 1.0)):
        assert not (annotated(made, orders[0], small) & ~annotated(made, orders[0], large)).any()
    for found in bucket_figures(made, 20, [annotated(made, o, 1.0) for o in orders]):
        if found.n:
            assert (found.tau, found.concordance) == (pytest.approx(1), 1)
        else:
            assert np.isnan(found.tau)


def test_bucket_figures_are_those_of_the_pairs_without_the_choosing_system() -> None:
    made = random_matrices(3, systems=3, queries=60)
    counted = [only(made, first_found(made, s)) for s in range(3)]
    found = bucket_figures(made, 20, counted)
    values = recall(made, 20)
    p = paired_t_tests(values).p
    expected: dict[tuple[float, float], list[float]] = {b: [] for b in BUCKETS}
    for chooser, (pair, place) in enumerate([((1, 2), 2), ((0, 2), 1), ((0, 1), 0)]):
        bucket = next(b for b in BUCKETS if b[0] <= p[place] < b[1])
        a, b = np.nanmean(recall(made, 20, counted[chooser])[list(pair)], axis=1)
        c, d = values[list(pair)].mean(axis=1)
        expected[bucket].append(float(np.sign(a - b) * np.sign(c - d)))
    for one in found:
        assert one.n == len(expected[one.bucket])
        if one.n:
            assert one.tau == pytest.approx(np.mean(expected[one.bucket]))


def test_concordance_counts_both_directions() -> None:
    # 1 > 2 here, level there: they agree that 2 is not better (1 of 2). 1 > 2 here, 2 > 1 there: they agree on neither.
    one, level, turned = (np.array([v], dtype=np.int8) for v in (1, 0, -1))
    assert concordance(one, one) == 1
    assert concordance(one, level) == 0.5
    assert concordance(one, turned) == 0
    assert np.isnan(concordance(one, one, np.array([False])))
    mixed = np.array([1, 1, 0], dtype=np.int8)
    assert concordance(mixed, np.array([1, 0, 0], dtype=np.int8)) == pytest.approx(5 / 6)


def test_significance_has_a_direction() -> None:
    tests = PairTests(np.array([0.1, -0.1, 0.1]), np.array([0.01, 0.01, 0.2]))
    assert significant(tests).tolist() == [1, -1, 0]
