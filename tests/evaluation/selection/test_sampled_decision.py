"""A decision by the draws of a batch: what people's judgments show, whatever the detector says."""

from dataclasses import replace

import numpy as np
import pytest

from berdseye.evaluation.measures import parse_measure
from berdseye.evaluation.scores.batch_draws import Draws
from berdseye.evaluation.selection.sampled_decision import SampledDecision, sampled_decision
from berdseye.evaluation.trust.labelled_lists import LabelledLists
from tests.evaluation.trust.made_lists import lists_of

QUESTIONS = 60


def lists(first_wins: float, seed: int = 0) -> LabelledLists:
    """Each system ranks one passage of its own; that of the first supports the one perspective more often."""
    random = np.random.default_rng(seed)
    said = (random.random((QUESTIONS, 2, 1)) < np.array([0.5 + first_wins / 2, 0.5 - first_wins / 2])[:, None]).astype(
        float
    )
    return lists_of([[[0]] * QUESTIONS, [[1]] * QUESTIONS], [1] * QUESTIONS, said)


def decided(
    made: LabelledLists, drawn: int, *, measure: str = "MRecall@1", by_question: bool = True, unknown: int = 0
) -> SampledDecision | None:
    """The decision after so many draws at random; the labels of the last `unknown` drawn units are missing."""
    keys = [f"k{label}" for label in range(len(made.labels))]
    units = {key: label // 2 if by_question else label for label, key in enumerate(keys)}
    size = max(units.values()) + 1
    order = np.random.default_rng(1).permutation(size)
    numbers, chances, people = np.zeros(size, dtype=np.int64), np.full(size, np.nan), np.full(len(keys), np.nan)
    for turn, unit in enumerate(order[:drawn]):
        numbers[unit], chances[unit] = turn + 1, 1 / (size - turn)
        if not drawn - unknown <= turn < drawn - 1 or not unknown:
            labels = [label for label, key in enumerate(keys) if units[key] == unit]
            people[labels] = made.labels[labels]
    draws = Draws(units, numbers, chances, np.ones(size))
    return sampled_decision(made, parse_measure(measure), keys, np.zeros(len(keys), dtype=np.bool_), draws, people)


@pytest.mark.parametrize(
    ("measure", "by_question"), [("MRecall@1", True), ("Precision@1", True), ("Precision@1", False)]
)
def test_everything_judged_is_decided_for_certain(measure: str, by_question: bool) -> None:
    made = lists(0.4)
    found = decided(made, 1000, measure=measure, by_question=by_question)
    assert found is not None
    values = made.values(parse_measure(measure), made.labels == 1).mean(axis=1)
    assert found.sample.people.sum() == pytest.approx(values[0] - values[1])
    assert (found.order, found.error) == (1, 0.0)
    assert found.needed(np.zeros((3, len(found.weights)))).all == 0


def test_evidence_grows_with_the_draws_and_waits_for_judgments() -> None:
    made = lists(0.9)
    few, many = decided(made, 3), decided(made, 30)
    assert few is not None
    assert many is not None
    assert few.error > 0.05 >= many.error
    assert many.order == 1
    none = decided(made, 0)
    assert none is not None
    assert (none.order, none.error) == (0, 1.0)


def test_drawn_units_without_labels_count_against_the_order() -> None:
    made = lists(0.9)
    whole, holes = decided(made, 30), decided(made, 30, unknown=15)
    assert whole is not None
    assert holes is not None
    assert holes.sample.draws == 30
    assert holes.error > whole.error


def test_single_pairs_do_not_fit_a_measure_of_whole_questions() -> None:
    assert decided(lists(0.4), 10, by_question=False) is None


def test_the_prediction_says_when_the_evidence_is_enough() -> None:
    made = lists(0.9)
    found = decided(made, 3)
    assert found is not None
    outcomes = np.tile(np.where(np.arange(QUESTIONS) % 10 < 9, 1.0, 0.0) / QUESTIONS, (10, 1))
    needed = found.needed(outcomes)
    assert 0 < needed.low <= needed.median <= needed.high < needed.all
    assert needed.settled == 1


def test_bets_on_fixed_weights_show_at_least_as_much() -> None:
    """Weights that may have changed leave less to bet, because the least probable draw could still come."""
    made = lists(0.9)
    found = decided(made, 25)
    assert found is not None
    assert not found.changing
    assert found.error <= replace(found, changing=True).error


def test_draws_that_are_followed_end_with_the_order_that_the_values_have() -> None:
    made = lists(0.9)
    found = decided(made, 0)
    assert found is not None
    random = np.random.default_rng(0)
    values = np.where(np.arange(QUESTIONS) < 50, 1.0, -1.0) / QUESTIONS
    early, against = found.followed(values, random), found.followed(-values, random)
    assert (early.order, against.order) == (1, -1)
    assert early.judgments < found.costs.sum()
    assert found.followed(np.zeros(QUESTIONS), random) == (found.costs.sum(), 0)
