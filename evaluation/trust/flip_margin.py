"""The flip margin: the smallest set of label changes after which the system that is behind is ahead.

The solution is exact. For Precision, a passage that only one system ranks within k is one step, and the cheapest steps are
chosen. For MRecall, a table over the perspectives of a question (how many each of the two systems covers) gives the fewest
changes for each outcome of the two systems on the question, and a knapsack over questions chooses the cheapest changes that
reverse the order. A label belongs to one question.
"""

from collections.abc import Iterator, Sequence
from itertools import product
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from berdseye.evaluation.measures import Measure
from berdseye.evaluation.trust.labelled_lists import Bools, LabelledLists

_STATES = ((False, False), (False, True), (True, False), (True, True))
FLIPPABLE = ("Precision", "MRecall")
_STEPS = 2


class Change(NamedTuple):
    """A change of a label, given by its number, to a new value."""

    label: int
    to: bool


class Groups(NamedTuple):
    """The labels of a question, with one row per passage and one column per perspective, by which system ranks the passage in its
    top k."""

    only_first: list[list[int]]
    only_second: list[list[int]]
    both: list[list[int]]


def cheapest_outcomes(
    groups: Groups, width: int, needed: int, labels: Bools, free: Bools
) -> dict[tuple[int, int], tuple[Change, ...]]:
    """Return the fewest changes for each reachable outcome (first, second), each 1 or 0; the current outcome needs none.

    The outcome of a system is 1 if it covers `needed` of the `width` perspectives. Labels outside `free` do not change. The table
    counts how many perspectives each of the two systems covers and adds one perspective at a time: exact, and quadratic in
    `width`.
    """
    states = [_state_changes(groups, perspective, labels, free) for perspective in range(width)]
    size = width + 1
    table = np.full((size, size), np.inf)
    table[0, 0] = 0
    chosen: list[npt.NDArray[np.int8]] = []
    for changes in states:
        wider, choice = np.full((size, size), np.inf), np.full((size, size), -1, dtype=np.int8)
        for number, (ours, theirs) in enumerate(_STATES):
            needed_changes = changes[number]
            if needed_changes is None:
                continue
            moved = np.full((size, size), np.inf)
            moved[int(ours) :, int(theirs) :] = table[: size - int(ours), : size - int(theirs)] + len(needed_changes)
            better = moved < wider
            wider[better], choice[better] = moved[better], number
        table = wider
        chosen.append(choice)
    outcomes: dict[tuple[int, int], tuple[Change, ...]] = {}
    spans = {0: slice(0, needed), 1: slice(needed, size)}
    for first, second in product((0, 1), repeat=2):
        part = table[spans[first], spans[second]]
        if part.size and np.isfinite(part.min()):
            row, column = np.unravel_index(int(part.argmin()), part.shape)
            cell = (int(row) + first * needed, int(column) + second * needed)
            outcomes[first, second] = _traced(states, chosen, cell)
    return outcomes


def _traced(
    states: list[list[tuple[Change, ...] | None]], chosen: list[npt.NDArray[np.int8]], cell: tuple[int, int]
) -> tuple[Change, ...]:
    changes: list[Change] = []
    row, column = cell
    for perspective in range(len(states) - 1, -1, -1):
        number = int(chosen[perspective][row, column])
        changes += states[perspective][number] or ()
        row, column = row - int(_STATES[number][0]), column - int(_STATES[number][1])
    return tuple(changes)


def _state_changes(groups: Groups, perspective: int, labels: Bools, free: Bools) -> list[tuple[Change, ...] | None]:
    """Return the fewest changes after which (first, second) cover a perspective as in each of `_STATES`; None if impossible."""
    columns = [[row[perspective] for row in group] for group in groups]
    covered = [any(labels[n] for n in column) for column in columns]
    removed = [_removed(column, labels, free) for column in columns]
    added = [() if covers else _added(column, free) for covers, column in zip(covered, columns, strict=True)]
    both = _shorter(added[2], _joined(added[0], added[1]))
    return [
        _joined(_joined(removed[0], removed[1]), removed[2]),
        _joined(_joined(removed[0], removed[2]), added[1]),
        _joined(_joined(removed[1], removed[2]), added[0]),
        both,
    ]


def _removed(column: list[int], labels: Bools, free: Bools) -> tuple[Change, ...] | None:
    ones = [n for n in column if labels[n]]
    return tuple(Change(n, False) for n in ones) if all(free[n] for n in ones) else None


def _added(column: list[int], free: Bools) -> tuple[Change, ...] | None:
    zero = next((n for n in column if free[n]), None)
    return None if zero is None else (Change(zero, True),)


def _joined(a: tuple[Change, ...] | None, b: tuple[Change, ...] | None) -> tuple[Change, ...] | None:
    return None if a is None or b is None else a + b


def _shorter(a: tuple[Change, ...] | None, b: tuple[Change, ...] | None) -> tuple[Change, ...] | None:
    if a is None or b is None:
        return b if a is None else a
    return min(a, b, key=len)


