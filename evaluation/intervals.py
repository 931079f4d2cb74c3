"""Means over questions with their confidence intervals."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

_RESAMPLES = 2000


class Estimate(NamedTuple):
    """A mean over n questions with a 95% interval."""

    value: float
    low: float
    high: float
    n: int


def bootstrap_mean(values: npt.NDArray[np.float64], *, confidence: float = 0.95, seed: int = 0) -> Estimate:
    """Mean of the values that are numbers, with a percentile bootstrap interval over questions (2,000 resamples, seeded).

    One question gives no interval: `low` and `high` are NaN; none gives NaN throughout.
    """
    known = values[~np.isnan(values)]
    if len(known) == 0:
        return Estimate(np.nan, np.nan, np.nan, 0)
    mean = float(known.mean())
    if len(known) == 1:
        return Estimate(mean, np.nan, np.nan, 1)
    # The mean of a resample depends on how often each value is drawn; few distinct values make this a multinomial.
    distinct, counts = np.unique(known, return_counts=True)
    draws = np.random.default_rng(seed).multinomial(len(known), counts / len(known), size=_RESAMPLES)
    means = draws @ distinct / len(known)
    low, high = np.quantile(means, [(1 - confidence) / 2, (1 + confidence) / 2])
    return Estimate(mean, float(low), float(high), len(known))
