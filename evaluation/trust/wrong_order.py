"""The chance that two systems are in the wrong order: from the questions asked, from labels that may be wrong, from both."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from berdseye.data.errors import BadInputError
from berdseye.evaluation.statistics.intervals import resampled_means

Doubles = npt.NDArray[np.float64]
_DIGITS = 12


class WrongOrder(NamedTuple):
    """Chances in [0, 1] that the other system is the better one; a tie counts half. NaN where the two are tied now.

    `questions`: other questions of the same kind might have been asked (bootstrap over questions, labels as they are).
    `labels`: labels that nobody settled might be wrong (drawn by their chances, questions as they are). `both`: at once.
    """

    questions: float
    labels: float
    both: float


def wrong_order(
    now: Doubles, drawn: Doubles, first: int, second: int, *, resamples: int = 2000, seed: int = 0
) -> WrongOrder:
    """Of two systems, from values float64[n_systems, n_questions] now and float64[n_draws, n_systems, n_questions] drawn.

    Questions that either system has no value for are left out of the order now, and those without perspectives (NaN under
    every label) of the draws.
    """
    known = ~np.isnan(now[[first, second]]).any(axis=0)
    if not known.any():
        raise BadInputError("No question has a value for both systems.", hint="Judge some of their pairs.")
    differences = now[first, known] - now[second, known]
    order = _sign(differences.sum())
    if order == 0:
        return WrongOrder(np.nan, np.nan, np.nan)
    random = np.random.default_rng(seed)
    resampled = resampled_means(np.round(differences, _DIGITS), resamples, random)
    within = ~np.isnan(drawn[:, [first, second]]).any(axis=(0, 1))
    deltas = drawn[:, first][:, within] - drawn[:, second][:, within]
    weights = random.multinomial(deltas.shape[1], np.full(deltas.shape[1], 1 / deltas.shape[1]), size=len(deltas))
    return WrongOrder(
        chance_against(order, resampled),
        chance_against(order, deltas.sum(axis=1)),
        chance_against(order, (weights * deltas).sum(axis=1)),
    )


def chance_against(order: int, differences: Doubles) -> float:
    """The share of differences, sums or means, whose sign is against `order` (1 or -1); 0 counts half."""
    signs = np.sign(np.round(differences, _DIGITS))
    return float((signs == -order).mean() + (signs == 0).mean() / 2)


def _sign(value: float) -> int:
    return int(np.sign(round(float(value), _DIGITS)))
