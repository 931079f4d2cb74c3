"""A detector's figures on labelled pairs, and how fast it was."""

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
from berdseye.detectors.protocol import Detector, Floats
from berdseye.detectors.quality import RESAMPLES, Quality, Truth, quality
from berdseye.evaluation.detection.pairs import intervals_over

FIGURES = ("accuracy", "precision", "recall", "f1", "auroc", "average_precision", "ece")
"""The figures of detection, shares from 0 to 1."""

_UNDEFINED = (np.nan, np.nan)


@dataclass(frozen=True)
class Scored:
    """A detector's probabilities float32[n] of rows, their figures, and the distinct pairs it read a second."""

    detector: str
    version: str
    threshold_source: str
    probabilities: Floats
    quality: Quality
    pairs_per_second: float

    @property
    def verdicts(self) -> Truth:
        """Which rows are called supporting, bool[n]."""
        return self.probabilities >= self.quality.threshold

    def as_row(self) -> dict[str, Any]:
        """What `berdseye detector score --json` prints."""
        figures = asdict(self.quality)
        intervals = figures.pop("intervals")
        return {
            "detector": self.detector,
            "version": self.version,
            **figures,
            "pairs_per_second": self.pairs_per_second,
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
    """Figures of a detector at its own threshold or another; raises `BadInputError` for one outside [0, 1].

    Recall and average precision are `nan` where no row supports, and the latter, like AUROC, where all do.
    """
    if threshold is not None and not 0.0 <= threshold <= 1.0:
        raise BadInputError(f"The threshold is {threshold:g}.", hint="Choose one from 0 to 1.")
    chosen = detector.threshold if threshold is None else threshold
    source = detector.threshold_source if threshold is None else "given"
    probabilities, speed = timed_predictions(detector, [row.pair for row in rows], progress=progress)
    figures = quality_of(rows, probabilities, chosen, resamples=resamples)
    return Scored(detector.name, detector.version, source, probabilities, figures, speed)


def rescored(scored: Scored, rows: Sequence[LabelledPair], threshold: float, source: str) -> Scored:
    """The same probabilities of the same rows at another threshold."""
    return replace(scored, threshold_source=source, quality=quality_of(rows, scored.probabilities, threshold))


def quality_of(
    rows: Sequence[LabelledPair], probabilities: Floats, threshold: float, *, resamples: int = RESAMPLES
) -> Quality:
    """Figures of `probabilities` float32[n] for n rows, `nan` where the labels of the rows leave them undefined."""
    truth = np.array([row.supports for row in rows], dtype=bool)
    found = quality(truth, probabilities, threshold, intervals_over(rows), resamples=resamples)
    if 0 < found.positives < found.n:
        return found
    intervals = found.intervals | {"auroc": _UNDEFINED, "average_precision": _UNDEFINED}
    if found.positives:
        return replace(found, average_precision=np.nan, intervals=intervals)
    return replace(found, average_precision=np.nan, recall=np.nan, intervals=intervals | {"recall": _UNDEFINED})


def timed_predictions(
    detector: Detector, pairs: Sequence[Pair], *, progress: Progress = silent
) -> tuple[Floats, float]:
    """P(supports) of each pair, float32[n_pairs], and distinct pairs a second.

    Each distinct pair is asked once and without the label cache; one pair is asked before the clock starts, so that loading
    does not count.
    """
    distinct = list(dict.fromkeys(pairs))
    detector.predict(distinct[:1])
    began = perf_counter()
    found = predict_all(detector, distinct, progress=progress)
    seconds = max(perf_counter() - began, 1e-9)
    known = dict(zip(distinct, found.tolist(), strict=True))
    return np.array([known[pair] for pair in pairs], dtype=np.float32), len(distinct) / seconds
