"""Confidence sequences: intervals that hold at all times at once, so that one may look after every label and stop when one
likes.

A 95% confidence sequence contains the true value at every time in at least 95% of all samples (Howard et al., Annals of
Statistics 2021). Those here are nonparametric and never asymptotic:

- `empirical_bernstein`: for the mean of values between two bounds, in closed form, and `betting`, which is narrower
  (Waudby-Smith and Ramdas, JRSS B 2024, theorems 2 and 3). The difference of two runs is the mean of values between -1 and 1.
- `evidence`: for the sign of a total of units that were drawn with known, unequal probabilities without replacement (Shekhar, Xu,
  Lipton, Liang and Ramdas, UAI 2023), with a detector's values as control. Each draw is a bet against "the total is at most
  0", and another against "at least 0", which is fair if the claim is true; the wealth is at least 1 / a at some time with
  probability at most a, by Ville's inequality. `interval_at_all_times` has the totals against which no bet has won.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from berdseye.annotation.batches.draws import FLOOR
from berdseye.evaluation.statistics.drawn_sample import DrawnSample

Doubles = npt.NDArray[np.float64]
_TRUNCATION = 0.5
_GRID = 1000
_SHARES = (0.5, 0.25, 0.12, 0.06, 0.03)
_PRIOR = 5.0
_HALVINGS = 12


class Sequence(NamedTuple):
    """The interval after each value, float64[n] each: at every time, all of them contain the mean with the same confidence."""

    low: Doubles
    high: Doubles


def empirical_bernstein(
    values: Doubles, *, bounds: tuple[float, float] = (0.0, 1.0), confidence: float = 0.95
) -> Sequence:
    """Return the confidence sequence of the mean of `values` float64[n], each within `bounds`, by predictable plug-in."""
    x, level = _scaled(values, bounds), 1 - confidence
    means, variances = _running(x)
    bets = _bets(variances, level, len(x))
    psi = -np.log1p(-bets) - bets
    spread = (np.log(2 / level) + np.cumsum((x - means) ** 2 * psi)) / np.cumsum(bets)
    centre = np.cumsum(bets * x) / np.cumsum(bets)
    return _unscaled(centre - spread, centre + spread, bounds)


def betting(values: Doubles, *, bounds: tuple[float, float] = (0.0, 1.0), confidence: float = 0.95) -> Sequence:
    """Return the confidence sequence of the mean of `values` float64[n], each within `bounds`, by hedged betting.

    Every mean on a grid of 1,001 is bet against upwards and downwards; those with a wealth below 1 / (1 - confidence) remain.
    """
    x, level = _scaled(values, bounds), 1 - confidence
    _, variances = _running(x)
    bets = _bets(variances, level, len(x), truncated=False)
    grid = np.linspace(0, 1, _GRID + 1)
    up, down = np.zeros(len(grid)), np.zeros(len(grid))
    low, high = np.zeros(len(x)), np.ones(len(x))
    with np.errstate(divide="ignore"):
        most_up, most_down = _TRUNCATION / grid, _TRUNCATION / (1 - grid)
    for t, value in enumerate(x):
        up += np.log1p(np.minimum(bets[t], most_up) * (value - grid))
        down += np.log1p(-np.minimum(bets[t], most_down) * (value - grid))
        kept = grid[np.maximum(up, down) + np.log(0.5) < np.log(1 / level)]
        if len(kept):
            low[t], high[t] = kept[0] - 1 / _GRID, kept[-1] + 1 / _GRID
        else:
            low[t], high[t] = low[t - 1], high[t - 1]
    return _unscaled(np.clip(low, 0, 1), np.clip(high, 0, 1), bounds)


def difference(first: Doubles, second: Doubles, *, confidence: float = 0.95) -> Sequence:
    """Return the confidence sequence of the mean difference of two runs with values in 0..1 on the same questions,
    float64[n]."""
    return betting(first - second, bounds=(-1.0, 1.0), confidence=confidence)


class Evidence(NamedTuple):
    """The logarithm of the wealth of bets on each sign of a total, after each draw, float64[n_draws] each."""

    above: Doubles
    below: Doubles

    def error(self, sign: int) -> float:
        """Return the largest probability with which this much evidence for a sign arises, at any time, if it is wrong.

        Both signs are tested, so that the probability is doubled; it is the least over all looks, and at most 1.
        """
        wealth = self.above if sign > 0 else self.below
        best = float(wealth.max(initial=0.0))
        return float(min(1.0, 2 * np.exp(-best)))

    @property
    def sign(self) -> int:
        """The sign with more evidence, 1 or -1; 0 if there is none."""
        above, below = self.error(1), self.error(-1)
        return 0 if min(above, below) >= 1 else 1 if above < below else -1


def evidence(sample: DrawnSample, weights: Doubles | None = None, *, changing: bool = False) -> Evidence:
    """Return the evidence of a sample for a total above 0 and for one below 0.

    `weights` float64[n_units] are those of the units when they were drawn, between FLOOR and 1 (None: all 1). `changing`: the
    weights of the units that were not drawn were others before. What people's labels leave open is read against the claim.
    Everything that a bet depends on is known before its draw.
    """
    known = np.ones(len(sample.detector)) if weights is None else weights
    smallest = np.full(len(known), FLOOR) if changing else known
    above = _wealth(sample.detector, sample.low, sample.least, sample, known, smallest, sample.fixed[1])
    below = _wealth(-sample.detector, -sample.high, -sample.most, sample, known, smallest, -sample.fixed[2])
    return Evidence(above, below)


def interval_at_all_times(
    sample: DrawnSample,
    weights: Doubles | None = None,
    *,
    changing: bool = False,
    bounds: tuple[float, float] = (0.0, 1.0),
    confidence: float = 0.95,
) -> tuple[float, float]:
    """Return the lowest and the highest total within `bounds` that the bets have not ruled out after any of the draws so far.

    A total is ruled out once a bet against it, as in `evidence`, has reached the wealth 2 / (1 - confidence). The interval holds
    at every look, and is wider than that of `drawn_sample.total`, which holds at one. `weights` and `changing` are those of
    `evidence`. Without a draw it is as wide as the bounds; once every unit is known, it has the readings of what people are
    unsure of.
    """
    low, high = bounds
    if len(sample.sequence) == len(sample.detector):
        return float(sample.low.sum()) + sample.fixed[1], float(sample.high.sum()) + sample.fixed[2]
    limit = float(np.log(2 / (1 - confidence)))

    def ruled_out(possible: float, sign: int) -> bool:
        at = sample.fixed
        moved = replace(sample, fixed=(at[0] - possible, at[1] - possible, at[2] - possible))
        found = evidence(moved, weights, changing=changing)
        return float((found.above if sign > 0 else found.below).max(initial=0.0)) >= limit

    return _edge(low, high, lambda m: ruled_out(m, 1)), _edge(high, low, lambda m: ruled_out(m, -1))


def _edge(outer: float, inner: float, ruled_out: Callable[[float], bool]) -> float:
    """Return the outermost total that is not ruled out, by halving; totals are ruled out from the outside."""
    if not ruled_out(outer):
        return outer
    for _ in range(_HALVINGS):
        middle = (outer + inner) / 2
        outer, inner = (middle, inner) if ruled_out(middle) else (outer, middle)
    return outer


def _wealth(
    detector: Doubles, labels: Doubles, least: Doubles, sample: DrawnSample, weights: Doubles, smallest: Doubles, fixed: float
) -> Doubles:  # fmt: skip
    """Return the log wealth, after each draw, of the bets that the total is above 0."""
    order = sample.sequence
    drawn = ~np.isnan(sample.chances)
    if not drawn.any():
        return np.zeros(0)
    y, f = labels[order], detector[order]
    before_y = fixed + np.concatenate([[0.0], np.cumsum(y)[:-1]])
    rest_f = detector.sum() - np.concatenate([[0.0], np.cumsum(f)[:-1]])
    n = (len(detector) - np.arange(len(order)))[drawn].astype(np.float64)
    y, f, q, before_y, rest_f = y[drawn], f[drawn], sample.chances[drawn], before_y[drawn], rest_f[drawn]
    # 1 / q of any unit is the sum of the weights over its weight; the worst label over all units is convex in lambda.
    together = weights[order][drawn] / q
    at = np.linspace(0, 1, 21)
    deepest = np.array([((one * detector - least) / smallest).max() for one in at])
    scale = float(np.sqrt((sample.span**2).mean()))
    weight = _past_weights(y, f, 1 / (q * n), scale)
    z = before_y + weight * rest_f + (y - weight * f) / q
    worst = before_y + weight * rest_f - together * np.interp(weight, at, deepest)
    most = 1.0 / np.maximum(-worst, 1e-12)
    certain = worst > 0
    shares = np.array(_SHARES)[:, None] * most
    adaptive = np.clip(_adaptive(z, n, scale), 0.0, 0.9 * most)
    logs = np.cumsum(np.log1p(np.vstack([shares, adaptive[None]]) * z), axis=1)
    mix = np.full(len(logs), 0.5 / len(_SHARES))
    mix[-1] = 0.5
    highest = logs.max(axis=0)
    wealth = highest + np.log((np.exp(logs - highest) * mix[:, None]).sum(axis=0))
    return np.where(np.maximum.accumulate(certain), np.inf, wealth)


def _past_weights(y: Doubles, f: Doubles, ratio: Doubles, scale: float) -> Doubles:
    """Return lambda before each draw, from the earlier draws: it begins at 1, and stays between 0 and 1."""
    prior = _PRIOR * scale**2
    products, squares = np.cumsum(ratio * y * f), np.cumsum(ratio * f * f)
    found = (prior + np.concatenate([[0.0], products[:-1]])) / (prior + np.concatenate([[0.0], squares[:-1]]))
    return np.clip(found, 0.0, 1.0)


def _adaptive(z: Doubles, n: Doubles, scale: float) -> Doubles:
    """Return the bets that would have grown the earlier wealth best, to second order: mean / (variance + mean squared)."""
    count = np.arange(len(z))
    mean = np.concatenate([[0.0], np.cumsum(z)[:-1]]) / np.maximum(count, 1)
    errors = ((z - mean) / n) ** 2
    spread = (scale**2 + np.concatenate([[0.0], np.cumsum(errors)[:-1]])) / (count + 1) * n**2
    return np.where(count > 0, mean / (spread + mean**2), 0.0)


def _scaled(values: Doubles, bounds: tuple[float, float]) -> Doubles:
    low, high = bounds
    return np.asarray((values - low) / (high - low), dtype=np.float64)


def _unscaled(low: Doubles, high: Doubles, bounds: tuple[float, float]) -> Sequence:
    back: Callable[[Doubles], Doubles] = lambda ends: bounds[0] + np.clip(ends, 0, 1) * (bounds[1] - bounds[0])  # noqa: E731
    return Sequence(back(low), back(high))


def _running(x: Doubles) -> tuple[Doubles, Doubles]:
    """Return the mean and the variance of the values before each value, with one value 1/2 and one variance 1/4 added."""
    count = np.arange(1, len(x) + 1)
    means = (0.5 + np.cumsum(x)) / (count + 1)
    variances = (0.25 + np.cumsum((x - means) ** 2)) / (count + 1)
    return np.concatenate([[0.5], means[:-1]]), np.concatenate([[0.25], variances[:-1]])


def _bets(variances: Doubles, level: float, n: int, *, truncated: bool = True) -> Doubles:
    t = np.arange(1, n + 1)
    bets = np.sqrt(2 * np.log(2 / level) / (variances * t * np.log1p(t)))
    return np.asarray(np.minimum(bets, _TRUNCATION) if truncated else bets, dtype=np.float64)
