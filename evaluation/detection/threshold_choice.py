"""Choosing a detector's threshold on labelled pairs that it is not tested on."""

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import numpy as np

from berdseye.data.errors import BadInputError
from berdseye.data.labelled_pairs import LabelledPair, file_hash
from berdseye.data.progress import Progress, silent
from berdseye.detectors.base_rate import BASE_RATE
from berdseye.detectors.protocol import Detector, Floats
from berdseye.detectors.quality import best_threshold, precision_recall_f1, rate_weights
from berdseye.detectors.thresholds import TunedThreshold
from berdseye.evaluation.detection.judged_pairs import JudgedPairs
from berdseye.evaluation.detection.labelled_files import read_judged_pairs, rows_to_tune_on
from berdseye.evaluation.detection.operating_points import said_at
from berdseye.evaluation.detection.scoring import timed_predictions


def choose_threshold(
    detector: Detector, path: Path, *, at_base_rate: bool = False, made_by: str = "", progress: Progress = silent
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
        created=_now(),
        made_by=made_by,
    )


def chosen_by_hand(
    detector: Detector, judged: JudgedPairs, probabilities: Floats, value: float, *, made_by: str = ""
) -> TunedThreshold:
    """A threshold that a person chose while they saw what it does to `judged`, whose probabilities are float32[n].

    Raises `BadInputError` for one outside [0, 1], and where there is no pair.
    """
    if not 0.0 <= value <= 1.0:
        raise BadInputError(f"The threshold is {value:g}.", hint="Choose one from 0 to 1.")
    truth = judged.truth
    if not len(truth):
        raise BadInputError("There is no pair to see its effect on.", hint="Choose pairs that have labels.")
    return TunedThreshold(
        detector=detector.name,
        version=detector.version,
        value=value,
        data=judged.name,
        data_hash=judged.hash,
        n=len(truth),
        positives=int(truth.sum()),
        f1=precision_recall_f1(truth, said_at(probabilities, value), np.ones(len(truth)))[2],
        created=_now(),
        made_by=made_by,
        by_hand=True,
    )


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


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
