"""The detector `embedded` adapted to a person's labels: a maximum a posteriori fit around its starting weights."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize
from scipy.special import expit

from berdseye.data.datasets.labelled_pairs import LabelledPair
from berdseye.detectors.embedded import THRESHOLD_SOURCE, Logistic, Weights, shipped_weights
from berdseye.detectors.features import features
from berdseye.detectors.protocol import Floats
from berdseye.detectors.quality import best_threshold

Doubles = npt.NDArray[np.float64]

PRIOR = 100.0
"""Precision of the Gaussian around the starting coefficients. An uncertain pair has a weight of about 0.2 against it, so that
20 labels change the coefficients a little and 2,000 a lot."""
_INTERCEPT_SHARE = 0.1  # the share of supporting pairs differs between collections more than the features of support do
_PLACES = 6


def train_head(
    train: Sequence[LabelledPair],
    dev: Sequence[LabelledPair],
    *,
    start: Weights | None = None,
    prior: float = PRIOR,
    targets: Floats | None = None,
) -> Weights:
    """Fit weights to `train` around `start` (default: the shipped weights), with the threshold of the best F1 on `dev`.

    `targets` float32[n_train] are a teacher's probabilities, learned instead of the labels. Without a supporting pair in `dev`
    the threshold does not change. Pairs are not reweighted, so P is calibrated for collections with `train`'s share of
    supporting pairs.
    """
    start = start or shipped_weights()
    wanted = truth(train).astype(np.float64) if targets is None else targets.astype(np.float64)
    model = fit_head(features([p.pair for p in train]), wanted, start.embedded, prior)
    card: dict[str, Any] = {"start": start.embedded.version, "prior": prior, "threshold_source": _inherited(start)}
    labels = truth(dev)
    if labels.any():
        threshold = best_threshold(labels, model.probabilities(features([p.pair for p in dev])))
        model = replace(model, threshold=threshold)
        card["threshold_source"] = f"best F1 on {len(dev):,} dev pairs"
    return Weights(model, start.similarity, card)


def fit_head(values: Floats, targets: Doubles, start: Logistic, prior: float = PRIOR) -> Logistic:
    """Return the most probable logistic given features float32[n, n_features] and targets float64[n] within [0, 1].

    The prior is Gaussian around the coefficients of `start`, whose mean, scale and threshold are kept. Without rows the result
    is `start`.
    """
    standard = (values.astype(np.float64) - np.array(start.mean)) / np.array(start.scale)
    design = np.column_stack([standard, np.ones(len(standard))])
    center = np.array([*start.coefficients, start.intercept])
    precision = np.full(len(center), prior)
    precision[-1] *= _INTERCEPT_SHARE

    def loss(weights: Doubles) -> tuple[float, Doubles]:
        logits, moved = design @ weights, weights - center
        value = np.logaddexp(0.0, logits).sum() - targets @ logits + 0.5 * precision @ moved**2
        return float(value), design.T @ (expit(logits) - targets) + precision * moved

    def curvature(weights: Doubles) -> Doubles:
        p = expit(design @ weights)
        return np.asarray((design.T * (p * (1 - p))) @ design + np.diag(precision), dtype=np.float64)

    optimum = minimize(loss, center, jac=True, hess=curvature, method="trust-exact", options={"gtol": 1e-6})
    *coefficients, intercept = (round(float(x), _PLACES) for x in optimum.x)
    return replace(start, coefficients=tuple(coefficients), intercept=intercept)


def truth(pairs: Sequence[LabelledPair]) -> npt.NDArray[np.bool_]:
    """Return the labels of pairs, bool[n_pairs]."""
    return np.array([p.supports for p in pairs], dtype=np.bool_)


def _inherited(start: Weights) -> str:
    return str(start.card.get("threshold_source", THRESHOLD_SOURCE))
