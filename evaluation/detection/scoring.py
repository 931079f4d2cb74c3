"""Figures of a detector on labelled pairs, and its speed."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from time import perf_counter
from typing import Any

import numpy as np

from berdseye.data.datasets.labelled_pairs import LabelledPair
from berdseye.data.errors import BadInputError
from berdseye.data.progress import Progress, silent
from berdseye.data.records import Pair
from berdseye.detectors.labelling import predict_all
from berdseye.detectors.protocol import Detector, Floats, count_truncated
from berdseye.detectors.quality import RESAMPLES, Quality, Truth, quality
from berdseye.evaluation.detection.pairs import intervals_over

FIGURES = ("accuracy", "precision", "recall", "f1", "auroc", "average_precision", "ece")
"""The figures of detection, shares from 0 to 1."""

_UNDEFINED = (np.nan, np.nan)


@dataclass(frozen=True)
class Scored:
    """A detector's probabilities float32[n] of rows, its figures, and its speed in distinct pairs per second.

    `truncated` is the number of distinct pairs with a text that the detector cut (None: it does not report this).
    """

    detector: str
    version: str
    threshold_source: str
    probabilities: Floats
    quality: Quality
    pairs_per_second: float
    truncated: int | None = None

    @property
    def verdicts(self) -> Truth:
        """Which rows the detector labels as supporting, bool[n]."""
        return self.probabilities >= self.quality.threshold

    def as_row(self) -> dict[str, Any]:
        """Return the dictionary that `berdseye detector score --json` prints."""
        figures = asdict(self.quality)
        intervals = figures.pop("intervals")
        return {
            "detector": self.detector,
            "version": self.version,
            **figures,
            "pairs_per_second": self.pairs_per_second,
            "truncated": self.truncated,
            "intervals": intervals,
        }


def score(
    detector: Detector,
    rows: Sequence[LabelledPair],
    threshold: float | None = None,
    *,
    resamples: int = RESAMPLES,
    progress: Progress = silent,
) -> Scored:
    """Compute the figures of a detector at its own threshold or at `threshold`; raises `BadInputError` outside [0, 1].

    Recall is `nan` if no row supports; average precision and AUROC are `nan` if no row or every row supports.
    """
    if threshold is not None and not 0.0 <= threshold <= 1.0:
        raise BadInputError(f"The threshold must be between 0 and 1, got {threshold:g}.")
    chosen = detector.threshold if threshold is None else threshold
    source = detector.threshold_source if threshold is None else "given"
    pairs = [row.pair for row in rows]
    probabilities, speed = timed_predictions(detector, pairs, progress=progress)
    figures = quality_of(rows, probabilities, chosen, resamples=resamples)
    truncated = count_truncated(detector, pairs)
    return Scored(detector.name, detector.version, source, probabilities, figures, speed, truncated)


def rescored(scored: Scored, rows: Sequence[LabelledPair], threshold: float, source: str) -> Scored:
    """Compute the figures of scored rows at another threshold, from the stored probabilities."""
    return replace(scored, threshold_source=source, quality=quality_of(rows, scored.probabilities, threshold))


def quality_of(
    rows: Sequence[LabelledPair], probabilities: Floats, threshold: float, *, resamples: int = RESAMPLES
) -> Quality:
    """Compute the figures of `probabilities` float32[n] for n rows; `nan` where the labels of the rows leave them undefined."""
    truth = np.array([row.supports for row in rows], dtype=bool)
    figures = quality(truth, probabilities, threshold, intervals_over(rows), resamples=resamples)
    if 0 < figures.positives < figures.n:
        return figures
    intervals = figures.intervals | {"auroc": _UNDEFINED, "average_precision": _UNDEFINED}
    if figures.positives:
        return replace(figures, average_precision=np.nan, intervals=intervals)
    return replace(figures, average_precision=np.nan, recall=np.nan, intervals=intervals | {"recall": _UNDEFINED})


def timed_predictions(
    detector: Detector, pairs: Sequence[Pair], *, progress: Progress = silent
) -> tuple[Floats, float]:
    """Return P(supports) of each pair, float32[n_pairs], and the number of distinct pairs per second.

    Each distinct pair is predicted once, without the label cache; one pair is predicted before the clock starts, so that loading
    does not count.
    """
    distinct = list(dict.fromkeys(pairs))
    detector.predict(distinct[:1])
    began = perf_counter()
    probabilities = predict_all(detector, distinct, progress=progress)
    seconds = max(perf_counter() - began, 1e-9)
    by_pair = dict(zip(distinct, probabilities.tolist(), strict=True))
    return np.array([by_pair[pair] for pair in pairs], dtype=np.float32), len(distinct) / seconds
