"""How reliable each person is and how certain each pair's label, by the model of Dawid and Skene (1979) for two labels.

Each person has a sensitivity (the chance of 'supports' where the passage supports the perspective) and a specificity (the chance
of 'does not support' where it does not). Given a pair's true label, people's labels are taken as independent. The fit is our own
because crowd-kit's has neither a prior nor intervals; a test compares the two. The intervals come from the posterior (gibbs.py).
"""

from dataclasses import dataclass
from itertools import islice

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy.sparse.csgraph import connected_components
from scipy.special import expit, xlogy

from berdseye.evaluation.agreement.alignment import SUPPORTS, Aligned
from berdseye.evaluation.agreement.gibbs import Grouped, gibbs_steps, grouped_items

Doubles = npt.NDArray[np.float64]
PRIOR = 1.0
"""Labels added to each cell of a person's table of errors: the mode of the posterior under a Beta(2, 2) prior."""
GOOD = 0.5
"""The sensitivity + specificity - 1 (Youden's index, 1950) from which a person counts as good."""
CONTESTED = 1 / 3
"""The share of good people in the minority from which a pair counts as contested."""
_ITERATIONS, _TOLERANCE = 500, 1e-7
_TINY = 1e-10
_BURN_IN, _SAVED, _THINNING = 100, 100, 4
_AT_ONCE = 40_000


@dataclass(frozen=True)
class Reliability:
    """A fitted model: the probability float64[n_items] that each pair is positive, the share `positive` of positive pairs, and
    the sensitivity and specificity float64[n_raters] of each rater. `alike` says that all raters were given the same two;
    `converged` is False if the iterations ran out."""

    labels: Aligned
    probability: Doubles
    positive: float
    sensitivity: Doubles
    specificity: Doubles
    converged: bool
    alike: bool = False


def dawid_skene(labels: Aligned, *, prior: float = PRIOR, alike: bool = False) -> Reliability:
    """Fit the model by expectation maximisation, which starts from the share of 'supports' of each pair.

    With `alike`, all raters have one sensitivity and one specificity, so that their votes count equally. `prior` is added to
    each cell of a person's errors; 0 gives the maximum likelihood of Dawid and Skene (Applied Statistics 28, 1979, equations
    2.3 to 2.5). The labels must be 'does not support' and 'supports'. Raises `BadInputError` for other labels, and if nobody
    labelled anything.
    """
    grouped = grouped_items(labels)
    p, positive, sensitivity, specificity, converged = _fit(grouped, prior, alike)
    return Reliability(labels, p[grouped.place], positive, sensitivity, specificity, converged, alike)


def people_table(fit: Reliability, *, seed: int = 0) -> pd.DataFrame:
    """Return the sensitivity, specificity and their 95% intervals of each rater, one row each, the most reliable first.

    The rates are those of `fit`, which the tables of pairs use too. The intervals are the 2.5% and 97.5% quantiles of the
    posterior (`posterior_rates`), extended to the rate of `fit` if it is outside, as happens with other priors than `PRIOR`.
    Where the truth is known, the rate of `fit` is the mean of that posterior. `n` counts the rater's labels, and `shared` those
    on pairs that somebody else labelled too. Without one the labels do not tell how often the rater is right, and the interval
    is 0 to 1. `youden` is sensitivity + specificity - 1: 0 for chance, 1 for no error.
    """
    asked = fit.labels.codes >= 0
    shared = (asked & (asked.sum(axis=1, keepdims=True) > 1)).sum(axis=0)
    low, high = np.quantile(posterior_rates(fit, seed=seed), (0.025, 0.975), axis=2)
    unknown = (shared == 0) & (not fit.alike)
    low[:, unknown], high[:, unknown] = 0.0, 1.0
    rates = np.array([fit.sensitivity, fit.specificity])
    low, high = np.minimum(low, rates), np.maximum(high, rates)
    table = pd.DataFrame(
        {
            "annotator": fit.labels.raters,
            "n": asked.sum(axis=0),
            "shared": shared,
            "sensitivity": fit.sensitivity,
            "sensitivity_low": low[0],
            "sensitivity_high": high[0],
            "specificity": fit.specificity,
            "specificity_low": low[1],
            "specificity_high": high[1],
            "youden": fit.sensitivity + fit.specificity - 1,
        }
    )
    return table.sort_values("youden", ascending=False, kind="stable").reset_index(drop=True)


