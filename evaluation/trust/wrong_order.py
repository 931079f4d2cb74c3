"""The probability that two systems are in the wrong order because of the sample of questions, of uncertain labels, or of both."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from berdseye.data.errors import BadInputError
from berdseye.evaluation.statistics.intervals import resampled_means

Doubles = npt.NDArray[np.float64]
_DIGITS = 12


class WrongOrder(NamedTuple):
    """Probabilities that the other system is better, in [0, 1]; a tie counts half. NaN if the two systems are tied now.

    `questions`: under other questions of the same kind (bootstrap over questions, current labels). `labels`: under uncertain
    labels (drawn by their probabilities, current questions). `both`: under both at once.
    """

    questions: float
    labels: float
    both: float


def wrong_order(
    now: Doubles, drawn: Doubles, first: int, second: int, *, resamples: int = 2000, seed: int = 0
) -> WrongOrder:
    """Compute the probabilities for two systems from the current values `now` float64[n_systems, n_questions] and the values
    under drawn labels `drawn` float64[n_draws, n_systems, n_questions].

    The current order leaves out questions without a value for both systems; the draws leave out questions without perspectives
    (NaN under all labels). Raises `BadInputError` if no question has a value for both systems.
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
    """Return the share of differences (sums or means) whose sign is opposite to `order` (1 or -1); 0 counts half."""
    signs = np.sign(np.round(differences, _DIGITS))
    return float((signs == -order).mean() + (signs == 0).mean() / 2)


def _sign(value: float) -> int:
    return int(np.sign(round(float(value), _DIGITS)))
