"""Ranks of systems from P.D. and D.A. (DebateQA): weighted over both, and normalised over evaluators."""

from collections.abc import Sequence

import numpy as np
from scipy.stats import rankdata, zscore

from berdseye.data.errors import BadInputError
from berdseye.evaluation.answer_measures.items import Doubles

WEIGHTS = (0.0, 0.25, 0.5, 0.75, 1.0)
"""The k of figure 3."""


def ranks(values: Doubles, *, lower_is_better: bool) -> Doubles:
    """Rank of each system, 1 the best; equal values share the better rank (1, 2, 2, 4). NaN values have no rank."""
    signed = np.asarray(values, dtype=np.float64) * (1.0 if lower_is_better else -1.0)
    return np.asarray(rankdata(signed, method="min", nan_policy="omit"), dtype=np.float64)


def normalised_ranks(values: Sequence[Doubles], *, lower_is_better: bool) -> Doubles:
    """Rank of the mean of the ranks that several evaluators give, float64[n_systems] (table 2); ties share the better rank.

    `values` holds float64[n_systems] an evaluator.
    """
    means = np.asarray([ranks(held, lower_is_better=lower_is_better) for held in values]).mean(axis=0)
    return ranks(np.asarray(np.round(means, 9)), lower_is_better=True)


def weighted_scores(pd: Doubles, da: Doubles, k: float) -> Doubles:
    """mu = k z(1 / P.D.) + (1 - k) z(D.A.), float64[n_systems]; z over the systems. A part in which all are equal is 0.

    Raises `BadInputError` for k outside 0 to 1, a P.D. of 0 or less, or fewer than two systems.
    """
    pd, da = np.asarray(pd, dtype=np.float64), np.asarray(da, dtype=np.float64)
    if not 0 <= k <= 1:
        raise BadInputError(f"The weight {k:g} is not between 0 and 1.", hint="Give k from 0 to 1.")
    if len(pd) < 2 or (pd <= 0).any():
        raise BadInputError("Weighted ranks need two systems or more, and P.D. above 0.", hint="Score more answers.")
    return k * _z(1.0 / pd) + (1.0 - k) * _z(da)


def weighted_ranks(pd: Doubles, da: Doubles, k: float) -> Doubles:
    """Ranks by `weighted_scores`, 1 the best (figure 3)."""
    return ranks(np.round(weighted_scores(pd, da, k), 12), lower_is_better=False)


def _z(values: Doubles) -> Doubles:
    return np.zeros_like(values) if np.ptp(values) < 1e-12 else np.asarray(zscore(values), dtype=np.float64)