def posterior_rates(fit: Reliability, *, seed: int = 0) -> Doubles:
    """Draw sensitivities (first) and specificities (second) from their posterior, float64[2, n_raters, n_draws].

    All rates have uniform priors, the uncertainty of the true labels is included, and raters linked by pairs that they share are
    held better than chance together (`gibbs_steps`). 4 to 20 chains, the fewer the more items differ, start from `fit`: 100
    steps before the first draw and 4 from draw to draw, 100 draws each.
    """
    grouped = grouped_items(fit.labels)
    asked = grouped.yes + grouped.no
    circle = np.zeros(asked.shape[1]) if fit.alike else connected_components(asked.T @ asked)[1]
    start = grouped.of_groups(fit.probability)
    steps = gibbs_steps(
        grouped,
        start,
        np.random.default_rng(seed),
        prior=(1.0, 1.0),
        chains=int(np.clip(_AT_ONCE // len(start), 4, 20)),
        alike=fit.alike,
        circle=circle.astype(np.int64),
    )
    saved = islice(steps, _BURN_IN + _THINNING - 1, _BURN_IN + _THINNING * _SAVED, _THINNING)
    return np.concatenate([np.array([step.sensitivity, step.specificity]) for step in saved], axis=2)


def pairs_table(fit: Reliability) -> pd.DataFrame:
    """Return each pair's probability, its entropy, and whom to ask next, one row each; the most valuable next label first.

    `entropy` (bits) is the uncertainty that the labels leave. `ask` is the rater who has not labelled the pair and whose label
    is expected to reduce the entropy most; `gain` is that reduction in bits, the mutual information of label and truth (Lindley,
    1956). Where everyone labelled the pair, `ask` is None and `gain` 0. `contested` marks pairs on which at least three good
    raters (`GOOD`) disagree, at least a third of them in the minority: there the guidelines or the wording may be at fault.
    """
    p = fit.probability
    entropy = _entropy(p)
    gain, ask = np.zeros(len(p)), np.full(len(p), -1)
    for rater, (up, down) in enumerate(zip(fit.sensitivity, fit.specificity, strict=True)):
        says = p * up + (1 - p) * (1 - down)
        noise = p * _entropy(up) + (1 - p) * _entropy(down)
        found = np.where(fit.labels.codes[:, rater] < 0, _entropy(says) - noise, 0.0)
        better = found > gain
        gain[better], ask[better] = found[better], rater
    good = fit.labels.codes[:, fit.sensitivity + fit.specificity - 1 >= GOOD]
    yes, asked = (good == fit.labels.values.index(SUPPORTS)).sum(axis=1), (good >= 0).sum(axis=1)
    table = pd.DataFrame(
        {
            "item": fit.labels.items,
            "n": (fit.labels.codes >= 0).sum(axis=1),
            "probability": p,
            "entropy": entropy,
            "ask": [None if rater < 0 else fit.labels.raters[rater] for rater in ask.tolist()],
            "gain": gain,
            "contested": (asked >= 3) & (np.minimum(yes, asked - yes) >= CONTESTED * asked - _TINY),
        }
    )
    return table.sort_values("gain", ascending=False, kind="stable").reset_index(drop=True)


def _shares(grouped: Grouped) -> Doubles:
    yes, no = (np.asarray(votes.sum(axis=1), dtype=np.float64) for votes in (grouped.yes, grouped.no))
    return np.asarray(np.where(yes + no > 0, yes / np.maximum(yes + no, 1), 0.5), dtype=np.float64)


def _fit(grouped: Grouped, prior: float, alike: bool) -> tuple[Doubles, float, Doubles, Doubles, bool]:
    """Return the probability float64[n_groups] of each group, the share of positive items, the sensitivities and specificities
    float64[n_raters], and whether no parameter moved by `_TOLERANCE` in the last step."""
    p, yes, no = _shares(grouped), grouped.yes, grouped.no
    yes_all, no_all = yes.T @ grouped.times, no.T @ grouped.times
    before: Doubles = np.zeros(2 * yes.shape[1] + 1)
    converged = False
    for _ in range(_ITERATIONS):
        held = grouped.times * p
        positive = float(np.clip(held.sum() / grouped.times.sum(), _TINY, 1 - _TINY))
        yes_up, no_up = yes.T @ held, no.T @ held
        up = _share(yes_up, no_up, prior, alike)
        down = _share(no_all - no_up, yes_all - yes_up, prior, alike)
        odds = yes @ np.log(up / (1 - down)) + no @ np.log((1 - up) / down) + np.log(positive / (1 - positive))
        p = expit(odds)
        now: Doubles = np.concatenate([[positive], up, down])
        converged = float(np.abs(now - before).max()) < _TOLERANCE
        if converged:
            break
        before = now
    return p, positive, up, down, converged


def _share(right: Doubles, wrong: Doubles, prior: float, alike: bool) -> Doubles:
    """The shares of right labels [n_raters]: of each rater, or, if they are alike, of all together."""
    if alike:
        right, wrong = np.full(len(right), right.sum()), np.full(len(wrong), wrong.sum())
    n = right + wrong + 2 * prior
    shares = np.where(n > _TINY, (right + prior) / np.maximum(n, _TINY), 0.5)
    return np.asarray(np.clip(shares, _TINY, 1 - _TINY), dtype=np.float64)


def _entropy(p: Doubles | float) -> Doubles:
    """The entropy of a coin in bits."""
    values = np.asarray(p, dtype=np.float64)
    return np.asarray(-(xlogy(values, values) + xlogy(1 - values, 1 - values)) / np.log(2), dtype=np.float64)
