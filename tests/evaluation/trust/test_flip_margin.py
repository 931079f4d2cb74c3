"""The flip margin: hand-worked, and the fewest by trying every set of changes."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from made_lists import lists_of, random_lists

from berdseye.evaluation.measures import Measure, parse_measures
from berdseye.evaluation.trust.flip_margin import Groups, cheapest_outcomes, flip_margin
from berdseye.evaluation.trust.labelled_lists import Bools, LabelledLists

PRECISION, MRECALL = parse_measures("Precision@2 MRecall@2")


def behind(lists: LabelledLists, measure: Measure, labels: Bools) -> bool:
    """Whether the first system is strictly behind the second under these labels."""
    kept = ~np.isnan(lists.values_now(measure)).any(axis=0)
    first, second = lists.values(measure, labels)[:, kept].sum(axis=1)
    return bool(round(float(second - first), 9) > 0)


def fewest_by_trying(lists: LabelledLists, measure: Measure, free: Bools, most: int = 5) -> int | None:
    """The size of the smallest set of changes that puts the first system behind; None where none up to `most` does."""
    used = sorted({int(n) for n in np.unique(lists.places) if n >= 0 and free[n]})
    for size in range(most + 1):
        for chosen in combinations(used, size):
            labels = (lists.labels == 1).copy()
            labels[list(chosen)] ^= True
            if behind(lists, measure, labels):
                return size
    return None


@pytest.mark.parametrize("measure", [PRECISION, MRECALL], ids=str)
@given(seed=st.integers(0, 100_000), fixed=st.sampled_from([0.0, 0.3, 0.8]))
@settings(max_examples=60, deadline=None)
def test_no_smaller_set_of_changes_turns_the_order_and_the_listed_ones_do(
    measure: Measure, seed: int, fixed: float
) -> None:
    lists = random_lists(seed, missing=0.1)
    now = np.nansum(
        np.where(np.isnan(lists.values_now(measure)).any(axis=0), np.nan, lists.values_now(measure)), axis=1
    )
    first, second = (0, 1) if now[0] >= now[1] else (1, 0)
    picked = LabelledLists(
        lists.systems, lists.questions, lists.ids[[first, second]], lists.places[[first, second]], lists.counts,
        lists.labels, lists.chance, lists.settled,
    )  # fmt: skip
    free = np.random.default_rng(seed).random(len(lists.labels)) >= fixed
    found = flip_margin(lists, measure, first, second, changeable=free)
    tried = fewest_by_trying(picked, measure, free)
    if found.changes is None:
        assert tried is None
        return
    if found.size is not None and found.size <= 5:
        assert found.size == tried
    labels = (lists.labels == 1).copy()
    for change in found.changes:
        assert free[change.label]
        assert labels[change.label] != change.to
        labels[change.label] = change.to
    assert behind(picked, measure, labels)


def test_hand_worked_precision() -> None:
    # One question, one perspective. s0 ranks 0 and 1, both supporting; s1 ranks 0 and 2, the latter not. 2/2 against 1/2.
    said = np.array([[[1.0], [1.0], [0.0]]])
    lists = lists_of([[[0, 1]], [[0, 2]]], [1], said)
    # Level would take one change; ahead takes both: passage 1 no longer, passage 2 instead. Passage 0 is in both lists.
    found = flip_margin(lists, PRECISION, 0, 1)
    assert sorted(found.changes or ()) == [(1, False), (2, True)]
    only_two = np.array([True, True, False])
    assert flip_margin(lists, PRECISION, 0, 1, changeable=only_two).changes is None


def test_hand_worked_mrecall() -> None:
    # Two perspectives. s0 covers both with passages 0 and 1; s1 covers the first with passage 2 (and 0 is its own no more).
    said = np.array([[[1.0, 0.0], [0.0, 1.0], [1.0, 0.0], [0.0, 0.0]]])
    lists = lists_of([[[0, 1]], [[2, 3]]], [2], said)
    # Ahead needs s0 below (one label away) and s1 whole (the second perspective added): two changes.
    found = flip_margin(lists, MRECALL, 0, 1)
    assert found.size == 2
    assert {c.to for c in found.changes or ()} == {True, False}


def test_equal_lists_can_never_be_turned() -> None:
    lists = lists_of([[[0, 1]], [[1, 0]]], [1], np.array([[[1.0], [0.0]]]))
    assert flip_margin(lists, PRECISION, 0, 1).changes is None
    assert flip_margin(lists, MRECALL, 0, 1).changes is None


def test_more_than_k_perspectives_need_k_of_them() -> None:
    # Three perspectives, k = 2: covering two is enough. s0 covers two; s1 none, and needs two labels, then s0 loses one.
    said = np.array([[[1.0, 1, 0], [0, 0, 0], [0, 0, 0], [0, 0, 0]]])
    lists = lists_of([[[0, 1]], [[2, 3]]], [3], said)
    assert lists.values_now(MRECALL).tolist() == [[1.0], [0.0]]
    assert flip_margin(lists, MRECALL, 0, 1).size == 3


@given(seed=st.integers(0, 10_000))
@settings(max_examples=60, deadline=None)
def test_the_outcome_there_is_costs_nothing_and_every_outcome_is_reached_by_its_changes(seed: int) -> None:
    random = np.random.default_rng(seed)
    width, sizes = int(random.integers(1, 4)), random.integers(0, 3, 3)
    labels = random.random(int(sizes.sum()) * width) < 0.4
    rows = iter(np.arange(labels.size).reshape(-1, width).tolist())
    groups = Groups(*([next(rows) for _ in range(size)] for size in sizes))
    needed = int(random.integers(1, width + 1))

    def outcome(held: Bools) -> tuple[int, int]:
        found = []
        for own in (groups.only_first, groups.only_second):
            covered = [any(held[row[p]] for row in (*own, *groups.both)) for p in range(width)]
            found.append(int(sum(covered) >= needed))
        return found[0], found[1]

    outcomes = cheapest_outcomes(groups, width, needed, labels, np.ones(labels.size, dtype=bool))
    assert outcomes[outcome(labels)] == ()
    for wanted, changes in outcomes.items():
        held = labels.copy()
        for change in changes:
            held[change.label] = change.to
        assert outcome(held) == wanted
