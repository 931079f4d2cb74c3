"""Rank sets: for each system the ranks that the data allow, so that all sets together hold the true ranks with 95% confidence.

A system is at best one place below every system that is significantly better, and at worst one place above every system that is
significantly worse. If all decisions on pairs of systems are right with 95% confidence, so are all sets (Mogstad, Romano, Shaikh
and Wilhelm, Review of Economic Studies 91, 2024, section 3). The decisions are paired t tests with Holm's correction over all
pairs. Systems that are truly equal may have any of the ranks that they share.
"""

from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from berdseye.data.statistics import holm

Doubles = npt.NDArray[np.float64]
_SMALL, _RARE = 10, 5
_DIGITS = 9


class Ranks(NamedTuple):
    """The best and the worst rank, from 1, that the data allow."""

    best: int
    worst: int

    def __str__(self) -> str:
        return f"{self.best}" if self.best == self.worst else f"{self.best}–{self.worst}"


def ranks_of(systems: Sequence[str], better: Iterable[tuple[str, str]]) -> dict[str, Ranks]:
    """Return the rank set of each system from the pairs (better, worse) that are decided."""
    above, below = dict.fromkeys(systems, 0), dict.fromkeys(systems, 0)
    for first, second in better:
        above[second] += 1
        below[first] += 1
    return {name: Ranks(1 + above[name], len(systems) - below[name]) for name in systems}


def decided_pairs(
    values: Mapping[str, Sequence[Doubles]],
    *,
    bounds: tuple[float, float] = (-1.0, 1.0),
    fewer_is_better: bool = False,
    confidence: float = 0.95,
) -> list[tuple[str, str]]:
    """Return the pairs of systems (better, worse) whose order is decided, all of them right with the confidence.

    `values` holds, for each system, one array a data set: the values by question, float64[n_questions] (NaN: none), or those
    under draws of uncertain labels, float64[n_draws, n_questions] (`evaluation.scores.posterior_draws`), drawn for all
    systems together. Compared are the means over data sets. The variance over draws of a difference adds to its variance
    over questions. `bounds` are the least and the largest difference of two values of a question.

    With fewer than 10 questions, or fewer than 5 differences that are not the most frequent one, the standard error is at least
    that of the sample with two further differences, at the bounds: few differences say little about their spread (the rule of
    `intervals.mean_with_interval`). A pair with fewer than two questions in a data set is not decided.
    """
    from scipy.special import stdtr

    pairs = list(combinations(values, 2))
    signs, p = [], []
    for first, second in pairs:
        parts = [_rows(a) - _rows(b) for a, b in zip(values[first], values[second], strict=True)]
        difference, error, freedom = _difference(parts, bounds)
        signs.append(difference)
        p.append(float("nan") if freedom < 1 else _p(difference, error, freedom, stdtr))
    decided = (
        (pair if (sign > 0) != fewer_is_better else pair[::-1], adjusted)
        for pair, sign, adjusted in zip(pairs, signs, holm(p), strict=True)
    )
    return [pair for pair, adjusted in decided if adjusted < 1 - confidence]


def _rows(values: Doubles) -> Doubles:
    return values[None] if values.ndim == 1 else values


def _difference(parts: Sequence[Doubles], bounds: tuple[float, float]) -> tuple[float, float, int]:
    """Return the mean over data sets of differences [n_draws, n_questions], its standard error, and the degrees of freedom (0
    with fewer than two questions in a data set)."""
    known = [part[:, ~np.isnan(part).any(axis=0)] for part in parts]
    if min(part.shape[1] for part in known) < 2:
        return 0.0, 0.0, 0
    expected = [part.mean(axis=0) for part in known]
    errors = [_error(np.round(part, _DIGITS), bounds) for part in expected]
    by_draw = np.mean([np.broadcast_to(part.mean(axis=1), max(map(len, known))) for part in known], axis=0)
    variance = float(np.sum(np.square(errors))) / len(known) ** 2 + float(by_draw.var())
    mean = float(np.mean([part.mean() for part in expected]))
    return mean, float(np.sqrt(variance)), sum(len(part) - 1 for part in expected)


def _error(differences: Doubles, bounds: tuple[float, float]) -> float:
    n = len(differences)
    error = float(differences.std(ddof=1) / np.sqrt(n))
    few = n < _SMALL or n - int(np.unique(differences, return_counts=True)[1].max()) < _RARE
    if not few:
        return error
    widened = np.append(differences, bounds)
    return float(max(error, widened.std(ddof=1) / np.sqrt(len(widened))))


def _p(difference: float, error: float, freedom: int, stdtr: "np.ufunc") -> float:
    if round(difference, _DIGITS) == 0:
        return 1.0
    return 0.0 if error == 0 else float(2 * stdtr(freedom, -abs(difference) / error))
