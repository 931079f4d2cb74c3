"""How often 95% intervals of a mean over data sets contain the true mean, by three rules, and how wide they are.

Seeded; the number of trials is BERDSEYE_BENCH_TRIALS, 2,000 unless it is set. `mover` adds the squared distances to either
end (Zou and Donner, 2008). `cumulants` adds squared half-widths, and puts the interval's middle where the sum of third
cumulants has it. `score` is the rule of `mean_of_means`. Values are 0 or 1, or k/5 with labels that are alike within a question
(beta-binomial, correlation 0.2).
"""

import os
from collections.abc import Sequence
from functools import cache

import numpy as np
import numpy.typing as npt
import pytest

from berdseye.evaluation.statistics.intervals import Estimate, mean_of_means, mean_with_interval

Doubles = npt.NDArray[np.float64]
TRIALS = int(os.environ.get("BERDSEYE_BENCH_TRIALS", "2000"))
SHARES = (0.02, 0.05, 0.17, 0.5, 0.95)
MIXED = (0.02, 0.95, 0.17, 0.5, 0.05, 0.5)
EQUAL = (8, 20, 100, 400)
UNEQUAL = {2: (8, 400), 3: (8, 20, 400), 6: (8, 8, 20, 20, 100, 400)}


@cache
def estimates(share: float, n: int, place: int, kind: str) -> list[Estimate]:
    """Return an estimate for each trial, of n questions of the data set at a place."""
    random = np.random.default_rng([place, n, round(1000 * share)])
    if kind == "0 and 1":
        hits = random.binomial(n, share, TRIALS)
        return [of_share(n, int(count)) for count in hits]
    chances = random.beta(4 * share, 4 * (1 - share), (TRIALS, n))
    return [mean_with_interval(row) for row in random.binomial(5, chances) / 5]


@cache
def of_share(n: int, hits: int) -> Estimate:
    return mean_with_interval(np.repeat([1.0, 0.0], [hits, n - hits]))


def mover(found: Sequence[Estimate]) -> tuple[float, float]:
    values, lows, highs, _ = (np.array(column) for column in zip(*found, strict=True))
    mean, k = float(values.mean()), len(values)
    return mean - float(np.hypot.reduce(values - lows)) / k, mean + float(np.hypot.reduce(highs - values)) / k


def by_cumulants(found: Sequence[Estimate]) -> tuple[float, float]:
    values, lows, highs, _ = (np.array(column) for column in zip(*found, strict=True))
    mean, k, squares, shifts = float(values.mean()), len(values), ((highs - lows) / 2) ** 2, (highs + lows) / 2 - values
    error, shift = float(np.sqrt(squares.sum())) / k, float(shifts @ squares / squares.sum()) / k
    low, high = max(mean + shift - error, float(lows.mean())), min(mean + shift + error, float(highs.mean()))
    return min(low, mean), max(high, mean)


def score(found: Sequence[Estimate]) -> tuple[float, float]:
    return mean_of_means(found)[1:3]


RULES = {"mover": mover, "cumulants": by_cumulants, "score": score}


def settings() -> list[tuple[str, tuple[int, ...], str, tuple[float, ...]]]:
    """Return the sizes and shares of the data sets with their names."""
    found = []
    for k in (2, 3, 6):
        for name, sizes in [*((str(n), (n,) * k) for n in EQUAL), ("unequal", UNEQUAL[k])]:
            found += [(name, sizes, str(share), (share,) * k) for share in SHARES]
            found.append((name, sizes, "mixed", MIXED[:k]))
    return found


@pytest.mark.benchmark
@pytest.mark.parametrize("kind", ["0 and 1", "k/5"])
def test_coverage_of_means_over_data_sets(kind: str) -> None:
    print(
        f"\n{kind}, {TRIALS} trials: coverage and width in points\nsets  questions  share  mover        cumulants    score"
    )
    covered: dict[str, list[tuple[float, int, str]]] = {}
    for questions, sizes, share, shares in settings():
        truth = float(np.mean(shares))
        drawn = [estimates(p, n, place, kind) for place, (p, n) in enumerate(zip(shares, sizes, strict=True))]
        trials = list(zip(*drawn, strict=True))
        row = ""
        for rule, of in RULES.items():
            known = {found: of(found) for found in set(trials)}
            ends = np.array([known[found] for found in trials])
            held = float(((ends[:, 0] <= truth + 1e-12) & (truth <= ends[:, 1] + 1e-12)).mean())
            covered.setdefault(rule, []).append((held, len(sizes), share))
            row += f"  {held:5.1%}, {100 * (ends[:, 1] - ends[:, 0]).mean():4.1f}"
        print(f"{len(sizes):4d}  {questions:>9}  {share:>5}{row}")
    for rule, cells in covered.items():
        below = sum(held < 0.94 for held, _, _ in cells)
        low, high = min(cells)[0], max(cells)[0]
        print(f"{rule}: {low:.1%} to {high:.1%}, {below} of {len(cells)} settings below 94%")
    assert min(covered["score"])[0] > 0.905
