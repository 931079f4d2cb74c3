"""Holm's correction of p values for their number (1979).

That of statsmodels collects all garbage first, which takes a page with a lot in memory half a second; the tests hold these few
lines equal to it.
"""

from collections.abc import Sequence

import numpy as np


def holm(p: Sequence[float]) -> list[float]:
    """The corrected p values, in the order of `p`; NaN stays NaN and counts for nothing."""
    values = np.asarray(p, dtype=np.float64)
    known = np.flatnonzero(~np.isnan(values))
    order = known[np.argsort(values[known], kind="stable")]
    raised = np.maximum.accumulate(values[order] * np.arange(len(order), 0, -1))
    corrected = np.full(len(values), np.nan)
    corrected[order] = np.minimum(raised, 1.0)
    return [float(value) for value in corrected]
