"""The card of a training: what it was made from and how good it proved, on pairs that it was not fitted to."""

import math
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from berdseye.data.labelled_pairs import LabelledPair
from berdseye.detectors.base_rate import BASE_RATE
from berdseye.detectors.protocol import Floats
from berdseye.detectors.quality import RESAMPLES, best_threshold, precision_recall_f1, quality, rate_weights
from berdseye.detectors.training.head import truth
from berdseye.detectors.training.training_set import TrainingSet


def threshold_on_dev(data: TrainingSet, probabilities: Floats) -> tuple[float, str]:
    """The threshold with the best F1 on dev, given P of its pairs float32[n], and what it was chosen on in words."""
    return best_threshold(truth(data.dev), probabilities), f"best F1 on {len(data.dev):,} dev pairs"


def figures(data: TrainingSet, dev: Floats, test: Floats, threshold: float) -> dict[str, Any]:
    """`dev`, `test` (None where no pair is held out) and `measured` of a card, from P of the pairs of both splits."""
    on_dev = _figures(data.dev, dev, threshold)
    on_test = _figures(data.test, test, threshold) if data.test else None
    best = on_test or on_dev
    low, high = best["intervals"]["f1"]
    spread = f" ({low:.2f} to {high:.2f})" if low is not None and high is not None else ""
    auroc = f"AUROC {best['auroc']:.2f}, " if best["auroc"] is not None else ""
    where = "held-out pairs" if on_test else "dev pairs that it was chosen on (none were held out)"
    share = best["positives"] / best["n"]
    measured = (
        f"{auroc}F1 {best['f1']:.2f}{spread} on {best['n']:,} {where} of {Path(data.source).name}, {share:.0%} positive"
    )
    return {"dev": on_dev, "test": on_test, "measured": measured}


def _figures(pairs: Sequence[LabelledPair], probabilities: Floats, threshold: float) -> dict[str, Any]:
    labels = truth(pairs)
    known = [p.question for p in pairs] if all(p.question for p in pairs) else None
    found = asdict(quality(labels, probabilities, threshold, known, resamples=RESAMPLES))
    at_rate = rate_weights(labels)
    if labels.any() and not labels.all():
        found["f1_at_base_rate"] = precision_recall_f1(labels, probabilities >= np.float32(threshold), at_rate)[2]
        found["base_rate"] = BASE_RATE
    plain: dict[str, Any] = _plain(found)
    return plain


def _plain(value: Any) -> Any:
    """For JSON: rounded, and None for what is not a number."""
    if isinstance(value, dict):
        return {key: _plain(v) for key, v in value.items()}
    if isinstance(value, tuple | list):
        return [_plain(v) for v in value]
    if isinstance(value, float):
        return round(value, 6) if math.isfinite(value) else None
    return value
