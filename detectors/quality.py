"""Quality of a detector: measures of its probabilities against gold labels, with intervals over questions."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from berdseye.data.statistics import bootstrap_interval
from berdseye.detectors.baselines import BASE_RATE
from berdseye.detectors.protocol import Floats

Doubles = npt.NDArray[np.float64]
Truth = npt.NDArray[np.bool_]

RESAMPLES = 500
_FIGURES = ("accuracy", "precision", "recall", "f1", "auroc", "average_precision", "ece")
_BINS = 10


@dataclass(frozen=True)
class Quality:
    """Measures of a detector on labelled pairs, as shares from 0 to 1; `nan` if a measure needs both labels.

    `pct_positive` is the share of pairs called supporting, in percent, as in BERDS (v2, table 4); `positives` counts the pairs
    whose label is 1. `ece` is the expected calibration error over ten bins of equal width. `intervals` are 95% percentile
    bootstrap intervals of the measures, resampled by question, or by pair if the questions are unknown.
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
    """Measure `probabilities` float32[n] against `truth` bool[n]; intervals resample `questions` [n] (None: the pairs)."""
    scores = probabilities.astype(np.float64)
    chosen = scores >= threshold
    n = len(truth)
    if n == 0:
        return Quality(0, 0, np.nan, threshold=threshold, intervals={}, **dict.fromkeys(_FIGURES, np.nan))
    drawn_over = (
        np.arange(n) if questions is None else np.unique(np.array(questions, dtype=str), return_inverse=True)[1]
    )
    figures = _figures(truth, scores, chosen)
    return Quality(
        n=n,
        positives=int(truth.sum()),
        pct_positive=100.0 * float(chosen.mean()),
        threshold=threshold,
        intervals=_spans(figures, drawn_over, resamples, seed),
        **figures(np.ones(n)),
    )


