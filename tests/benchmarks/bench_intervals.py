"""How often 95% intervals of agreement contain the true value: 2,000 seeded tables for each setting.

Cohen's kappa of two raters; Fleiss' kappa and Krippendorff's alpha of three.
"""

import numpy as np
import pytest
from scipy.stats import betabinom, binom

from berdseye.data.statistics import bootstrap_interval
from berdseye.evaluation.agreement import coefficients
from berdseye.evaluation.agreement.kappa import cohen_kappa
from berdseye.evaluation.agreement.pattern_draws import pattern_interval

TRIALS = 2000
SETTINGS = [
    (p, kappa, n) for p in (0.168, 0.05) for kappa in (0.0, 0.2, 0.4, 0.6, 0.7, 0.8, 0.9) for n in (30, 100, 400)
]


def coverage(p: float, kappa: float, n: int, seed: int = 1) -> tuple[float, float, float]:
    """Return the share of intervals with the true kappa, of those below it and of tables with an interval.

    Both raters give the positive label with probability p.
    """
    both, apart = p * p + kappa * p * (1 - p), (1 - kappa) * p * (1 - p)
    drawn = np.random.default_rng(seed).multinomial(n, [both, apart, apart, 1 - both - 2 * apart], size=TRIALS)
    tables, times = np.unique(drawn, axis=0, return_counts=True)
    _, low, high = cohen_kappa(tables.reshape(-1, 2, 2).astype(np.float64))
    known = ~np.isnan(low)
    weights = times[known] / times[known].sum()
    inside = (low <= kappa) & (kappa <= high)
    return float(weights @ inside[known]), float(weights @ (high < kappa)[known]), float(times[known].sum() / TRIALS)


@pytest.mark.benchmark
def test_coverage_of_kappas_intervals() -> None:
    print("\npositive  kappa    n  covered  below  with an interval")
    for p, kappa, n in SETTINGS:
        covered, below, defined = coverage(p, kappa, n)
        print(f"{p:8.1%}  {kappa:5.1f}  {n:3d}  {covered:7.1%}  {below:5.1%}  {defined:16.1%}")
        assert 0.93 < covered < 0.985


RATERS = 3
VOTES = np.arange(RATERS + 1)
PATTERNS = np.stack([VOTES, RATERS - VOTES], axis=1)
FORMS = {"Fleiss' kappa": coefficients.fleiss, "Krippendorff's alpha": coefficients.alpha}


def votes(p: float, kappa: float, kind: str) -> coefficients.Doubles:
    """Return the probability of 0 to 3 positive votes on an item; the kappa of any two raters is `kappa`.

    `mixed`: with probability kappa all raters give one label, otherwise each gives a label of their own. `varied`: items differ
    in how often raters call them positive, as a beta distribution.
    """
    alone = binom.pmf(VOTES, RATERS, p)
    if kappa == 0:
        return np.asarray(alone)
    if kind == "varied":
        size = (1 - kappa) / kappa
        return np.asarray(betabinom.pmf(VOTES, RATERS, p * size, (1 - p) * size))
    return np.asarray((1 - kappa) * alone + kappa * np.where(VOTES == RATERS, p, np.where(VOTES == 0, 1 - p, 0)))


def pattern_coverage(
    form: coefficients.Coefficient, chances: coefficients.Doubles, kappa: float, n: int, *, bootstrap: bool = False
) -> tuple[float, float, float]:
    """Return the same shares as `coverage`, for a coefficient of three raters."""
    drawn = np.random.default_rng(1).multinomial(n, chances, size=TRIALS)
    tables, times = np.unique(drawn, axis=0, return_counts=True)
    ends = np.full((len(tables), 2), np.nan)
    for place, table in enumerate(tables.astype(np.float64)):
        value = float(form(PATTERNS, table))
        if bootstrap:
            resampled = np.random.default_rng(0).multinomial(n, table / n, size=1000).astype(np.float64)
            ends[place] = bootstrap_interval(form(PATTERNS, resampled), n)
        else:
            ends[place] = pattern_interval(PATTERNS, table, form, value)
    known = ~np.isnan(ends[:, 0])
    weights = times[known] / times[known].sum()
    inside = (ends[known, 0] <= kappa) & (kappa <= ends[known, 1])
    return float(weights @ inside), float(weights @ (ends[known, 1] < kappa)), float(times[known].sum() / TRIALS)


@pytest.mark.benchmark
@pytest.mark.parametrize("name", FORMS)
def test_coverage_of_the_intervals_of_several_raters(name: str) -> None:
    print(f"\n{name}\nraters  positive  kappa    n  covered  below  with an interval  bootstrap  with an interval")
    for kind in ("mixed", "varied"):
        for p, kappa, n in SETTINGS:
            chances = votes(p, kappa, kind)
            covered, below, defined = pattern_coverage(FORMS[name], chances, kappa, n)
            before, _, had = pattern_coverage(FORMS[name], chances, kappa, n, bootstrap=True)
            print(f"{kind}   {p:8.1%}  {kappa:5.1f}  {n:3d}  {covered:7.1%}  {below:5.1%}  {defined:16.1%}", end="")
            print(f"  {before:9.1%}  {had:16.1%}")
            assert 0.92 < covered < 0.985
