"""Cohen's kappa of contingency tables, with an interval that holds where one label is rare.

The asymptotic variance of Fleiss, Cohen and Everitt (1969) is too small where few items have the rare label, and 0 where the
raters always agree. Here the cells of a table are multinomial, their probabilities have a Dirichlet prior, and the interval is
between the 2.5% and 97.5% quantiles of kappa under the posterior distribution, by simulation. The prior adds 1/k of an item to
each of the k cells of agreement, and half an item in all to the cells of disagreement: for two labels 1/2, 1/4, 1/4 and 1/2. It was
chosen among five by coverage; `tests/benchmarks/bench_intervals.py` measures it.
"""

import numpy as np
import numpy.typing as npt

from berdseye.data.statistics import FEWEST_UNITS

Doubles = npt.NDArray[np.float64]
KAPPA_INTERVAL = "quantiles of a Dirichlet posterior distribution of the cells (1,000 draws)"
_DRAWS = 1000
_TAILS = (0.025, 0.975)


def cohen_kappa(tables: Doubles, *, seed: int = 0) -> tuple[Doubles, Doubles, Doubles]:
    """Compute Cohen's kappa (1960) of contingency tables [n_tables, k, k], and the ends of its 95% interval, each [n_tables].

    Kappa is NaN if both raters always give one and the same label. There is no interval then, nor for fewer than `FEWEST_UNITS`
    items. The interval covers the value, and does not depend on the other tables.
    """
    value = _kappa(tables)
    low, high = np.full(len(value), np.nan), np.full(len(value), np.nan)
    for place in np.flatnonzero(~np.isnan(value) & (tables.sum(axis=(1, 2)) >= FEWEST_UNITS)).tolist():
        table = tables[place]
        drawn = np.random.default_rng(seed).standard_gamma(table + _prior(len(table)), size=(_DRAWS, *table.shape))
        ends = np.nanquantile(_kappa(drawn), _TAILS)
        low[place], high[place] = min(ends[0], value[place]), max(ends[1], value[place])
    return value, low, high


def _prior(k: int) -> Doubles:
    apart = 1 / (2 * k * (k - 1))
    return np.full((k, k), apart) + np.eye(k) * (1 / k - apart)


def _kappa(tables: Doubles) -> Doubles:
    with np.errstate(invalid="ignore", divide="ignore"):
        p = tables / tables.sum(axis=(1, 2), keepdims=True)
        chance = (p.sum(axis=2) * p.sum(axis=1)).sum(axis=1)
        return np.where(chance >= 1, np.nan, (np.trace(p, axis1=1, axis2=2) - chance) / (1 - chance))
