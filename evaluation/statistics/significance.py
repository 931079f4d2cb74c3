"""Is one system better than another, or is it chance? Paired tests over questions, corrected for their number.

Which systems cannot be told apart: letters beside them, as statisticians set them beside treatments.
"""

from collections.abc import Mapping, Sequence
from itertools import combinations, product
from string import ascii_lowercase
from typing import Literal, NamedTuple

import networkx as nx
import numpy as np
import numpy.typing as npt
from scipy import stats
from statsmodels.stats.multitest import multipletests

from berdseye.data.errors import BadInputError, UnknownNameError
from berdseye.data.statistics import holm
from berdseye.evaluation.statistics.intervals import mean_ends, resampled_means

Test = Literal["t", "randomisation", "bootstrap"]
TESTS: tuple[Test, ...] = ("t", "randomisation", "bootstrap")
CORRECTIONS = ("holm", "bonferroni", "fdr_bh", "none")
_RESAMPLES = 9_999
_AT_ONCE = 500
_ROUNDING = 1e-9
_LEVEL = 0.05


class Comparison(NamedTuple):
    """System `a` minus system `b` over the `n` questions that both have a value for.

    `low` and `high` are the 95% interval (NaN: none); `p` is of the chosen test, `adjusted` after the correction. `left_out`
    counts the questions that one of the two has no value for.
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
        """The same seen from the other system."""
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
    """Every pair of systems, from their values by question float64[n_questions], in one order for all; NaN where missing.

    The tests are Student's paired t, Fisher's randomisation of signs, and the bootstrap with its distribution shifted to no
    difference, the three that Smucker, Allan and Carterette (CIKM 2007) compare; two-sided, 9,999 resamples. Corrections are
    those of statsmodels' `multipletests`; Holm's, by `data.statistics`, equals it. Two systems with equal values
    everywhere differ with p = 1. Intervals are those of `evaluation.intervals.mean_with_interval`; `bounds` are the least and the
    largest difference of two values, such as (-1, 1) for shares, without which few differences have none. Without `intervals`,
    `low` and `high` are NaN; with the t test that saves nearly all the time.
    """
    if test not in TESTS:
        raise UnknownNameError("test", test, TESTS)
    if len({len(v) for v in values.values()}) > 1:
        raise BadInputError("The systems have values for different questions.", hint="Align them by question first.")
    pairs = list(combinations(values, 2))
    found = [_pair(a, b, values[a] - values[b], test, intervals, bounds, seed) for a, b in pairs]
    return adjusted(found, correction)


def adjusted(comparisons: Sequence[Comparison], correction: str) -> list[Comparison]:
    """The comparisons with their p corrected for how many of them have one; raises `UnknownNameError`."""
    if correction not in CORRECTIONS:
        raise UnknownNameError("correction", correction, CORRECTIONS)
    p = np.array([c.p for c in comparisons])
    known = ~np.isnan(p)
    if known.sum() > 1 and correction != "none":
        p[known] = holm(p[known].tolist()) if correction == "holm" else multipletests(p[known], method=correction)[1]
    return [c._replace(adjusted=float(value)) for c, value in zip(comparisons, p, strict=True)]


def withheld_difference(comparison: Comparison) -> Comparison:
    """The comparison without its numbers, of two systems of whom too little is judged
    (`berdseye.evaluation.scores.enough_judged`)."""
    nothing = float("nan")
    return comparison._replace(difference=nothing, low=nothing, high=nothing, p=nothing, adjusted=nothing)


def aligned(
    systems: Mapping[str, Mapping[str, float]],
) -> tuple[list[str], dict[str, npt.NDArray[np.float64]]]:
    """Questions in the order they are first named, and values by system in that order; NaN where a system has none."""
    questions = list(dict.fromkeys(q for held in systems.values() for q in held))
    return questions, {
        name: np.array([held.get(q, np.nan) for q in questions], dtype=np.float64) for name, held in systems.items()
    }


def _pair(
    a: str,
    b: str,
    differences: npt.NDArray[np.float64],
    test: Test,
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
            p = 0.0 if np.ptp(known) == 0 else float(stats.ttest_1samp(known, 0).pvalue)
        case "randomisation":
            p = _randomisation(known, seed)
        case "bootstrap":
            extreme = np.abs(means - mean) >= abs(mean) - _ROUNDING
            p = float((extreme.sum() + 1) / (len(means) + 1))
    return Comparison(a, b, mean, float(low), float(high), n, left_out, test, p, np.nan)


def _randomisation(known: npt.NDArray[np.float64], seed: int) -> float:
    # Differences of one size flip their signs alike: how many of them are positive is binomial, and measures take few values.
    sizes, counts = np.unique(np.abs(known), return_counts=True)
    random, observed = np.random.default_rng(seed), abs(float(known.sum()))
    extreme = 0
    for start in range(0, _RESAMPLES, _AT_ONCE):
        rows = min(_AT_ONCE, _RESAMPLES - start)
        sums = (2 * random.binomial(counts, 0.5, size=(rows, len(sizes))) - counts) @ sizes
        extreme += int((np.abs(sums) >= observed - _ROUNDING).sum())
    return (extreme + 1) / (_RESAMPLES + 1)


def inseparable(best_first: Sequence[str], comparisons: Sequence[Comparison]) -> list[list[str]]:
    """The largest groups of systems of whom no two differ significantly, those with the best members first.

    They are the maximal cliques of the graph whose edges join what was not found to differ (Gramm et al., Computational
    Statistics and Data Analysis, 2007). A system may be in several, and one that differs from all others is alone. That two
    are in a group does not say that they are equally good, only that these questions do not show which is better.
    """
    apart: nx.Graph[str] = nx.Graph()
    apart.add_nodes_from(best_first)
    apart.add_edges_from((c.a, c.b) for c in comparisons if c.significant and c.a in apart and c.b in apart)
    place = {name: number for number, name in enumerate(best_first)}
    groups = [sorted(group, key=place.__getitem__) for group in nx.find_cliques(nx.complement(apart))]
    return sorted(groups, key=lambda group: [place[name] for name in group])


def letters(best_first: Sequence[str], comparisons: Sequence[Comparison]) -> dict[str, str]:
    """The compact letter display (Piepho, Journal of Computational and Graphical Statistics, 2004): a letter for each group of
    `inseparable`, so that two systems share one exactly where they were not found to differ."""
    told = dict.fromkeys(best_first, "")
    names = (name for size in (1, 2, 3) for name in map("".join, product(ascii_lowercase, repeat=size)))
    groups = inseparable(best_first, comparisons)
    several = len(groups) > len(ascii_lowercase)
    for letter, group in zip(names, groups, strict=False):
        for name in group:
            told[name] += f" {letter}" if several and told[name] else letter
    return told
