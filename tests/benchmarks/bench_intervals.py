"""How often 95% intervals of Cohen's kappa contain the true value: 2,000 seeded tables of two raters for each setting."""

import numpy as np
import pytest

from berdseye.evaluation.agreement.kappa import cohen_kappa

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
