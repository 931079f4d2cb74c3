"""How well probabilities fit known labels: the figures of detection, with intervals over questions."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from sklearn.metrics import average_precision_score, roc_auc_score

from detectors.base_rate import BASE_RATE
from detectors.protocol import Floats

Doubles = npt.NDArray[np.float64]
Truth = npt.NDArray[np.bool_]

RESAMPLES = 500
_BINS = 10


@dataclass(frozen=True)
class Quality:
    """Figures of a detector on labelled pairs, shares from 0 to 1; `nan` where a figure needs both labels.

    `pct_positive` is the share that is called supporting, in percent, as BERDS prints it (v2, table 4); `positives` counts
    the pairs whose label is 1. `ece` is the expected calibration error over ten bins of equal width. `intervals` are 95%
    percentile bootstrap intervals of the figures, drawn over whole questions, or over pairs where no question is known.
    """

    n: int
    positives: int
    pct_positive: float
    accuracy: float
    precision: float
    recall: float
    f1: float
    auroc: float
    average_precision: float
    ece: float
    threshold: float
    intervals: dict[str, tuple[float, float]]


def quality(
    truth: Truth,
    probabilities: Floats,
    threshold: float,
    questions: Sequence[object] | None = None,
    *,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> Quality:
    """Figures of `probabilities` float32[n] against `truth` bool[n]; `questions` [n] are what intervals are drawn over."""
    scores = probabilities.astype(np.float64)
    chosen = scores >= threshold
    known: dict[str, Callable[[Doubles], float]] = {
        "accuracy": lambda w: float(np.average(chosen == truth, weights=w)),
        "precision": lambda w: precision_recall_f1(truth, chosen, w)[0],
        "recall": lambda w: precision_recall_f1(truth, chosen, w)[1],
        "f1": lambda w: precision_recall_f1(truth, chosen, w)[2],
        "auroc": lambda w: auroc(truth, scores, w),
        "average_precision": lambda w: _average_precision(truth, scores, w),
        "ece": lambda w: calibration_error(truth, scores, w),
    }
    n = len(truth)
    if n == 0:
        return Quality(0, 0, np.nan, threshold=threshold, intervals={}, **dict.fromkeys(known, np.nan))
    drawn_over = (
        np.arange(n) if questions is None else np.unique(np.array(questions, dtype=str), return_inverse=True)[1]
    )
    ones = np.ones(n)
    return Quality(
        n=n,
        positives=int(truth.sum()),
        pct_positive=100.0 * float(chosen.mean()),
        threshold=threshold,
        intervals=intervals(known, drawn_over, resamples=resamples, seed=seed),
        **{name: figure(ones) for name, figure in known.items()},
    )


def intervals(
    statistics: Mapping[str, Callable[[Doubles], float]],
    groups: npt.NDArray[np.int64],
    *,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> dict[str, tuple[float, float]]:
    """95% percentile intervals of statistics of row weights, when whole groups are drawn with replacement.

    A statistic that most draws leave undefined gets (nan, nan).
    """
    names, place = np.unique(groups, return_inverse=True)
    rng = np.random.default_rng(seed)
    drawn: dict[str, list[float]] = {name: [] for name in statistics}
    for _ in range(resamples):
        times = np.bincount(rng.integers(len(names), size=len(names)), minlength=len(names))
        weights = times[place].astype(np.float64)
        if weights.any():
            for name, statistic in statistics.items():
                drawn[name].append(statistic(weights))
    return {name: _percentiles(np.array(values)) for name, values in drawn.items()}


def precision_recall_f1(truth: Truth, chosen: Truth, weights: Doubles) -> tuple[float, float, float]:
    """Weighted precision, recall and F1; 0 where nothing is chosen or nothing is true."""
    hits = float(weights[truth & chosen].sum())
    precision = hits / max(float(weights[chosen].sum()), 1e-12)
    recall = hits / max(float(weights[truth].sum()), 1e-12)
    return precision, recall, 2 * precision * recall / max(precision + recall, 1e-12)


def auroc(truth: Truth, scores: Doubles, weights: Doubles | None = None) -> float:
    """The chance that a supporting pair scores above another, ties counting half; nan where a label is missing."""
    weights = np.ones(len(truth)) if weights is None else weights
    if not (weights[truth].any() and weights[~truth].any()):
        return float("nan")
    return float(roc_auc_score(truth, scores, sample_weight=weights))


def calibration_error(truth: Truth, scores: Doubles, weights: Doubles) -> float:
    """Expected calibration error: mean gap of P and the share that is true, over ten bins of equal width (Naeini 2015)."""
    bins = np.minimum((scores * _BINS).astype(np.int64), _BINS - 1)
    said, true = (np.bincount(bins, weights * values, _BINS) for values in (scores, truth.astype(np.float64)))
    return float(np.abs(said - true).sum() / weights.sum())


def rate_weights(truth: Truth, weights: Doubles | None = None) -> Doubles:
    """Factors that make positives `BASE_RATE` of the (weighted) whole, float64[n]."""
    given = np.ones(len(truth)) if weights is None else weights
    share = float(np.average(truth, weights=given))
    return np.where(truth, BASE_RATE / max(share, 1e-12), (1 - BASE_RATE) / max(1 - share, 1e-12))


def best_threshold(truth: Truth, scores: Floats, weights: Doubles | None = None) -> float:
    """The score with the best F1 when it and all above are called positive; between equals the higher one.

    Without `weights` every pair counts alike; `rate_weights(truth)` asks for the best F1 at the base rate. Rounded down to
    four places, so that the pair it was taken from still passes it. Without any positive it is 1.
    """
    if not truth.any():
        return 1.0
    order = np.argsort(-scores, kind="stable")
    ranked, counted = scores[order], (np.ones(len(truth)) if weights is None else weights)[order]
    hits = np.cumsum(counted * truth[order])
    f1 = 2 * hits / (np.cumsum(counted) + hits[-1])
    ends = np.append(ranked[1:] != ranked[:-1], True)
    return float(np.floor(float(ranked[int(np.argmax(np.where(ends, f1, -1.0)))]) * 1e4) / 1e4)


def _average_precision(truth: Truth, scores: Doubles, weights: Doubles) -> float:
    return float(average_precision_score(truth, scores, sample_weight=weights)) if weights[truth].any() else np.nan


def _percentiles(values: Doubles) -> tuple[float, float]:
    if len(values) == 0 or np.isnan(values).mean() > 0.5:
        return float("nan"), float("nan")
    low, high = np.nanpercentile(values, [2.5, 97.5])
    return float(low), float(high)
