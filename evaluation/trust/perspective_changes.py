"""The fewest label changes that give one question each outcome of MRecall for two systems at once."""

from itertools import product
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from berdseye.evaluation.trust.labelled_lists import Bools

_STATES = ((False, False), (False, True), (True, False), (True, True))


class Change(NamedTuple):
    """A label, by its number, and what it would be."""

    label: int
    to: bool


class Groups(NamedTuple):
    """Labels of a question, a row a passage and a column a perspective, by who ranks the passage within k."""

    only_first: list[list[int]]
    only_second: list[list[int]]
    both: list[list[int]]


def cheapest_outcomes(
    groups: Groups, width: int, needed: int, labels: Bools, free: Bools
) -> dict[tuple[int, int], tuple[Change, ...]]:
    """The fewest changes for each reachable outcome (first, second) of 1 or 0; the outcome there is now has none.

    A system has 1 where it covers `needed` of the `width` perspectives. Labels outside `free` stay as they are. The table counts
    how many perspectives the two cover, so that perspectives are decided one by one: exact, and quadratic in `width`.
    """
    states = [_state_changes(groups, perspective, labels, free) for perspective in range(width)]
    size = width + 1
    table = np.full((size, size), np.inf)
    table[0, 0] = 0
    chosen: list[npt.NDArray[np.int8]] = []
    for changes in states:
        wider, choice = np.full((size, size), np.inf), np.full((size, size), -1, dtype=np.int8)
        for number, (ours, theirs) in enumerate(_STATES):
            made = changes[number]
            if made is None:
                continue
            moved = np.full((size, size), np.inf)
            moved[int(ours) :, int(theirs) :] = table[: size - int(ours), : size - int(theirs)] + len(made)
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
    """The fewest changes for a perspective to be covered by (first, second) as each of _STATES says; None where none can."""
    columns = [[row[perspective] for row in group] for group in groups]
    held = [any(labels[n] for n in column) for column in columns]
    removed = [_removed(column, labels, free) for column in columns]
    added = [() if has else _added(column, free) for has, column in zip(held, columns, strict=True)]
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
