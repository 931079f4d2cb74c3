"""Draws of the true labels of pairs, given several people's judgments: what remains uncertain after the model of Dawid and Skene.

The model of reliability.py in its Bayesian form (Kim and Ghahramani, Bayesian Classifier Combination, AISTATS 2012; Paun and
others, TACL 6, 2018), by Gibbs sampling: labels given the people, people given the labels. Unlike the bootstrap of the fit, it
covers the case that the judgments barely identify people's errors, as with two judgments a pair: then the interval is wide.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.special import expit

from berdseye.evaluation.agreement.reliability import Reliability, grouped_items

Doubles = npt.NDArray[np.float64]
RIGHT, WRONG = 4.0, 1.0
"""Beta prior of a person's sensitivity and specificity: right in four of five cases, with the weight of five labels."""
_CHAINS, _BURN_IN, _THINNING = 5, 60, 6
_TINY = 1e-6


class LabelDraws(NamedTuple):
    """The posterior `probability` float64[n_items] of 'supports', and `draws` bool[n_draws, n_items] of all labels together."""

    probability: Doubles
    draws: npt.NDArray[np.bool_]


def label_draws(fit: Reliability, draws: int = 100, *, seed: int = 0) -> LabelDraws:
    """Draw the labels of all pairs from their posterior.

    `fit` is where the chains start, and says whether all people are alike. The share of positive pairs has a uniform prior.
    The mean over draws of a function of all labels, such as a measure, estimates its posterior mean, and the quantiles over
    draws its interval. Five chains; 60 steps before the first draw and 6 from draw to draw, in single precision. Raises
    `BadInputError` as `dawid_skene` does.
    """
    random, groups = np.random.default_rng(seed), grouped_items(fit.labels)
    yes, no, alike = groups.yes.astype(np.float32), groups.no.astype(np.float32), fit.alike
    times = groups.times[:, None].astype(np.int64)
    several = np.flatnonzero(groups.times > 1)
    n, steps = int(groups.times.sum()), -(-draws // _CHAINS)
    yes_t, no_t = yes.T.tocsr(), no.T.tocsr()
    yes_all, no_all = (groups.yes.T @ times, groups.no.T @ times)
    p = np.repeat(groups.of_groups(fit.probability)[:, None], _CHAINS, axis=1).astype(np.float32)
    chances: Doubles = np.zeros(len(p))
    drawn = np.empty((steps * _CHAINS, len(groups.place)), dtype=np.bool_)
    for step in range(_BURN_IN + _THINNING * steps):
        held = (random.random(p.shape, dtype=np.float32) < p).astype(np.float32)
        held[several] = random.binomial(times[several], p[several])
        total = held.sum(axis=0, dtype=np.float64)
        positive = random.beta(1 + total, 1 + n - total)
        yes_up, no_up = yes_t @ held, no_t @ held
        up = _right(yes_up, no_up, random, alike=alike)
        down = _right(no_all - no_up, yes_all - yes_up, random, alike=alike)
        odds = yes @ np.log(up / (1 - down)).astype(np.float32) + no @ np.log((1 - up) / down).astype(np.float32)
        odds += np.log(positive / (1 - positive)).astype(np.float32)
        p = expit(odds)
        saved, rest = divmod(step - _BURN_IN, _THINNING)
        if step >= _BURN_IN and rest == _THINNING - 1:
            chances += p.mean(axis=1) / steps
            for chain in range(_CHAINS):
                row = drawn[saved * _CHAINS + chain]
                row[:] = random.random(len(row), dtype=np.float32) < p[groups.place, chain]
    return LabelDraws(chances[groups.place], drawn[:draws])


def _right(right: npt.NDArray[np.float64], wrong: Doubles, random: np.random.Generator, *, alike: bool) -> Doubles:
    """Draw the chance of a right label [n_raters, n_chains] of each rater, or one for all if they are alike."""
    raters = len(right)
    if alike:
        right, wrong = right.sum(axis=0, keepdims=True), wrong.sum(axis=0, keepdims=True)
    shares = np.clip(random.beta(RIGHT + right, WRONG + wrong), _TINY, 1 - _TINY)
    return np.asarray(np.broadcast_to(shares, (raters, shares.shape[1])), dtype=np.float64)
