"""Bootstrap intervals, and Holm's correction of p values for multiple testing (1979)."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

FEWEST_UNITS = 5
"""Fewest independent units (items, questions) for an interval; a bootstrap over fewer is not informative."""
NO_INTERVAL = f"none: fewer than {FEWEST_UNITS} units, or all resamples alike"
_SAME = 1e-12


def bootstrap_interval(
    resampled: npt.NDArray[np.float64], units: int, *, confidence: float = 0.95
) -> tuple[float, float]:
    """The ends of a percentile interval from the values float64[resamples] of a statistic, resampled over `units` units.

    A percentile interval is too narrow for a small sample, by the same factor as a normal interval with the sample's own
    standard deviation. Its percentiles are therefore moved outwards to those of Student's distribution (the expanded
    percentile interval of Hesterberg, The American Statistician 69, 2015, section 5.3).

    Returns (nan, nan), no interval, below `FEWEST_UNITS`, if the statistic is undefined in most resamples, and if all resamples
    are equal: resamples of a sample without variation say nothing about the variation between samples.
    """
    nothing = (float("nan"), float("nan"))
    if units < FEWEST_UNITS or len(resampled) == 0 or np.isnan(resampled).mean() > 0.5:
        return nothing
    tail = expanded_tail(units, confidence)
    low, high = np.nanquantile(resampled, [tail, 1 - tail])
    return nothing if not high - low > _SAME else (float(low), float(high))


def expanded_tail(units: int, confidence: float = 0.95) -> float:
    """The share of resamples beyond either end of the interval; it approaches (1 - confidence) / 2 for large samples."""
    from scipy.special import ndtr, stdtrit  # the functions behind scipy.stats, which takes ten times as long to load

    spread = stdtrit(units - 1, (1 + confidence) / 2) * np.sqrt(units / (units - 1))
    return float(ndtr(-spread))


def holm(p: Sequence[float]) -> list[float]:
    """The p values corrected by Holm's method, in the order of `p`; NaN stays NaN and does not count.

    The implementation in statsmodels runs the garbage collector first, which takes half a second in a page with much in
    memory; the tests check that this one returns equal values.
    """
    values = np.asarray(p, dtype=np.float64)
    defined = np.flatnonzero(~np.isnan(values))
    order = defined[np.argsort(values[defined], kind="stable")]
    raised = np.maximum.accumulate(values[order] * np.arange(len(order), 0, -1))
    corrected = np.full(len(values), np.nan)
    corrected[order] = np.minimum(raised, 1.0)
    return [float(value) for value in corrected]
