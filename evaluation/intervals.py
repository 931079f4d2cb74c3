"""Means over questions with their confidence intervals."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from statsmodels.stats.proportion import proportion_confint

_RESAMPLES = 2000


class Estimate(NamedTuple):
    """A mean over n questions with a 95% interval."""

    value: float
    low: float
    high: float
    n: int


def mean_with_interval(
    values: npt.NDArray[np.float64], *, shares: bool = True, confidence: float = 0.95, seed: int = 0
) -> Estimate:
    """Mean of the values that are numbers, with an interval over questions.

    Values that are all 0 or 1 get Wilson's score interval (1927), which stays honest when all are equal, unless they are no
    `shares`: a count that happens to be 1 everywhere is none. Others get a percentile bootstrap (2,000 resamples, seeded).

    One question gives no interval: `low` and `high` are NaN; none gives NaN throughout.
    """
    known = values[~np.isnan(values)]
    if len(known) == 0:
        return Estimate(np.nan, np.nan, np.nan, 0)
    mean = float(known.mean())
    if len(known) == 1:
        return Estimate(mean, np.nan, np.nan, 1)
    if shares and np.isin(known, (0.0, 1.0)).all():
        low, high = proportion_confint(int(known.sum()), len(known), alpha=1 - confidence, method="wilson")
        return Estimate(mean, float(low), float(high), len(known))
    # The mean of a resample depends on how often each value is drawn; few distinct values make this a multinomial.
    distinct, counts = np.unique(known, return_counts=True)
    draws = np.random.default_rng(seed).multinomial(len(known), counts / len(known), size=_RESAMPLES)
    means = draws @ distinct / len(known)
    low, high = np.quantile(means, [(1 - confidence) / 2, (1 + confidence) / 2])
    return Estimate(mean, float(low), float(high), len(known))


def mean_of_means(estimates: Sequence[Estimate]) -> Estimate:
    """Unweighted mean of independent means; its interval is recovered from theirs (MOVER; Zou and Donner, 2008)."""
    values, lows, highs, counts = (np.array(column, dtype=np.float64) for column in zip(*estimates, strict=True))
    mean = float(values.mean())
    below = float(np.sqrt(((values - lows) ** 2).sum())) / len(values)
    above = float(np.sqrt(((highs - values) ** 2).sum())) / len(values)
    return Estimate(mean, mean - below, mean + above, int(counts.sum()))