class FlipMargin(NamedTuple):
    """The labels to change, with their new values; `changes` is None if no change of labels can reverse the order."""

    changes: tuple[Change, ...] | None

    @property
    def size(self) -> int | None:
        return None if self.changes is None else len(self.changes)


def flip_margin(
    lists: LabelledLists, measure: Measure, first: int, second: int, *, changeable: Bools | None = None
) -> FlipMargin:
    """Return the fewest changes after which `second` has a higher mean than `first`, which is now ahead or equal.

    `changeable` bool[n_labels] marks the labels that may change (None: all). A missing label counts as 0. Questions without a
    value for both systems are left out. The measure is Precision@k or MRecall@k.
    """
    labels = lists.labels == 1
    free = np.ones(len(labels), dtype=bool) if changeable is None else changeable
    now = lists.values_now(measure)[[first, second]]
    questions = np.flatnonzero(~np.isnan(now).any(axis=0))
    gap = now[0, questions].sum() - now[1, questions].sum()
    if measure.name == "Precision":
        steps = round(float(gap) * measure.k) + 1
        return FlipMargin(_cheapest_steps(lists, measure.k, first, second, questions, labels, free, steps))
    return FlipMargin(
        _cheapest_recalls(lists, measure.k, first, second, questions, labels, free, round(float(gap)) + 1)
    )


def _cheapest_steps(
    lists: LabelledLists, k: int, first: int, second: int, questions: npt.NDArray[np.int64],
    labels: Bools, free: Bools, steps: int,
) -> tuple[Change, ...] | None:  # fmt: skip
    offers: list[list[Change]] = []
    for question in questions.tolist():
        groups = _groups(lists, k, first, second, question)
        for row in groups.only_first:
            ones = [n for n in row if labels[n]]
            if ones and all(free[n] for n in ones):
                offers.append([Change(n, False) for n in ones])
        for row in groups.only_second:
            zeros = [n for n in row if free[n]]
            if zeros and not any(labels[n] for n in row):
                offers.append([Change(max(zeros, key=lambda n: float(lists.chance[n])), True)])
    if steps <= 0:
        return ()
    if len(offers) < steps:
        return None
    return tuple(change for offer in sorted(offers, key=len)[:steps] for change in offer)


def _cheapest_recalls(
    lists: LabelledLists, k: int, first: int, second: int, questions: npt.NDArray[np.int64],
    labels: Bools, free: Bools, steps: int,
) -> tuple[Change, ...] | None:  # fmt: skip
    if steps <= 0:
        return ()
    offers: list[Sequence[tuple[Change, ...] | None]] = []
    for question in questions.tolist():
        width = int(lists.counts[question])
        needed = min(width, k)
        outcomes = cheapest_outcomes(_groups(lists, k, first, second, question), width, needed, labels, free)
        lead = next(a - b for (a, b), changes in outcomes.items() if changes == ())
        offers.append([_shortest(outcomes, lead - step) for step in range(1, _STEPS + 1)])
    # best[g]: the fewest changes that gain g steps over the questions so far, with g up to `steps`.
    best: npt.NDArray[np.float64] = np.full(steps + 1, np.inf)
    best[0] = 0
    taken = np.zeros((len(offers), steps + 1), dtype=np.int8)
    for row, offer in enumerate(offers):
        before = best.copy()
        for step, changes in enumerate(offer, start=1):
            if changes is not None:
                source = np.maximum(np.arange(steps + 1) - step, 0)
                better = before[source] + len(changes) < best
                best = np.where(better, before[source] + len(changes), best)
                taken[row, better] = step
    if not np.isfinite(best[steps]):
        return None
    chosen: list[Change] = []
    left = steps
    for row in range(len(offers) - 1, -1, -1):
        step = int(taken[row, left])
        if step:
            chosen += offers[row][step - 1] or ()
            left = max(left - step, 0)
    return tuple(chosen)


def _shortest(outcomes: dict[tuple[int, int], tuple[Change, ...]], lead: int) -> tuple[Change, ...] | None:
    fitting = [changes for (a, b), changes in outcomes.items() if a - b <= lead]
    return min(fitting, key=len) if fitting else None


def _groups(lists: LabelledLists, k: int, first: int, second: int, question: int) -> Groups:
    """Return the labels of the passages in the top k, one row per passage: of only the first system, of only the second, of
    both."""
    ours, theirs = dict(_rows(lists, k, first, question)), dict(_rows(lists, k, second, question))
    return Groups(
        [row for passage, row in ours.items() if passage not in theirs],
        [row for passage, row in theirs.items() if passage not in ours],
        [row for passage, row in ours.items() if passage in theirs],
    )


def _rows(lists: LabelledLists, k: int, system: int, question: int) -> Iterator[tuple[int, list[int]]]:
    width = int(lists.counts[question])
    for rank, passage in enumerate(lists.ids[system, question, :k].tolist()):
        if passage >= 0:
            yield passage, lists.places[system, question, rank, :width].tolist()
