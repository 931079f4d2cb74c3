"""Recall, R-precision, MAP and nDCG from ranks, against hand-worked values and trec_eval (through ir_measures)."""

import ir_measures
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from made_ranks import hand_made, random_matrices

from berdseye.data.errors import BadInputError, UnknownNameError
from berdseye.evaluation.partial.rank_matrices import (
    NOT_FOUND,
    Bools,
    RankMatrices,
    average_precision,
    measured,
    ndcg,
    r_precision,
    recall,
    system_means,
)


def test_hand_worked_values() -> None:
    made = hand_made()
    # one: q1 finds a (1), b (3); q2 finds c (1), d (2), e (4).
    assert recall(made, 2)[0].tolist() == [1 / 2, 2 / 3]
    # R-precision: R = 2 keeps ranks 1, 2 of q1 (a alone); R = 3 keeps c and d.
    assert r_precision(made)[0].tolist() == [1 / 2, 2 / 3]
    # AP@4: (1/1 + 2/3) / 2 and (1/1 + 2/2 + 3/4) / 3.
    assert average_precision(made, 4)[0] == pytest.approx([(1 + 2 / 3) / 2, (1 + 1 + 3 / 4) / 3])
    # nDCG@4, q1: (1 + 1/log2(4)) / (1 + 1/log2(3)).
    assert ndcg(made, 4)[0, 0] == pytest.approx((1 + 1 / 2) / (1 + 1 / np.log2(3)))
    assert system_means(recall(made, 4)).tolist() == pytest.approx([1, (1 / 2 + 1 / 3) / 2, (1 / 2 + 1 / 3) / 2])


def test_a_query_with_nothing_annotated_has_no_value() -> None:
    made = hand_made()
    counted = made.exists.copy()
    counted[0] = False
    for values in (
        recall(made, 4, counted),
        ndcg(made, 4, counted),
        average_precision(made, 4, counted),
        r_precision(made, counted),
    ):
        assert np.isnan(values[:, 0]).all()
        assert not np.isnan(values[:, 1]).any()
    assert system_means(recall(made, 4, counted)).tolist() == recall(made, 4)[:, 1].tolist()


@pytest.mark.parametrize("share", [1.0, 0.4])
def test_values_equal_those_of_trec_eval(share: float) -> None:
    made = random_matrices(3)
    counted: Bools = made.exists & (np.random.default_rng(1).random(made.exists.shape) < share)
    names = [ir_measures.R @ 5, ir_measures.R @ 20, ir_measures.nDCG @ 20, ir_measures.AP @ 20, ir_measures.Rprec]
    ours = {
        "R@5": recall(made, 5, counted), "R@20": recall(made, 20, counted), "nDCG@20": ndcg(made, 20, counted),
        "AP@20": average_precision(made, 20, counted), "Rprec": r_precision(made, counted),
    }  # fmt: skip
    qrels = {
        q: {p: int(counted[row, column]) for column, p in enumerate(made.relevant[row])}
        for row, q in enumerate(made.queries)
    }
    compared = 0
    for system in range(len(made.systems)):
        for found in ir_measures.iter_calc(names, qrels, trec_run(made, system)):
            row = made.queries.index(found.query_id)
            if counted[row].any():
                assert ours[str(found.measure)][system, row] == pytest.approx(found.value)
                compared += 1
    assert compared > 500


def trec_run(made: RankMatrices, system: int) -> dict[str, dict[str, float]]:
    """The whole lists: relevant passages at their ranks and others in between."""
    run = {}
    for row, query in enumerate(made.queries):
        placed = {
            int(r): p for r, p in zip(made.ranks[system, row], made.relevant[row], strict=False) if r != NOT_FOUND
        }
        run[query] = {placed.get(rank, f"other{rank}"): 1000.0 - rank for rank in range(1, made.depth + 1)}
    return run


@given(st.integers(0, 50), st.integers(1, 49))
@settings(max_examples=30, deadline=None)
def test_recall_grows_with_k_and_stays_a_share(seed: int, k: int) -> None:
    made = random_matrices(seed, queries=6)
    shorter, longer = recall(made, k), recall(made, k + 1)
    assert (shorter <= longer).all()
    assert longer.max() <= 1


def test_names_and_cutoffs_are_checked() -> None:
    with pytest.raises(UnknownNameError, match="recall"):
        measured("recal", hand_made(), 2)
    with pytest.raises(BadInputError, match="got 5"):
        recall(hand_made(), 5)
    assert np.array_equal(measured("map", hand_made(), 3), average_precision(hand_made(), 3))
