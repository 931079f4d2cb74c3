"""Means over questions with confidence intervals."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from berdseye.data.statistics import bootstrap_interval

Doubles = npt.NDArray[np.float64]
_RESAMPLES = 2000
_SMALL, _RARE = 10, 5
_DIGITS = 12


class Estimate(NamedTuple):
    """A mean over n questions with a 95% interval."""

    value: float
    low: float
    high: float
    n: int


def mean_with_interval(
    values: npt.NDArray[np.float64],
    *,
    bounds: tuple[float, float] | None = (0.0, 1.0),
    confidence: float = 0.95,
    seed: int = 0,
) -> Estimate:
    """Compute the mean of the values that are not NaN, with an interval over questions.

    `bounds` are the least and the largest value that a question can have; None for unbounded values.

    Values that are all 0 or 1, the bounds of a share, have Wilson's score interval (1927). Others have a percentile bootstrap
    interval (2,000 resamples, seeded; `berdseye.data.statistics`). Small samples make bootstrap intervals too narrow, and equal
    values give them no width at all. Therefore, with fewer than 10 values, or fewer than 5 that differ from the most frequent
    one, the interval also covers Student's interval with two values added, one at each bound (following Agresti and Coull, The
    American Statistician 52, 1998, for values between bounds). Unbounded values have no interval in these cases.

    With one question, `low` and `high` are NaN; with none, everything is NaN.
    """
    known = values[~np.isnan(values)]
    n = len(known)
    if n == 0:
        return Estimate(np.nan, np.nan, np.nan, 0)
    mean = float(known.mean())
    if n == 1:
        return Estimate(mean, np.nan, np.nan, 1)
    if bounds == (0.0, 1.0) and np.isin(known, (0.0, 1.0)).all():
        from statsmodels.stats.proportion import proportion_confint  # takes a second to load

        low, high = proportion_confint(int(known.sum()), n, alpha=1 - confidence, method="wilson")
        return Estimate(mean, min(float(low), mean), max(float(high), mean), n)
    means = resampled_means(known, _RESAMPLES, np.random.default_rng(seed))
    low, high = mean_ends(known, means, bounds, confidence=confidence)
    return Estimate(mean, float(np.minimum(low, mean)), float(np.maximum(high, mean)), n)


def mean_ends(
    known: Doubles, means: Doubles, bounds: tuple[float, float] | None, *, confidence: float = 0.95
) -> tuple[float, float]:
    """Return the ends of the interval of a mean by the rule of `mean_with_interval`.

    `known` holds the values float64[n], n > 1, and `means` the means float64[resamples] of their bootstrap samples.
    """
    low, high = bootstrap_interval(means, len(known), confidence=confidence)
    commonest = int(np.unique(np.round(known, _DIGITS), return_counts=True)[1].max())
    if len(known) >= _SMALL and len(known) - commonest >= _RARE:
        return low, high
    if bounds is None:
        return float("nan"), float("nan")
    from scipy.special import stdtrit

    lowest, highest = bounds
    widened = np.append(known, bounds)
    error = float(widened.std(ddof=1)) / np.sqrt(len(widened))
    half = float(stdtrit(len(widened) - 1, (1 + confidence) / 2)) * error
    centre = float(widened.mean())
    ends = max(centre - half, lowest), min(centre + half, highest)
    return float(np.fmin(low, ends[0])), float(np.fmax(high, ends[1]))


def resampled_means(values: Doubles, resamples: int, random: np.random.Generator) -> Doubles:
    """Return the means float64[resamples, ...] of bootstrap samples of the rows of `values` float64[n, ...]; n > 0."""
    # The frequencies of distinct rows in a sample are multinomial, and measures have few distinct values.
    distinct, counts = np.unique(values, axis=None if values.ndim == 1 else 0, return_counts=True)
    draws = random.multinomial(len(values), counts / len(values), size=resamples)
    return np.asarray(draws @ distinct / len(values), dtype=np.float64)


def mean_of_means(estimates: Sequence[Estimate]) -> Estimate:
    """Compute the unweighted mean of independent means; its interval is recovered from theirs (MOVER; Zou and Donner, 2008)."""
    values, lows, highs, counts = (np.array(column, dtype=np.float64) for column in zip(*estimates, strict=True))
    mean = float(values.mean())
    below = float(np.sqrt(((values - lows) ** 2).sum())) / len(values)
    above = float(np.sqrt(((highs - values) ** 2).sum())) / len(values)
    return Estimate(mean, mean - below, mean + above, int(counts.sum()))
