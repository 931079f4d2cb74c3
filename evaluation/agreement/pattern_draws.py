"""Intervals of Fleiss' kappa and Krippendorff's alpha that hold where one label is rare.

A bootstrap over items is too narrow there: few items have the rare label, and resamples repeat them. Here, as for Cohen's kappa
(`berdseye.evaluation.agreement.kappa`), the patterns of labels are multinomial, their probabilities have a Dirichlet prior, and
the interval is between the 2.5% and 97.5% quantiles of the coefficient under the posterior distribution, by simulation.

For items with m labels of q values, the prior adds 4 / (m + 2) items in all to the q patterns in which every rater gives the
same label, and half an item in all to the patterns of two labels. For two raters this is the prior of Cohen's kappa. With more
raters, an item on which all agree says more about agreement, and therefore has less prior weight. Items with different numbers
of labels share the prior in proportion to their numbers. The prior was chosen among nine by coverage, which
`tests/benchmarks/bench_intervals.py` measures.

With more than three raters, no one prior suits both little and much agreement: little prior weight on unanimous items leaves the
interval of a high coefficient too low, and much weight that of a low one too high. The interval therefore also covers the one
with the prior of three raters, and the quantiles of the first are moved outwards as those of a bootstrap
(`berdseye.data.statistics.expanded_tail`).
"""

from itertools import combinations

import numpy as np

from berdseye.data.statistics import FEWEST_UNITS, expanded_tail
from berdseye.evaluation.agreement.alignment import Ints
from berdseye.evaluation.agreement.coefficients import Coefficient, Doubles

_DRAWS = 4000
_POPULATION = 1e9
"""The items that a draw stands for: alpha's correction for a small sample is no part of its value in the population."""
_TAIL, _FEW = 0.025, 3
PATTERN_INTERVAL = f"quantiles of a Dirichlet posterior distribution of the label patterns ({_DRAWS:,} draws)"


def pattern_interval(
    counts: Ints, times: Doubles, form: Coefficient, value: float, *, draws: int = _DRAWS, seed: int = 0
) -> tuple[float, float]:
    """Return the ends of the 95% interval of a coefficient over items with two or more labels each.

    `counts` int64[n_patterns, n_values] are distinct patterns, `times` float64[n_patterns] how many items have each, and `value`
    the coefficient itself, which the interval covers. (nan, nan) if the coefficient is undefined, and for fewer than
    `FEWEST_UNITS` items.
    """
    if np.isnan(value) or times.sum() < FEWEST_UNITS:
        return float("nan"), float("nan")
    ends = [value]
    many = bool(counts.sum(axis=1).max() > _FEW)
    tail = expanded_tail(int(times.sum())) if many else _TAIL
    for most, beyond in ((None, tail), (_FEW, _TAIL)) if many else ((None, tail),):
        patterns, weights = _posterior(counts, times, most)
        drawn = np.random.default_rng(seed).standard_gamma(weights, size=(draws, len(weights)))
        drawn *= _POPULATION / drawn.sum(axis=1, keepdims=True)
        ends += np.nanquantile(form(patterns, drawn), (beyond, 1 - beyond)).tolist()
    return float(min(ends)), float(max(ends))


def _posterior(counts: Ints, times: Doubles, most: int | None = None) -> tuple[Ints, Doubles]:
    """Return the patterns that have a prior or an item, and the parameter of each.

    `most`: the prior of unanimous items is that for at most so many raters.
    """
    raters, q = counts.sum(axis=1), counts.shape[1]
    parameters = dict.fromkeys(map(tuple, counts.tolist()), 0.0)
    for m in np.unique(raters).tolist():
        share = float(times[raters == m].sum() / times.sum())
        divided = [(i, j, votes) for i, j in combinations(range(q), 2) for votes in range(1, m)]
        unanimous = 4 / (min(m, most or m) + 2)
        prior = {_pattern(q, {i: m}): unanimous / q for i in range(q)}
        prior |= {_pattern(q, {i: votes, j: m - votes}): 0.5 / len(divided) for i, j, votes in divided}
        for pattern, weight in prior.items():
            parameters[pattern] = parameters.get(pattern, 0.0) + share * weight
    for pattern, frequency in zip(map(tuple, counts.tolist()), times.tolist(), strict=True):
        parameters[pattern] += frequency
    return np.array(list(parameters), dtype=np.int64), np.array(list(parameters.values()))


def _pattern(q: int, votes: dict[int, int]) -> tuple[int, ...]:
    return tuple(votes.get(value, 0) for value in range(q))
