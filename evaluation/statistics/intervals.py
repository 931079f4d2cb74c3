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
_NORMAL = 1.959964
_HALVINGS = 32


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
    """Compute the unweighted mean of independent means, with a 95% interval derived from theirs (`ends_of_sum`).

    The ends are NaN if a mean has no interval, and everything is NaN if one has no value. One mean alone is returned as it is.
    """
    if len(estimates) == 1:
        return estimates[0]
    values, lows, highs, counts = (np.array(column, dtype=np.float64) for column in zip(*estimates, strict=True))
    low, high = (end / len(values) for end in ends_of_sum(values, lows, highs, counts))
    mean = float(values.mean())
    return Estimate(mean, float(np.minimum(low, mean)), float(np.maximum(high, mean)), int(counts.sum()))


def ends_of_sum(values: Doubles, lows: Doubles, highs: Doubles, counts: Doubles) -> tuple[float, float]:
    """Return the ends of the 95% interval of a sum of independent means, from the interval of each.

    `values`, `lows`, `highs` and `counts` (of questions) are float64[n_means]. The rule is the score interval of a sum over
    strata (a test of each possible sum, with the most probable means that have it), for means whose variance changes with the
    mean. For z = 1.96, c = z^2 / n, and a mean x below its value that lies `below` and `above` from its ends, z^2 times the
    variance is taken as

        W(x) = (1 + c) (below above - (above - below) x) - c x^2,

    the parabola with the curvature of a share's variance that gives back both ends of the mean's own interval: W(below) =
    below^2, W(-above) = above^2. For Wilson's intervals it is z^2 p (1 - p) / n itself. The lower end is the sum of the values
    less the sum of the x = m W(x), with the one m for which m^2 (sum of W) = 1; the upper end is found likewise.

    MOVER (Zou and Donner, Statistics in Medicine 27, 2008) takes each variance at the end of the mean's own interval, which is
    further away than a sum of several goes. `tests/benchmarks/bench_averages.py` measures both.

    The ends enclose the sum of the values, and lie between the sums of the ends. They are NaN if an end or a value is.
    """
    below, above, c = values - lows, highs - values, _NORMAL**2 / np.maximum(counts, 1.0)
    value = float(values.sum())
    return value - _distance(below, above, c), value + _distance(above, below, c)


def _distance(near: Doubles, far: Doubles, c: Doubles) -> float:
    """Return the distance from a sum to its end, from the distances of the means to their ends on this side and the other."""
    if not np.isfinite(near + far).all():
        return float("nan")
    near, far = np.maximum(near, 0.0), np.maximum(far, 0.0)
    if not near.any():
        return 0.0
    least, most = 0.0, 1.0 / float(near.max())
    for _ in range(_HALVINGS):
        middle = (least + most) / 2
        # m (sum of x) is m^2 (sum of W), and increases with m. At the upper limit it is 1 for the largest x alone.
        least, most = (middle, most) if middle * _moved(near, far, c, middle).sum() < 1 else (least, middle)
    return float(np.minimum(_moved(near, far, c, most), near).sum())


def _moved(near: Doubles, far: Doubles, c: Doubles, m: float) -> Doubles:
    """Return the x = m W(x) of each mean, the root that is not negative, float64[n_means]."""
    linear, constant = 1 + m * (1 + c) * (far - near), m * (1 + c) * near * far
    root = np.sqrt(linear**2 + 4 * m * c * constant)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(linear > 0, 2 * constant / (linear + root), (root - linear) / (2 * m * c))
