"""Choosing a detector's threshold on labelled pairs that it is not tested on."""

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import numpy as np

from data.errors import BadInputError
from data.labelled_pairs import LabelledPair, file_hash
from data.progress import Progress, silent
from detectors.base_rate import BASE_RATE
from detectors.protocol import Detector, Floats
from detectors.quality import best_threshold, precision_recall_f1, rate_weights
from detectors.thresholds import TunedThreshold
from evaluation.detection.labelled_files import read_judged_pairs, rows_to_tune_on
from evaluation.detection.scoring import timed_predictions


def choose_threshold(
    detector: Detector, path: Path, *, at_base_rate: bool = False, progress: Progress = silent
) -> TunedThreshold:
    """The threshold with the best F1 on a file: on its rows of split dev, or on all of a file without splits.

    With `at_base_rate` the rows are weighted so that 16.8% of them are positive, as among retrieved passages. Raises
    `BadInputError` where no row may be used, or where they are of one label.
    """
    held = read_judged_pairs([path])
    rows = rows_to_tune_on(held)
    if not rows:
        raise BadInputError("The file has splits, but no row of split dev.", where=path, hint="Give it some.")
    probabilities, _ = timed_predictions(detector, [row.pair for row in rows], progress=progress)
    try:
        value, f1 = best_f1(rows, probabilities, at_base_rate=at_base_rate)
    except BadInputError as error:
        raise BadInputError(error.what, where=path, hint=error.hint) from error
    part = " (split dev)" if len(rows) < len(held) else ""
    weighted = f" at {BASE_RATE:.1%} positive" if at_base_rate else ""
    return TunedThreshold(
        detector=detector.name,
        version=detector.version,
        value=value,
        data=f"{path.name}{part}{weighted}",
        data_hash=file_hash(path),
        n=len(rows),
        positives=sum(row.supports for row in rows),
        f1=f1,
        created=datetime.now(UTC).isoformat(timespec="seconds"),
    )


def best_f1(rows: Sequence[LabelledPair], probabilities: Floats, *, at_base_rate: bool = False) -> tuple[float, float]:
    """The threshold with the best F1 of `probabilities` float32[n], and that F1; `BadInputError` without both labels."""
    truth = np.array([row.supports for row in rows], dtype=bool)
    if truth.all() or not truth.any():
        raise BadInputError(
            f"All {len(rows)} rows to choose a threshold on are of one label.", hint="It takes rows of both."
        )
    weights = rate_weights(truth) if at_base_rate else np.ones(len(truth))
    value = best_threshold(truth, probabilities, weights)
    return value, precision_recall_f1(truth, probabilities.astype(np.float64) >= value, weights)[2]
