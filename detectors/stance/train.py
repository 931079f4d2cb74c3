"""Train the detector `stance`: `python -m berdseye.detectors.stance.train DATA_FOLDER BASE [--work FOLDER] [--out FOLDER]`.

The data folder has `stance/pairs.parquet` and the debates of `perspectrum/`. Training takes hours on two cores; run it again with
the same work folder to resume. The threshold is the mean of those that the dev parts of the held-out sources suggest, and every
figure of the card is measured on test parts.
"""

import argparse
import hashlib
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from berdseye.data.errors import BerdseyeError
from berdseye.data.records import Pair
from berdseye.detectors.stance.detector import CARD_FILE, StanceDetector
from berdseye.detectors.stance.development import (
    Floats,
    Predict,
    claims_and_denials,
    figures,
    held_out,
    negations,
    scored,
)
from berdseye.detectors.stance.examples import DEBATES_FOLDER, PAIRS_FILE, SUPPORTS, training_examples
from berdseye.detectors.training_pairs import SOURCES

OUT = Path(__file__).parents[1] / "weights"


def predicting(detector: StanceDetector) -> Predict:
    """Return the detector as a function of texts."""

    def predict(texts: Sequence[tuple[str, str]]) -> Floats:
        return detector.stances([Pair(passage, perspective) for passage, perspective in texts])

    return predict


def measure(predict: Predict, folder: Path) -> dict[str, Any]:
    """Return thresholds and figures: each test source at the mean threshold of the dev parts of the *other* sources."""
    thresholds = {name: scored(predict, pairs).threshold() for name, pairs in held_out(folder, "dev").items()}
    out: dict[str, Any] = {"thresholds": thresholds, "transfer": {}}
    tests = held_out(folder, "test")
    for name, pairs in tests.items():
        elsewhere = float(np.mean([value for other, value in thresholds.items() if other != name]))
        out["transfer"][name] = figures(scored(predict, pairs), elsewhere)
    twins = claims_and_denials(tests["debates"])
    right = predict([(one.passage, one.perspective) for one, _ in twins])[:, SUPPORTS]
    wrong = predict([(other.passage, other.perspective) for _, other in twins])[:, SUPPORTS]
    out["claim_or_denial"] = {"passages": len(twins), "right": round(float(np.mean(right > wrong)), 4)}
    rows = negations(folder)
    entailed = np.array([row.kind == "entailment" for row in rows], dtype=bool)
    called = predict([(row.passage, row.perspective) for row in rows]).argmax(axis=1) == SUPPORTS
    out["negations"] = {
        "pairs": len(rows),
        "balanced_accuracy": round(float((called[entailed].mean() + (~called[~entailed]).mean()) / 2), 4),
    }
    return out


def main(arguments: Sequence[str] | None = None) -> int:
    """Train, export and measure; the exit status is 2, with one line, if the data cannot be used."""
    parser = argparse.ArgumentParser(
        prog="python -m berdseye.detectors.stance.train", description="Train the detector `stance`."
    )
    parser.add_argument("folder", type=Path, metavar="DATA_FOLDER", help="Folder with stance/ and perspectrum/.")
    parser.add_argument("base", metavar="BASE", help="Folder or name of the transformer to start from.")
    parser.add_argument("--work", type=Path, default=Path("stance-training"), help="Folder of checkpoints.")
    parser.add_argument("--out", type=Path, default=OUT, help="Folder to write (default: the shipped weights).")
    parser.add_argument("--steps", type=int, default=12_000, help="Number of batches.")
    options = parser.parse_args(arguments)
    from berdseye.detectors.stance.export import export
    from berdseye.detectors.stance.network import PairTokenizer
    from berdseye.detectors.stance.training import StanceSettings, train

    settings = StanceSettings(steps=options.steps)
    try:
        examples = training_examples(options.folder, settings.seed)
        network = train(options.base, examples, settings, options.work, progress=_print_progress)
    except BerdseyeError as error:
        print(error, file=sys.stderr)
        return 2
    export(network, PairTokenizer(options.base), options.out)
    card = {
        "data": {
            str(path): hashlib.sha256((options.folder / path).read_bytes()).hexdigest()
            for path in (PAIRS_FILE, *(DEBATES_FOLDER / name for name in SOURCES))
        },
        "settings": settings._asdict(),
        "examples": {name: len(rows) for name, rows in examples.items()},
    }
    _write_card(options.out, card | {"threshold": 0.5, "threshold_source": "", "measured": ""})
    found = measure(predicting(StanceDetector(options.out)), options.folder)
    threshold = round(float(np.mean(list(found["thresholds"].values()))), 4)
    articles = found["transfer"]["articles"]
    card |= found | {
        "threshold": threshold,
        "threshold_source": "mean of the best thresholds on articles, arguments and debates that were not trained on",
        "measured": f"AUROC {articles['auroc'][0]:.2f} on windows of articles, F1 {articles['f1'][0]:.2f} at 16.8% positive; "
        f"prefers the right one of a claim and its denial in {found['claim_or_denial']['right']:.0%}",
    }
    _write_card(options.out, card)
    print(json.dumps(card, indent=1))
    return 0


def _write_card(folder: Path, card: dict[str, Any]) -> None:
    (folder / CARD_FILE).write_text(json.dumps(card, indent=1, sort_keys=True) + "\n", encoding="utf-8")


def _print_progress(done: int, unit: str, total: int) -> None:
    if done % 100 == 0 or done == total:
        print(f"{done:,} of {total:,} {unit}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
