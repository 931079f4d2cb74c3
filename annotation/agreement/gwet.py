"""Gwet's AC1 with his variance.

The package irrCAC holds back numpy, pandas and scipy to old versions, so that these few lines stand in its place; the tests hold
them to its published examples. Gwet (2008), "Computing inter-rater reliability and its variance in the presence of high
agreement", British Journal of Mathematical and Statistical Psychology 61; missing labels as in his Handbook (2014), chapter 5.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.stats import t

Doubles = npt.NDArray[np.float64]


class Ac1(NamedTuple):
    """AC1 with its standard error and 95% interval (t with n - 1 degrees of freedom), each float64[...]."""

    value: Doubles
    error: Doubles
    low: Doubles
    high: Doubles


def ac1(counts: npt.NDArray[np.int64], times: Doubles) -> Ac1:
    """AC1 of items that fall into patterns.

    `counts` int64[n_patterns, q]: how many raters gave each of the q values, one rater at least; `times` [..., n_patterns]: how
    many items have the pattern, for one data set or several at once. NaN where no item has two labels, and where q is 1.
    """
    raters = counts.sum(axis=1)
    pairable = (raters > 1).astype(np.float64)
    share = counts / raters[:, None]
    agree = (counts * (counts - 1)).sum(axis=1) / np.maximum(raters * (raters - 1), 1)
    with np.errstate(invalid="ignore", divide="ignore"):
        n, n_pairable = times.sum(axis=-1), times @ pairable
        observed = times @ agree / n_pairable
        prevalence = times @ share / n[..., None]
        chance = (prevalence * (1 - prevalence)).sum(axis=-1) / (counts.shape[1] - 1)
        value = (observed - chance) / (1 - chance)
        own = (n / n_pairable)[..., None] * (agree - chance[..., None] * pairable) / (1 - chance)[..., None]
        own_chance = prevalence @ (1 - share).T / (counts.shape[1] - 1)
        pull = 2 * ((1 - value) / (1 - chance))[..., None] * (own_chance - chance[..., None])
        variance = (times * (own - pull - value[..., None]) ** 2).sum(axis=-1) / (n * (n - 1))
        error = np.sqrt(variance)
        half = t.ppf(0.975, np.maximum(n - 1, 1)) * error
    return Ac1(value, error, np.maximum(value - half, -1.0), np.minimum(value + half, 1.0))
