"""Means over questions with their confidence intervals."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from statsmodels.stats.proportion import proportion_confint

Doubles = npt.NDArray[np.float64]
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
    means = resampled_means(known, _RESAMPLES, np.random.default_rng(seed))
    low, high = np.quantile(means, [(1 - confidence) / 2, (1 + confidence) / 2])
    return Estimate(mean, float(low), float(high), len(known))


def resampled_means(values: Doubles, resamples: int, random: np.random.Generator) -> Doubles:
    """Means float64[resamples, ...] of bootstrap samples of `values` float64[n, ...], drawn with their rows together; n > 0."""
    # How often each distinct row is drawn is multinomial, and measures take few values.
    distinct, counts = np.unique(values, axis=None if values.ndim == 1 else 0, return_counts=True)
    draws = random.multinomial(len(values), counts / len(values), size=resamples)
    return np.asarray(draws @ distinct / len(values), dtype=np.float64)


def mean_of_means(estimates: Sequence[Estimate]) -> Estimate:
    """Unweighted mean of independent means; its interval is recovered from theirs (MOVER; Zou and Donner, 2008)."""
    values, lows, highs, counts = (np.array(column, dtype=np.float64) for column in zip(*estimates, strict=True))
    mean = float(values.mean())
    below = float(np.sqrt(((values - lows) ** 2).sum())) / len(values)
    above = float(np.sqrt(((highs - values) ** 2).sum())) / len(values)
    return Estimate(mean, mean - below, mean + above, int(counts.sum()))
