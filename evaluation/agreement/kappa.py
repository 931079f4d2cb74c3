"""Cohen's kappa of contingency tables, with an interval that holds where one label is rare.

The asymptotic variance of Fleiss, Cohen and Everitt (1969) is too small where few items have the rare label, and 0 where the
raters always agree. Here the cells of a table are multinomial, their probabilities have a Dirichlet prior, and the interval is
between the 2.5% and 97.5% quantiles of kappa under the posterior distribution, by simulation. The prior adds 1/k of an item to
each of the k cells of agreement, and half an item in all to the cells of disagreement: for two labels 1/2, 1/4, 1/4 and 1/2. It
was chosen among five by coverage; `tests/benchmarks/bench_intervals.py` measures it, for two labels.
"""

import numpy as np
import numpy.typing as npt

from berdseye.data.statistics import FEWEST_UNITS

Doubles = npt.NDArray[np.float64]
KAPPA_INTERVAL = "quantiles of a Dirichlet posterior distribution of the cells (1,000 draws)"
_DRAWS = 1000
_AT_ONCE = 64
_TAILS = (0.025, 0.975)


def cohen_kappa(tables: Doubles, *, seed: int = 0) -> tuple[Doubles, Doubles, Doubles]:
    """Compute Cohen's kappa (1960) of contingency tables [n_tables, k, k], and the ends of its 95% interval, each [n_tables].

    Kappa is NaN if both raters always give one and the same label. There is no interval then, nor for fewer than `FEWEST_UNITS`
    items. The interval covers the value, and does not depend on the other tables.
    """
    value = _kappa(np.moveaxis(tables, 0, -1))
    low, high = np.full(len(value), np.nan), np.full(len(value), np.nan)
    kept = np.flatnonzero(~np.isnan(value) & (tables.sum(axis=(1, 2)) >= FEWEST_UNITS))
    if len(kept):
        cells = [
            [_draws(tables[kept, i, j], i, j, tables.shape[1], seed) for j in range(tables.shape[1])]
            for i in range(tables.shape[1])
        ]
        for start in range(0, len(kept), _AT_ONCE):
            part = slice(start, start + _AT_ONCE)
            drawn = np.array([[draws[places[part]] for draws, places in row] for row in cells])
            ends = np.quantile(_kappa(drawn), _TAILS, axis=-1)
            low[kept[part]] = np.minimum(ends[0], value[kept[part]])
            high[kept[part]] = np.maximum(ends[1], value[kept[part]])
    return value, low, high


def _draws(counts: Doubles, i: int, j: int, k: int, seed: int) -> tuple[Doubles, npt.NDArray[np.int64]]:
    """Return gamma draws float64[n_distinct, draws] for each distinct count of a cell, and the place of each table's count.

    Tables with equal counts share draws; the draws of different cells of one table are independent.
    """
    distinct, places = np.unique(counts, return_inverse=True)
    prior = 1 / k if i == j else 1 / (2 * k * (k - 1))
    draws = [np.random.default_rng((seed, i, j, int(n))).standard_gamma(n + prior, size=_DRAWS) for n in distinct]
    return np.array(draws), places.astype(np.int64)


def _kappa(tables: Doubles) -> Doubles:
    """Return kappa [...] of tables [k, k, ...]."""
    with np.errstate(invalid="ignore", divide="ignore"):
        rows, columns = tables.sum(axis=1), tables.sum(axis=0)
        total = rows.sum(axis=0)
        chance = (rows * columns).sum(axis=0) / total**2
        agreed = sum(tables[i, i] for i in range(len(tables))) / total
        return np.where(chance >= 1, np.nan, (agreed - chance) / (1 - chance))
