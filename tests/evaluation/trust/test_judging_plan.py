"""How many judgments settle an order: hand-worked, and the stopping rule on gold labels that follow their chances."""

import numpy as np
import pytest
from made_lists import lists_of, many

from berdseye.evaluation.measures import Measure, parse_measures
from berdseye.evaluation.trust.judging_plan import JudgingPlan, follow, judging_plan, needed

PRECISION, MRECALL = parse_measures("Precision@2 MRecall@2")


def test_passages_that_both_rank_are_not_asked_about_for_precision() -> None:
    said = np.array([[[1.0, 0.0], [1.0, 0.0], [0.0, 0.0]]])
    lists = lists_of([[[0, 1]], [[0, 2]]], [2], said, np.full(said.shape, 0.5))
    drawn = {m: lists.drawn(m, 300) for m in (PRECISION, MRECALL)}
    assert judging_plan(lists, PRECISION, drawn[PRECISION], 0, 1).costs.tolist() == [4]
    assert judging_plan(lists, MRECALL, drawn[MRECALL], 0, 1).costs.tolist() == [6]


def test_what_is_settled_costs_nothing() -> None:
    said = np.array([[[1.0], [0.0]], [[1.0], [0.0]]])
    settled = np.array([[[True], [True]], [[True], [False]]])
    chance = np.array([[[1.0], [0.0]], [[1.0], [0.5]]])
    lists = lists_of([[[0], [0]], [[1], [1]]], [1, 1], said, chance, settled)
    plan = judging_plan(lists, PRECISION, lists.drawn(PRECISION, 400), 0, 1)
    assert (plan.order.tolist(), plan.costs.tolist()) == ([1], [1])
    assert plan.fixed == 0.5  # the first question, sure: 1/2 against 0/2


def test_the_most_telling_questions_come_first() -> None:
    chance = np.array([[[0.99], [0.0]], [[0.5], [0.0]], [[0.8], [0.0]]])
    lists = lists_of([[[0]] * 3, [[1]] * 3], [1] * 3, (chance > 0.5).astype(float), chance)
    assert judging_plan(lists, PRECISION, lists.drawn(PRECISION, 4000), 0, 1).order.tolist() == [1, 2, 0]


def test_hand_worked_stops() -> None:
    # Three questions of 2 judgments, each worth +1 or -1 evenly; nothing fixed. After two equal ones the third cannot turn it.
    signs = np.array([[a, b, c] for a in (-1.0, 1) for b in (-1, 1) for c in (-1, 1)])
    plan = JudgingPlan(np.arange(3), np.array([2, 2, 2]), signs, 0.0)
    assert follow(plan, np.array([1.0, 1, -1])) == (4, 1)
    assert follow(plan, np.array([-1.0, -1, 1])) == (4, -1)
    assert follow(plan, np.array([1.0, -1, -1])) == (6, -1)
    found = needed(plan)
    assert (found.low, found.high, found.all, found.settled) == (4, 6, 6, 0.5)
    # A lead of 3 is safe at once: the worst is level, in one of eight outcomes, which counts half of it: 0.0625 > 0.05.
    assert needed(JudgingPlan(plan.order, plan.costs, signs, 3.0)).low > 0
    assert needed(JudgingPlan(plan.order, plan.costs, signs, 4.0)) == (0, 0, 0, 6, 1.0)


@pytest.mark.parametrize("measure", [PRECISION, MRECALL], ids=str)
def test_on_gold_labels_the_rule_errs_as_rarely_as_promised_and_needs_what_was_predicted(measure: Measure) -> None:
    """80 benchmarks whose gold labels follow their chances: at most 5% of the orders may be wrong, within three errors of 80;
    about 80% of the judgments made must lie in the interval foretold."""
    wrong = within = early = 0
    trials = 80
    for seed in range(trials):
        lists, gold = many(seed, questions=25, lead=0.05)
        plan = judging_plan(lists, measure, lists.drawn(measure, 250, seed), 0, 1)
        truth = lists.values(measure, gold == 1)
        made = follow(plan, truth[0] - truth[1])
        foretold = needed(plan)
        real = np.sign(round(float((truth[0] - truth[1]).sum()), 9))
        wrong += int(made.order != real and real != 0)
        within += int(foretold.low <= made.judgments <= foretold.high)
        early += int(made.judgments < foretold.all)
    assert wrong / trials <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / trials)
    assert within / trials >= 0.72
    assert early / trials > 0.5  # the rule does save judgments
