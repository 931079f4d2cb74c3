"""What a judgment is worth, and when an order is settled: by enumeration, by hand, and on labels that follow their chances."""

from itertools import product

import numpy as np
import pytest
from made_lists import lists_of, many, random_lists

from berdseye.evaluation.measures import Measure, parse_measures
from berdseye.evaluation.trust.decision import Decision
from berdseye.evaluation.trust.labelled_lists import LabelledLists

PRECISION, MRECALL, COVERAGE = parse_measures("Precision@2 MRecall@2 Coverage@2")


def enumerated(lists: LabelledLists, measure: Measure) -> np.ndarray:
    """p (1 - p) (E[difference | 1] - E[difference | 0])^2 of every label, over all sets of labels there can be."""
    every = np.array(list(product((False, True), repeat=len(lists.chance))))
    weights = np.where(every, lists.chance, 1 - lists.chance).prod(axis=1)
    differences = np.array(
        [(v := np.nan_to_num(lists.values(measure, labels)))[0].sum() - v[1].sum() for labels in every]
    )
    means = [
        [np.average(differences[every[:, n] == word], weights=weights[every[:, n] == word]) for word in (False, True)]
        for n in range(len(lists.chance))
    ]  # fmt: skip
    return np.array([p * (1 - p) * (b - a) ** 2 for p, (a, b) in zip(lists.chance, means, strict=True)])


@pytest.mark.parametrize("measure", [PRECISION, MRECALL, COVERAGE], ids=str)
def test_values_are_those_of_enumeration(measure: Measure) -> None:
    lists = random_lists(3, questions=2)
    exact = enumerated(lists, measure)
    found = Decision(lists, measure, 0, 1, draws=20_000)
    assert found.values == pytest.approx(exact, abs=0.004)
    assert found.most_telling() == int(np.argmax(exact))


def test_what_both_rank_is_not_asked_about_for_precision_and_what_is_settled_never() -> None:
    said = np.array([[[1.0, 0.0], [1.0, 0.0], [0.0, 0.0]]])
    settled = np.zeros(said.shape, dtype=bool)
    settled[0, 1, 0] = True
    chance = np.where(settled, said, 0.5)
    lists = lists_of([[[0, 1]], [[0, 2]]], [2], said, chance, settled)
    assert np.flatnonzero(Decision(lists, PRECISION, 0, 1).open).tolist() == [3, 4, 5]
    assert np.flatnonzero(Decision(lists, MRECALL, 0, 1).open).tolist() == [0, 1, 3, 4, 5]
    closed = np.arange(6) == 4
    assert np.flatnonzero(Decision(lists, PRECISION, 0, 1, closed=closed).open).tolist() == [3, 5]


def test_a_word_changes_what_its_question_and_no_other_is_worth() -> None:
    """The first system has passage 0, the second passage 1; 0 supports both perspectives or not, by two labels."""
    chance = np.array([[[0.5, 0.5], [0.0, 0.0]]] * 2)
    lists = lists_of([[[0]] * 2, [[1]] * 2], [2, 2], np.zeros(chance.shape), chance)
    state = Decision(lists, MRECALL, 0, 1, draws=4000)
    before = state.values.copy()
    assert before[[0, 1, 4, 5]] == pytest.approx([1 / 16] * 4, abs=0.01)  # 1/4 (1/2 - 0)^2
    state.set_label(0, True)
    assert state.values[[0, 1, 4, 5]] == pytest.approx([0, 1 / 4, before[4], before[5]])
    state.set_label(1, False)
    assert state.values[1] == 0
    state.set_label(4, True)
    state.set_label(5, True)
    assert (state.order, state.chance_of_other, state.settled, state.difference) == (1, 0, True, 0.5)
    assert state.needed() == (0, 0, 0, 0, 1)


def test_what_no_single_label_tells_is_judged_all_the_same() -> None:
    """Either system covers one of two perspectives by passages of its own; the others' halves are even chances."""
    said = np.array([[[1.0, 0.5], [0.5, 1.0]]])
    settled = said == 1
    lists = lists_of([[[0]], [[1]]], [2], said, said, settled)
    state = Decision(lists, MRECALL, 0, 1, draws=2000)
    assert (state.values > 0).sum() == 2
    assert not state.settled
    assert state.followed(np.array([True, True, False, True])) == (2, 1)
    assert state.followed(np.array([True, False, False, True])) == (2, 0)  # level: all is told, nothing is settled


@pytest.mark.parametrize("measure", [PRECISION, MRECALL], ids=str)
def test_on_labels_that_follow_their_chances_it_errs_rarely_and_saves_judgments(measure: Measure) -> None:
    """24 benchmarks: at most 5% wrong orders within three errors, fewer judgments than in random order, made as foretold."""
    wrong, made, at_random, within = 0, 0, 0, 0
    trials = 24
    for seed in range(trials):
        lists, gold = many(seed, questions=10, lead=0.05)
        truth = gold == 1
        state = Decision(lists, measure, 0, 1, draws=120, seed=seed)
        ended = state.followed(truth)
        values = np.nan_to_num(lists.values(measure, truth))
        real = np.sign(round(float((values[0] - values[1]).sum()), 9))
        wrong += int(ended.order != real and real != 0)
        made += ended.judgments
        if seed < 6:
            foretold = state.needed(12)
            within += int(foretold.low <= ended.judgments <= foretold.high)
        order = np.random.default_rng(seed).permutation(np.flatnonzero(state.open)).tolist()
        while order and not state.settled:
            state.set_label(label := order.pop(), bool(truth[label]))
            at_random += 1
    assert wrong / trials <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / trials)
    assert made < 0.85 * at_random
    assert within >= 3  # of 6, about 80% of which an 80% interval holds
