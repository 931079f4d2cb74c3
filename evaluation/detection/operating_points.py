"""Figures of a detector at a threshold (precision, recall, F1 and accuracy, with intervals over questions) and at all thresholds.

A pair counts as supporting if its stored probability (float32) is at least the threshold, as in every run.
"""

from collections.abc import Callable, Mapping

import numpy as np
import numpy.typing as npt
import pandas as pd
from sklearn.metrics import precision_recall_curve

from berdseye.data.statistics import bootstrap_interval
from berdseye.detectors.protocol import Floats
from berdseye.evaluation.statistics.intervals import Estimate, resampled_means

Truth = npt.NDArray[np.bool_]
Groups = npt.NDArray[np.int64]
Doubles = npt.NDArray[np.float64]

RESAMPLES = 500
FIGURES = ("precision", "recall", "f1", "accuracy")
CELLS = ("tp", "fp", "fn", "tn")
"""True positives, false positives, false negatives and true negatives."""
_DRAWN = 400


def decisions_at(probabilities: Floats, threshold: float) -> Truth:
    """Return which pairs the detector labels as supporting, bool[n]."""
    return np.asarray(probabilities >= np.float32(threshold))


def cells_by_group(truth: Truth, decisions: Truth, groups: Groups) -> Doubles:
    """Count the pairs of each group in each of `CELLS`, float64[n_groups, 4]; groups without a pair are omitted."""
    place = np.unique(groups, return_inverse=True)[1]
    cell = np.where(decisions, np.where(truth, 0, 1), np.where(truth, 2, 3))
    counts = np.bincount(4 * place + cell, minlength=4 * (int(place.max(initial=-1)) + 1))
    return counts.reshape(-1, 4).astype(np.float64)


def rates(cells: Doubles) -> dict[str, Doubles]:
    """Compute the figures from counts float64[..., 4]; NaN if a denominator is 0."""
    tp, fp, fn, tn = np.moveaxis(cells, -1, 0)
    with np.errstate(invalid="ignore", divide="ignore"):
        return {
            "precision": tp / (tp + fp),
            "recall": tp / (tp + fn),
            "f1": 2 * tp / (2 * tp + fp + fn),
            "accuracy": (tp + tn) / (tp + fp + fn + tn),
        }


def figures(cells: Doubles, *, seed: int = 0) -> dict[str, Estimate]:
    """Compute the figures with 95% percentile intervals of a bootstrap over groups (questions); `n` counts the groups.

    The ends of an interval are NaN for few groups, or if all resamples are equal or most are undefined (`data.statistics`).
    """
    return estimates(cells, rates, seed=seed)


def estimates(
    sums: Doubles, figures_of: Callable[[Doubles], Mapping[str, Doubles]], *, seed: int = 0
) -> dict[str, Estimate]:
    """Compute figures from sums over groups float64[n_groups, c], with 95% percentile intervals of a bootstrap over groups.

    `figures_of` must not depend on a common factor of the sums.
    """
    n = len(sums)
    values = figures_of(sums.sum(axis=0))
    drawn = figures_of(resampled_means(sums, RESAMPLES, np.random.default_rng(seed)))
    return {name: Estimate(float(value), *bootstrap_interval(drawn[name], n), n) for name, value in values.items()}


def precision_recall(truth: Truth, probabilities: Floats) -> pd.DataFrame:
    """Compute precision, recall and F1 at the probabilities as thresholds, ascending; at most about 400, evenly spaced by rank.

    Columns: threshold, precision, recall, f1. Empty if all labels are equal.
    """
    if not truth.any() or truth.all():
        return pd.DataFrame(columns=["threshold", "precision", "recall", "f1"])
    precision, recall, thresholds = precision_recall_curve(truth, probabilities)
    kept = np.unique(np.linspace(0, len(thresholds) - 1, min(_DRAWN, len(thresholds))).astype(np.int64))
    frame = pd.DataFrame(
        {
            "threshold": thresholds[kept].astype(np.float64),
            "precision": precision[kept],
            "recall": recall[kept],
        }
    )
    both = frame["precision"] + frame["recall"]
    return frame.assign(f1=(2 * frame["precision"] * frame["recall"] / both.where(both > 0)).fillna(0.0))