def intervals(
    statistics: Mapping[str, Callable[[Doubles], float]],
    groups: npt.NDArray[np.int64],
    *,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> dict[str, tuple[float, float]]:
    """Return 95% percentile intervals of statistics of row weights, from samples of whole groups with replacement.

    An interval is (nan, nan) if there are too few groups, if all samples agree, or if most leave the statistic undefined
    (`berdseye.data.statistics`).
    """
    return _spans(lambda w: {name: of(w) for name, of in statistics.items()}, groups, resamples, seed)


def precision_recall_f1(truth: Truth, chosen: Truth, weights: Doubles) -> tuple[float, float, float]:
    """Return weighted precision, recall and F1; they are 0 if nothing is chosen or nothing is true."""
    return _ratios(*(float(weights[rows].sum()) for rows in (truth & chosen, chosen, truth)))


class Ranked:
    """Truth bool[n] and scores float64[n], sorted once for measures under any weights float64[n]."""

    def __init__(self, truth: Truth, scores: Doubles) -> None:
        distinct, self._place = np.unique(-scores, return_inverse=True)
        self._truth, self._size = truth.astype(np.float64), len(distinct)

    def auroc(self, weights: Doubles) -> float:
        """Return the probability that a supporting pair scores above another, ties counting half; nan if a label is missing."""
        true, false = self._by_score(weights)
        pairs = true.sum() * false.sum()
        return float(((np.cumsum(true) - true / 2) * false).sum() / pairs) if pairs else float("nan")

    def average_precision(self, weights: Doubles) -> float:
        """Return the mean precision at the scores of the supporting pairs, not interpolated; nan if there are none."""
        true, false = self._by_score(weights)
        hits, called = np.cumsum(true), np.cumsum(true + false)
        if not hits[-1]:
            return float("nan")
        return float((true * hits / np.where(called > 0, called, 1)).sum() / hits[-1])

    def _by_score(self, weights: Doubles) -> tuple[Doubles, Doubles]:
        """Return the weights of the supporting and of the other pairs at each score, the highest first."""
        true = weights * self._truth
        return self._summed(true), self._summed(weights - true)

    def _summed(self, weights: Doubles) -> Doubles:
        return np.bincount(self._place, weights, self._size).astype(np.float64, copy=False)


def auroc(truth: Truth, scores: Doubles, weights: Doubles | None = None) -> float:
    """Return the weighted AUROC: the probability that a supporting pair scores above another; nan if a label is missing."""
    return Ranked(truth, scores).auroc(np.ones(len(truth)) if weights is None else weights)


def rate_weights(truth: Truth, weights: Doubles | None = None) -> Doubles:
    """Return factors, float64[n], that make the positives a share of `BASE_RATE` of the (weighted) pairs."""
    base_weights = np.ones(len(truth)) if weights is None else weights
    share = float(np.average(truth, weights=base_weights))
    return np.where(truth, BASE_RATE / max(share, 1e-12), (1 - BASE_RATE) / max(1 - share, 1e-12))


def best_threshold(truth: Truth, scores: Floats, weights: Doubles | None = None) -> float:
    """Return the threshold (a score) with the best F1; of equally good ones the highest.

    Without `weights`, all pairs count equally; `rate_weights(truth)` gives the best F1 at the base rate. The threshold is
    rounded down to four places, so that the pair with this score still reaches it. Without any positive it is 1.
    """
    if not truth.any():
        return 1.0
    order = np.argsort(-scores, kind="stable")
    ranked, counted = scores[order], (np.ones(len(truth)) if weights is None else weights)[order]
    hits = np.cumsum(counted * truth[order])
    f1 = 2 * hits / (np.cumsum(counted) + hits[-1])
    ends = np.append(ranked[1:] != ranked[:-1], True)
    return float(np.floor(float(ranked[int(np.argmax(np.where(ends, f1, -1.0)))]) * 1e4) / 1e4)


def _figures(truth: Truth, scores: Doubles, chosen: Truth) -> Callable[[Doubles], dict[str, float]]:
    """Return a function from weights float64[n] to the measures of `_FIGURES`, which reuses what weights do not change."""
    ranked, bins, off = Ranked(truth, scores), _bins(scores), scores - truth
    sums = np.stack([truth & chosen, chosen, truth, truth == chosen]).astype(np.float64)

    def under(weights: Doubles) -> dict[str, float]:
        # Not a matrix product: the threads of BLAS wait for each other on shared cores.
        hits, called, true, right = (sums * weights).sum(axis=1).tolist()
        precision, recall, f1 = _ratios(hits, called, true)
        return {
            "accuracy": right / float(weights.sum()),
            "precision": precision,
            "recall": recall,
            "f1": f1,
            "auroc": ranked.auroc(weights),
            "average_precision": ranked.average_precision(weights),
            "ece": _gap(bins, off, weights),
        }

    return under


def _ratios(hits: float, called: float, true: float) -> tuple[float, float, float]:
    precision, recall = hits / max(called, 1e-12), hits / max(true, 1e-12)
    return precision, recall, 2 * precision * recall / max(precision + recall, 1e-12)


def _bins(scores: Doubles) -> npt.NDArray[np.int64]:
    return np.minimum((scores * _BINS).astype(np.int64), _BINS - 1)


def _gap(bins: npt.NDArray[np.int64], off: Doubles, weights: Doubles) -> float:
    """Return the mean distance of the probabilities from the truth over the bins; `off` is the difference of each pair."""
    return float(np.abs(np.bincount(bins, weights * off, _BINS)).sum() / weights.sum())


def _spans(
    figures: Callable[[Doubles], Mapping[str, float]], groups: npt.NDArray[np.int64], resamples: int, seed: int
) -> dict[str, tuple[float, float]]:
    """Return 95% percentile intervals, as `intervals` does, of measures that are computed together."""
    names, place = np.unique(groups, return_inverse=True)
    rng = np.random.default_rng(seed)
    drawn: list[Mapping[str, float]] = []
    for _ in range(resamples):
        times = np.bincount(rng.integers(len(names), size=len(names)), minlength=len(names))
        drawn.append(figures(times[place].astype(np.float64)))
    sample = drawn[0] if drawn else figures(np.ones(len(place)))
    return {name: bootstrap_interval(np.array([one[name] for one in drawn]), len(names)) for name in sample}
