"""One annotated passage a query: which is chosen, what the systems score with it, and how their rankings agree."""

from dataclasses import replace

import numpy as np
import pytest
from made_ranks import hand_made, random_matrices
from scipy.stats import kendalltau

from berdseye.evaluation.partial.rank_matrices import recall, system_means
from berdseye.evaluation.partial.selection import (
    choice_agreement,
    extreme_choice,
    first_found,
    full_scores,
    only,
    random_agreement,
    random_choices,
    single_relevant_recall,
    summarised,
    system_agreement,
    system_scores,
)


def test_a_system_chooses_what_it_ranks_highest_and_nothing_where_it_found_none() -> None:
    made = hand_made()
    assert first_found(made, 0).tolist() == [0, 0]
    assert first_found(made, 2).tolist() == [1, 2]
    empty = replace(made, systems=made.systems[2:], ranks=made.ranks[[2]])
    empty.ranks[0, 1] = np.iinfo(np.int32).max
    assert first_found(empty, 0).tolist() == [1, -1]


def test_lengths_choose_the_longest_and_the_shortest_that_exist() -> None:
    made = hand_made()
    words = np.array([[5.0, 9.0, 99.0], [3.0, 3.0, 1.0]])  # 99 stands where q1 has no third passage
    assert extreme_choice(made, words, highest=True).tolist() == [1, 0]
    assert extreme_choice(made, words, highest=False).tolist() == [0, 2]


def test_hand_worked_recall_with_one_passage() -> None:
    made = hand_made()
    # Annotated: b of q1 (ranks 3, -, 4) and c of q2 (1, 1, -).
    scores = single_relevant_recall(made, np.array([[1, 0]]), [1, 3, 4])
    assert scores[:, 0].tolist() == [[0.5, 0.5, 0.0], [1.0, 0.5, 0.0], [1.0, 0.5, 0.5]]
    # A query left without a passage (-1) counts in nobody's mean.
    assert single_relevant_recall(made, np.array([[1, -1]]), [4])[0, 0].tolist() == [1.0, 0.0, 1.0]


@pytest.mark.parametrize("ks", [[5, 20, 50], [20], [50, 5]])
def test_many_trials_at_once_are_what_each_is_alone(ks: list[int]) -> None:
    made = random_matrices(1)
    choices = random_choices(made, 300, seed=4)
    assert made.exists[np.arange(len(made.queries)), choices].all()
    scores = single_relevant_recall(made, choices, ks)
    for trial in (0, 251, 299):
        for place, k in enumerate(ks):
            alone = system_means(recall(made, k, only(made, choices[trial])))
            assert scores[place, trial] == pytest.approx(alone)


def test_random_choices_are_even() -> None:
    made = random_matrices(2, queries=3, most=4)
    drawn = random_choices(made, 8000, seed=1)
    for query, count in enumerate(made.counts):
        shares = np.bincount(drawn[:, query], minlength=4)[:count] / 8000
        assert shares == pytest.approx(np.full(count, 1 / count), abs=0.03)


def test_random_selection_is_the_mean_of_its_trials() -> None:
    made = random_matrices(5)
    [found] = random_agreement(made, [20], trials=40, seed=3)
    scores = single_relevant_recall(made, random_choices(made, 40, 3), [20])[0]
    taus = [kendalltau(row, full_scores(made, 20)).statistic for row in scores]
    assert (found.n, found.tau, found.spread) == (40, pytest.approx(np.mean(taus)), pytest.approx(np.std(taus, ddof=1)))
    assert found.error_rate == pytest.approx(50 * (1 - found.tau))


def test_the_choosing_system_is_left_out_of_its_own_comparison() -> None:
    made = random_matrices(6, systems=4, queries=150)
    [found] = system_agreement(made, [20])
    taus = []
    for chooser in range(4):
        others = [s for s in range(4) if s != chooser]
        scores = system_means(recall(made, 20, only(made, first_found(made, chooser))))
        taus.append(kendalltau(scores[others], full_scores(made, 20)[others]).statistic)
    assert found.tau == pytest.approx(np.mean(taus))
    assert system_scores(made, [20]).shape == (1, 4, 4)


def test_with_one_relevant_passage_a_query_every_selection_is_the_full_set() -> None:
    made = random_matrices(7, most=1, queries=80)
    for [found] in (random_agreement(made, [20], 5), choice_agreement(made, np.zeros(80, dtype=np.int64), [20])):
        assert found.tau == pytest.approx(1)
        assert found.error_rate == pytest.approx(0)


def test_taus_that_are_not_defined_do_not_count() -> None:
    assert summarised(np.array([1.0, np.nan, 0.0])).n == 2
    assert np.isnan(summarised(np.array([np.nan])).tau)
