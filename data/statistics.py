"""Holm's correction of p values for their number (1979).

That of statsmodels collects all garbage first, which takes a page with a lot in memory half a second; the tests hold these few
lines equal to it.

The interval of a figure from its bootstrap, and when there is none to show.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import stats

FEWEST_UNITS = 5
"""Below so many independent units (items, questions) a bootstrap says too little for an interval."""
NO_INTERVAL = f"none: fewer than {FEWEST_UNITS} units, or all resamples alike"
_SAME = 1e-12


def bootstrap_interval(
    resampled: npt.NDArray[np.float64], units: int, *, confidence: float = 0.95
) -> tuple[float, float]:
    """The ends of a percentile interval from a figure's values float64[resamples], which were drawn over `units` of a sample.

    A percentile interval is too narrow for a small sample, by the same factor as a normal interval with the sample's own
    standard deviation. So its percentiles are those of Student's distribution, put further out (the expanded percentile
    interval of Hesterberg, The American Statistician 69, 2015, section 5.3).

    (nan, nan), for no interval, below `FEWEST_UNITS`, where most resamples leave the figure undefined, and where all of them are
    alike: resamples of a sample without a difference say nothing of the difference that other samples would have.
    """
    nothing = (float("nan"), float("nan"))
    if units < FEWEST_UNITS or len(resampled) == 0 or np.isnan(resampled).mean() > 0.5:
        return nothing
    tail = expanded_tail(units, confidence)
    low, high = np.nanquantile(resampled, [tail, 1 - tail])
    return nothing if not high - low > _SAME else (float(low), float(high))


def expanded_tail(units: int, confidence: float = 0.95) -> float:
    """The share of resamples beyond either end; (1 - confidence) / 2 for a large sample."""
    spread: Any = stats.t.ppf((1 + confidence) / 2, units - 1) * np.sqrt(units / (units - 1))
    return float(stats.norm.cdf(-spread))


def holm(p: Sequence[float]) -> list[float]:
    """The corrected p values, in the order of `p`; NaN stays NaN and counts for nothing."""
    values = np.asarray(p, dtype=np.float64)
    known = np.flatnonzero(~np.isnan(values))
    order = known[np.argsort(values[known], kind="stable")]
    raised = np.maximum.accumulate(values[order] * np.arange(len(order), 0, -1))
    corrected = np.full(len(values), np.nan)
    corrected[order] = np.minimum(raised, 1.0)
    return [float(value) for value in corrected]
