"""The card of a training (its data, and its measures on pairs that it was not fitted to), and the curve of a running one."""

import json
import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from berdseye.data.datasets.labelled_pairs import LabelledPair
from berdseye.detectors.baselines import BASE_RATE
from berdseye.detectors.protocol import Floats
from berdseye.detectors.quality import RESAMPLES, best_threshold, precision_recall_f1, quality, rate_weights
from berdseye.detectors.training.head import truth
from berdseye.detectors.training.training_set import TrainingSet

CURVE_FILE = "curve.jsonl"


@dataclass(frozen=True)
class Point:
    """A point of the curve after `step` optimiser steps: the mean loss since the previous point, and the best F1 on dev.

    `trial` numbers the settings that a search tries, from 0.
    """

    trial: int
    step: int
    loss: float
    dev_f1: float


class Curve:
    """The curve of one trial, appended to the file of the training."""

    def __init__(self, folder: Path, trial: int) -> None:
        self.path = folder / CURVE_FILE
        self.trial = trial

    def resume(self, step: int) -> None:
        """Delete the points of this trial after `step`, which the resumed training repeats."""
        points = [p for p in read_curve(self.path.parent) if p.trial != self.trial or p.step <= step]
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.path.write_text("".join(_line(p) for p in points), encoding="utf-8")

    def last_f1(self) -> float:
        """Return the F1 on dev of the last point of this trial; NaN without points."""
        return next((p.dev_f1 for p in reversed(read_curve(self.path.parent)) if p.trial == self.trial), math.nan)

    def add(self, step: int, loss: float, dev_f1: float) -> None:
        """Append one point."""
        with self.path.open("a", encoding="utf-8") as file:
            file.write(_line(Point(self.trial, step, round(loss, 6), round(dev_f1, 6))))


def read_curve(folder: Path) -> list[Point]:
    """Read the points so far; a line that a killed process left incomplete is skipped."""
    path = folder / CURVE_FILE
    points = []
    for line in path.read_text(encoding="utf-8").splitlines() if path.exists() else []:
        try:
            points.append(Point(**json.loads(line)))
        except (ValueError, TypeError):
            continue
    return points


def _line(point: Point) -> str:
    return json.dumps(asdict(point)) + "\n"


def threshold_on_dev(data: TrainingSet, probabilities: Floats) -> tuple[float, str]:
    """Return the threshold with the best F1 on dev, given P of its pairs, float32[n], and the description of its source."""
    return best_threshold(truth(data.dev), probabilities), f"best F1 on {len(data.dev):,} dev pairs"


def figures(data: TrainingSet, dev: Floats, test: Floats, threshold: float) -> dict[str, Any]:
    """Return `dev`, `test` (None if no pair is held out) and `measured` of a card, from P of the pairs of both splits."""
    on_dev = _figures(data.dev, dev, threshold)
    on_test = _figures(data.test, test, threshold) if data.test else None
    best = on_test or on_dev
    low, high = best["intervals"]["f1"]
    spread = f" ({low:.2f} to {high:.2f})" if low is not None and high is not None else ""
    auroc = f"AUROC {best['auroc']:.2f}, " if best["auroc"] is not None else ""
    where = "held-out pairs" if on_test else "dev pairs (the threshold was chosen on them; no pairs were held out)"
    share = best["positives"] / best["n"]
    simulated = f"; {data.simulated:,} of {data.judgments:,} judgments are simulated" if data.simulated else ""
    measured = (
        f"{auroc}F1 {best['f1']:.2f}{spread} on {best['n']:,} {where} of {Path(data.source).name}, {share:.0%} positive"
        f"{simulated}"
    )
    return {"dev": on_dev, "test": on_test, "measured": measured}


def _figures(pairs: Sequence[LabelledPair], probabilities: Floats, threshold: float) -> dict[str, Any]:
    labels = truth(pairs)
    questions = [p.question for p in pairs] if all(p.question for p in pairs) else None
    measures = asdict(quality(labels, probabilities, threshold, questions, resamples=RESAMPLES))
    at_rate = rate_weights(labels)
    if labels.any() and not labels.all():
        measures["f1_at_base_rate"] = precision_recall_f1(labels, probabilities >= np.float32(threshold), at_rate)[2]
        measures["base_rate"] = BASE_RATE
    plain: dict[str, Any] = _plain(measures)
    return plain


def _plain(value: Any) -> Any:
    """Prepare a value for JSON: floats are rounded, and None if not finite."""
    if isinstance(value, dict):
        return {key: _plain(v) for key, v in value.items()}
    if isinstance(value, tuple | list):
        return [_plain(v) for v in value]
    if isinstance(value, float):
        return round(value, 6) if math.isfinite(value) else None
    return value
