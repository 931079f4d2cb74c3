"""Write a trained network of `stance`: its file, calibrated and measured on held-out data, and its card.

The threshold is the mean of those that the dev parts of the held-out sources suggest, and the figures of the card are measured on
test parts, each at the threshold of the other sources.
"""

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from sklearn.linear_model import LogisticRegression

from berdseye.detectors.protocol import Floats
from berdseye.detectors.quality import Doubles, auroc, precision_recall_f1, rate_weights
from berdseye.detectors.stance.detector import StanceDetector, opposing_odds, supports_odds
from berdseye.detectors.stance.examples import CLAIMS_FILE, DEBATES_FOLDER, PAIRS_FILE, POOL_FILE, SPLIT_FILE
from berdseye.detectors.stance.held_out import (
    HeldOut,
    Scored,
    against,
    claims_with_reasons,
    for_thresholds,
    held_out,
    scored,
    threshold_from_others,
)
from berdseye.detectors.stance.network_files import CARD_FILE
from berdseye.detectors.stance.written import WRITTEN_FILES
from berdseye.detectors.training_pairs import SOURCES

if TYPE_CHECKING:
    from berdseye.detectors.stance.network import PairTokenizer, StanceNetwork

DATA_FILES = (PAIRS_FILE, *(DEBATES_FOLDER / name for name in SOURCES), CLAIMS_FILE, POOL_FILE, SPLIT_FILE)


def publish(
    network: "StanceNetwork",
    tokenizer: "PairTokenizer",
    card: Mapping[str, Any],
    folder: Path,
    out: Path,
    *,
    exact: bool = False,
    bits: Literal[4, 8] = 8,
) -> None:
    """Export a trained network into `out`, calibrate and measure it on the data of `folder`, and write and print its card.

    Weights are stored as `export` does with `exact` and `bits`. The card is `card` with the hashes of the data, the calibrations,
    the threshold and the figures. Raises `BadInputError` as `export` does.
    """
    from berdseye.detectors.stance.export import export

    export(network, tokenizer, out, exact=exact, bits=bits)
    data = {str(path): file_hash(folder / path) for path in DATA_FILES}
    if card.get("continued"):
        data |= {path.name: file_hash(path) for path in WRITTEN_FILES.values()}
    written: dict[str, Any] = {"data": data, **card}
    unmeasured = {"threshold": 0.5, "threshold_source": "", "measured": ""}
    unmeasured |= dict.fromkeys(("calibration", "reason_calibration", "opposing_calibration"), (1.0, 0.0))
    _write_card(out, unmeasured | written)
    uncalibrated = StanceDetector(out)
    written["calibration"] = calibrated(uncalibrated, *held_out(folder, "dev").values())
    written["reason_calibration"] = calibrated(uncalibrated, claims_with_reasons(folder, "dev"))
    opposed = against(folder, "dev").values()
    written["opposing_calibration"] = calibrated(uncalibrated, *opposed, odds_of=opposing_odds)
    _write_card(out, unmeasured | written)
    written |= measured(StanceDetector(out), folder)
    _write_card(out, written)
    print(json.dumps(written, indent=1))


def calibrated(
    detector: StanceDetector, *parts: Sequence[HeldOut], odds_of: Callable[[Floats], Doubles] = supports_odds
) -> tuple[float, float]:
    """Return the slope and the offset of the log-odds that fit held-out pairs, each part at a base rate of 16.8% and of equal
    weight; `odds_of` finds them in probabilities, float32[n, 3]."""
    odds = np.concatenate([odds_of(detector.stances([one.pair for one in pairs])) for pairs in parts])
    truths = [np.array([one.supports for one in pairs], dtype=bool) for pairs in parts]
    weights = np.concatenate([rate_weights(truth) / len(truth) for truth in truths])
    truth = np.concatenate(truths)
    fitted = LogisticRegression(C=1e6).fit(odds[:, None], truth, sample_weight=weights * len(truth) / weights.sum())
    return round(float(fitted.coef_[0, 0]), 4), round(float(fitted.intercept_[0]), 4)


def measured(detector: StanceDetector, folder: Path) -> dict[str, Any]:
    """Return the shipped threshold with its source, and the figures on the test parts of the held-out sources."""
    thresholds = {name: scored(detector, pairs).threshold() for name, pairs in for_thresholds(folder).items()}
    figures = {
        name: _figures(scored(detector, pairs), threshold_from_others(thresholds, name))
        for name, pairs in held_out(folder, "test").items()
    }
    articles = figures["articles"]
    return {
        "thresholds": thresholds,
        "threshold": round(float(np.mean(list(thresholds.values()))), 4),
        "threshold_source": "mean of the best thresholds on articles, arguments, debates, judged passages and extracts, all held "
        "out",
        "figures": figures,
        "measured": f"AUROC {articles['auroc']:.2f} and F1 {articles['f1']:.2f} at 16.8% positive on windows of articles, "
        f"AUROC {figures['arguments']['auroc']:.2f} on arguments and {figures['debates']['auroc']:.2f} on debates, none of them "
        "trained on",
    }


def _figures(one: Scored, threshold: float) -> dict[str, float]:
    p = one.probabilities.astype(np.float64)
    f1 = precision_recall_f1(one.truth, p >= threshold, rate_weights(one.truth))[2]
    return {
        "pairs": len(p),
        "auroc": round(auroc(one.truth, p), 4),
        "f1": round(f1, 4),
        "threshold": round(threshold, 4),
    }


def file_hash(path: Path) -> str:
    """Return the SHA-256 of a file, in hex digits."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _write_card(folder: Path, card: dict[str, Any]) -> None:
    (folder / CARD_FILE).write_text(json.dumps(card, indent=1, sort_keys=True) + "\n", encoding="utf-8")
