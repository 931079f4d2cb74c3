"""Significance of differences between systems: paired tests over questions, corrected for their number, and letters that systems
share if they do not differ significantly (the compact letter display).
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import combinations, product
from math import comb
from string import ascii_lowercase
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from berdseye.data.errors import BadInputError, UnknownNameError
from berdseye.data.statistics import holm
from berdseye.evaluation.statistics.intervals import mean_ends, resampled_means

Test = Literal["t", "randomisation", "bootstrap"]
TESTS: tuple[Test, ...] = ("randomisation", "t", "bootstrap")
"""The paired tests; the first one is the default everywhere, so that pages and commands agree."""
TEST_NAMES: Mapping[Test, str] = {
    "randomisation": "the paired randomisation test",
    "t": "Student's paired t test",
    "bootstrap": "the paired bootstrap test",
}
CORRECTIONS = ("holm", "bonferroni", "fdr_bh", "none")
_RESAMPLES = 9_999
_AT_ONCE = 500
_MOST_SUMS = 200_000
"""The most distinct sums of signed differences that the randomisation test enumerates, in well under a second."""
_ROUNDING = 1e-9
_LEVEL = 0.05


class Comparison(NamedTuple):
    """The difference system `a` minus system `b` over the `n` questions for which both have a value.

    `low` and `high` are the 95% interval (NaN: none); `p` is that of the chosen test, `adjusted` the corrected p. `left_out`
    counts the questions for which one of the two has no value.
    """

    a: str
    b: str
    difference: float
    low: float
    high: float
    n: int
    left_out: int
    test: Test
    p: float
    adjusted: float

    @property
    def reversed(self) -> "Comparison":
        """The comparison with the systems exchanged."""
        return self._replace(a=self.b, b=self.a, difference=-self.difference, low=-self.high, high=-self.low)

    @property
    def significant(self) -> bool:
        return self.adjusted < _LEVEL


def compare(
    values: Mapping[str, npt.NDArray[np.float64]],
    *,
    test: Test = "randomisation",
    correction: str = "holm",
    intervals: bool = True,
    bounds: tuple[float, float] | None = None,
    seed: int = 0,
) -> list[Comparison]:
    """Compare every pair of systems, from their values by question float64[n_questions], in one order for all; NaN if missing.

    The tests are Student's paired t test, Fisher's randomisation of signs, and the bootstrap with its distribution shifted to no
    difference, the three that Smucker, Allan and Carterette (CIKM 2007) compare; two-sided, 9,999 resamples. The randomisation
    test is exact where few questions or few distinct differences allow to enumerate all signs. Corrections are
    those of statsmodels' `multipletests`; Holm's, from `data.statistics`, equals it. Two systems with equal values on all
    questions have p = 1. Intervals are those of `berdseye.evaluation.statistics.intervals.mean_with_interval`; `bounds`
    are the least and the largest
    difference of two values, such as (-1, 1) for shares; without them, small samples have no interval. Without `intervals`, `low`
    and `high` are NaN, which makes the t test much faster. Raises `UnknownNameError` for an unknown test or correction, and
    `BadInputError` for values of different length.
    """
    if test not in TESTS:
        raise UnknownNameError("test", test, TESTS)
    if len({len(v) for v in values.values()}) > 1:
        raise BadInputError("The systems have values for different questions.", hint="Align them by question first.")
    pairs = {(a, b): values[a] - values[b] for a, b in combinations(values, 2)}
    known = [differences[~np.isnan(differences)] for differences in pairs.values()]
    chances = _randomisations(known, seed) if test == "randomisation" else [np.nan] * len(known)
    comparisons = [
        _pair(a, b, differences, test, chance, intervals, bounds, seed)
        for ((a, b), differences), chance in zip(pairs.items(), chances, strict=True)
    ]
    return adjusted(comparisons, correction)


def adjusted(comparisons: Sequence[Comparison], correction: str) -> list[Comparison]:
    """Correct the p of comparisons for the number of comparisons that have one; raises `UnknownNameError` for an unknown
    correction."""
    if correction not in CORRECTIONS:
        raise UnknownNameError("correction", correction, CORRECTIONS)
    p = np.array([c.p for c in comparisons])
    known = ~np.isnan(p)
    if known.sum() > 1 and correction != "none":
        p[known] = holm(p[known].tolist()) if correction == "holm" else _by_statsmodels(p[known], correction)
    return [c._replace(adjusted=float(value)) for c, value in zip(comparisons, p, strict=True)]


def _by_statsmodels(p: npt.NDArray[np.float64], correction: str) -> npt.NDArray[np.float64]:
    from statsmodels.stats.multitest import multipletests  # takes a second to load

    return np.asarray(multipletests(p, method=correction)[1])


def withheld_difference(comparison: Comparison) -> Comparison:
    """Return the comparison without its figures, for systems with too few labelled pairs
    (`berdseye.evaluation.scores.enough_judged`)."""
    nothing = float("nan")
    return comparison._replace(difference=nothing, low=nothing, high=nothing, p=nothing, adjusted=nothing)


def aligned(
    systems: Mapping[str, Mapping[str, float]],
) -> tuple[list[str], dict[str, npt.NDArray[np.float64]]]:
    """Return the questions of all systems in the order of their first occurrence, and the values of each system in this order
    (NaN: no value)."""
    questions = list(dict.fromkeys(q for values in systems.values() for q in values))
    return questions, {
        name: np.array([values.get(q, np.nan) for q in questions], dtype=np.float64) for name, values in systems.items()
    }


def _pair(
    a: str,
    b: str,
    differences: npt.NDArray[np.float64],
    test: Test,
    p: float,
    intervals: bool,
    bounds: tuple[float, float] | None,
    seed: int,
) -> Comparison:
    known = differences[~np.isnan(differences)]
    n, left_out = len(known), int(np.isnan(differences).sum())
    mean = float(known.mean()) if n else np.nan
    if n < 2:
        return Comparison(a, b, mean, np.nan, np.nan, n, left_out, test, np.nan, np.nan)
    means: npt.NDArray[np.float64] = np.zeros(0)
    low, high = np.nan, np.nan
    if intervals or test == "bootstrap":
        means = resampled_means(known, _RESAMPLES, np.random.default_rng(seed))
        low, high = mean_ends(known, means, bounds)
    if not known.any():
        return Comparison(a, b, 0.0, low, high, n, left_out, test, 1.0, 1.0)
    match test:
        case "t":
            # Equal differences everywhere have no variance, and no chance to be chance.
            from scipy import stats  # takes half a second to load

            p = 0.0 if np.ptp(known) == 0 else float(stats.ttest_1samp(known, 0).pvalue)
        case "randomisation":
            pass  # its p is given, since it is found for many pairs at once
        case "bootstrap":
            extreme = np.abs(means - mean) >= abs(mean) - _ROUNDING
            p = float((extreme.sum() + 1) / (len(means) + 1))
    return Comparison(a, b, mean, float(low), float(high), n, left_out, test, p, np.nan)


def _randomisations(pairs: Sequence[npt.NDArray[np.float64]], seed: int) -> list[float]:
    """Return p of the randomisation test for the differences of each pair of systems.

    It is exact where few questions or few distinct differences allow it. The others of equal length share their random signs,
    which are drawn once; the order of the questions does not matter.
    """
    out = [np.nan] * len(pairs)
    drawn: dict[int, list[int]] = defaultdict(list)
    for place, known in enumerate(pairs):
        # For differences of equal size, the number of positive signs is binomial, and measures have few distinct differences.
        sizes, counts = np.unique(np.abs(known[known != 0]), return_counts=True)
        if np.prod(counts + 1.0) <= _MOST_SUMS:
            out[place] = _exact_randomisation(sizes, counts, abs(float(known.sum())))
        else:
            drawn[len(known)].append(place)
    for length, places in drawn.items():
        sizes = np.stack([np.sort(np.abs(pairs[place])) for place in places], axis=1)
        observed = np.abs([float(pairs[place].sum()) for place in places]) - _ROUNDING
        random, extreme = np.random.default_rng(seed), np.zeros(len(places), dtype=np.int64)
        for start in range(0, _RESAMPLES, _AT_ONCE):
            rows = min(_AT_ONCE, _RESAMPLES - start)
            signs = random.integers(0, 2, size=(rows, length), dtype=np.int8) * 2.0 - 1
            extreme += (np.abs(signs @ sizes) >= observed).sum(axis=0)
        for place, count in zip(places, extreme.tolist(), strict=True):
            out[place] = (count + 1) / (_RESAMPLES + 1)
    return out


def _exact_randomisation(sizes: npt.NDArray[np.float64], counts: npt.NDArray[np.int64], observed: float) -> float:
    """The probability of a sum of signed sizes at least as far from 0 as `observed`, over all signs, which are equally likely."""
    sums, chances = np.zeros(1), np.ones(1)
    for size, count in zip(sizes.tolist(), counts.tolist(), strict=True):
        positive = np.arange(count + 1)
        ways = np.array([comb(count, number) for number in range(count + 1)], dtype=np.float64) / 2.0**count
        sums = (sums[:, None] + size * (2 * positive - count)).ravel()
        chances = (chances[:, None] * ways).ravel()
    return min(1.0, float(chances[np.abs(sums) >= observed - _ROUNDING].sum()))


def inseparable(best_first: Sequence[str], comparisons: Sequence[Comparison]) -> list[list[str]]:
    """Return the maximal groups of systems of which no two differ significantly, groups with the best members first.

    They are the maximal cliques of the graph whose edges join systems without a significant difference (Gramm et al.,
    Computational Statistics and Data Analysis, 2007). A system may be in several groups; one that differs from all others is
    alone in a group. Two systems in a group are not necessarily equally good: these questions do not show which is better.
    """
    import networkx as nx

    apart: nx.Graph[str] = nx.Graph()
    apart.add_nodes_from(best_first)
    apart.add_edges_from((c.a, c.b) for c in comparisons if c.significant and c.a in apart and c.b in apart)
    place = {name: number for number, name in enumerate(best_first)}
    groups = [sorted(group, key=place.__getitem__) for group in nx.find_cliques(nx.complement(apart))]
    return sorted(groups, key=lambda group: [place[name] for name in group])


def letters(best_first: Sequence[str], comparisons: Sequence[Comparison]) -> dict[str, str]:
    """Return the compact letter display (Piepho, Journal of Computational and Graphical Statistics, 2004): one letter per group
    of `inseparable`, so that two systems share a letter exactly if they do not differ significantly."""
    display = dict.fromkeys(best_first, "")
    names = (name for size in (1, 2, 3) for name in map("".join, product(ascii_lowercase, repeat=size)))
    groups = inseparable(best_first, comparisons)
    several = len(groups) > len(ascii_lowercase)
    for letter, group in zip(names, groups, strict=False):
        for name in group:
            display[name] += f" {letter}" if several and display[name] else letter
    return display
