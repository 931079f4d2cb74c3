"""Draws of the true labels of pairs, given several people's judgments: what remains uncertain after the model of Dawid and Skene.

The draws are from the posterior by Gibbs sampling (gibbs.py), under a prior by which people are mostly right. It covers the case
that the judgments barely identify people's errors, as with two judgments a pair: then the interval is wide.
"""

from itertools import islice
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from berdseye.evaluation.agreement.gibbs import gibbs_steps, grouped_items
from berdseye.evaluation.agreement.reliability import Reliability

Doubles = npt.NDArray[np.float64]
RIGHT, WRONG = 4.0, 1.0
"""Beta prior of a person's sensitivity and specificity: right in four of five cases, with the weight of five labels."""
_CHAINS, _BURN_IN, _THINNING = 5, 60, 6


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
    random, grouped = np.random.default_rng(seed), grouped_items(fit.labels)
    n, saves = len(grouped.place), -(-draws // _CHAINS)
    start = grouped.of_groups(fit.probability)
    steps = gibbs_steps(grouped, start, random, prior=(RIGHT, WRONG), chains=_CHAINS, alike=fit.alike)
    chances: Doubles = np.zeros(len(start))
    drawn = np.empty((saves * _CHAINS, n), dtype=np.bool_)
    for saved, step in enumerate(islice(steps, _BURN_IN + _THINNING - 1, _BURN_IN + _THINNING * saves, _THINNING)):
        chances += step.p.mean(axis=1) / saves
        for chain in range(_CHAINS):
            drawn[saved * _CHAINS + chain] = random.random(n, dtype=np.float32) < step.p[grouped.place, chain]
    return LabelDraws(chances[grouped.place], drawn[:draws])
