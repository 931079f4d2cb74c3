"""Train the detector `embedded`: `python -m berdseye.detectors.train_embedded DATA_FOLDER [--out FILE]`.

Equal data gives equal bytes. Weights are fitted on train, thresholds chosen on dev, and measures taken on test; no debate is
in two of these splits.
"""

import argparse
import hashlib
import json
import sys
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score

from berdseye.data.errors import BadInputError, BerdseyeError
from berdseye.detectors.baselines import BASE_RATE, RandomDetector, clipped_cosines
from berdseye.detectors.embedded import Logistic, Weights
from berdseye.detectors.features import features
from berdseye.detectors.quality import RESAMPLES, best_threshold, intervals, precision_recall_f1, rate_weights
from berdseye.detectors.training_pairs import (
    SOURCES,
    SPLITS,
    LabelledPair,
    counts,
    kinds,
    labelled_pairs,
    read_debates,
)

SEED = 0
OUT = Path(__file__).parent / "weights" / "embedded.json"

_FEWEST_OF_A_LABEL = 5

Floats = npt.NDArray[np.float32]
Doubles = npt.NDArray[np.float64]
Truth = npt.NDArray[np.bool_]


def train(folder: Path, seed: int = SEED) -> Weights:
    """Train weights with their card from the debate files of `folder`; raises `BadInputError` for a missing or broken file."""
    pairs = labelled_pairs(read_debates(folder), seed)
    _require_both_labels(pairs, folder)
    plain = [p.pair for p in pairs]
    values, cosines = features(plain), clipped_cosines(plain)[:, None]
    models = {"embedded": _fitted(values, pairs), "similarity(static)": _fitted(cosines, pairs)}
    chance = RandomDetector()
    scores = {
        "embedded": models["embedded"].probabilities(values),
        "similarity(static)": models["similarity(static)"].probabilities(cosines),
        chance.name: chance.predict(plain),
    }
    thresholds = {name: m.threshold for name, m in models.items()} | {chance.name: chance.threshold}
    card: dict[str, Any] = {
        "data": {name: hashlib.sha256((folder / name).read_bytes()).hexdigest() for name in SOURCES},
        "seed": seed,
        "splits": counts(pairs),
        "pairs_by_kind": kinds(pairs),
        "base_rate": BASE_RATE,
        "interval": f"95%, {RESAMPLES} bootstrap samples of debates",
        "figures": {name: figures(pairs, p, thresholds[name], seed) for name, p in scores.items()},
    }
    return Weights(models["embedded"], models["similarity(static)"], card)


def figures(pairs: Sequence[LabelledPair], scores: Floats, threshold: float, seed: int) -> dict[str, Any]:
    """Return dev and test measures of probabilities float32[n_pairs]; those with an interval are [value, low, high]."""
    out: dict[str, Any] = {}
    for split in ("dev", "test"):
        rows = _rows(pairs, split)
        mine = [pairs[i] for i in rows]
        truth, score = _truth(mine), scores[rows].astype(np.float64)
        debates = np.array([p.debate for p in mine])
        chosen = score >= threshold

        def f1(w: Doubles, truth: Truth = truth, chosen: Truth = chosen) -> float:
            return precision_recall_f1(truth, chosen, w)[2]

        def f1_at_rate(w: Doubles, truth: Truth = truth, chosen: Truth = chosen) -> float:
            return precision_recall_f1(truth, chosen, w * rate_weights(truth, w))[2]

        def auroc(w: Doubles, truth: Truth = truth, score: Doubles = score) -> float:
            return float(roc_auc_score(truth, score, sample_weight=w))

        precision, recall, _ = precision_recall_f1(truth, chosen, rate_weights(truth))
        out[split] = {
            "auroc": _interval(auroc, debates, seed),
            "f1": _interval(f1, debates, seed),
            "f1_at_base_rate": _interval(f1_at_rate, debates, seed),
            "precision_at_base_rate": _rounded(precision),
            "recall": _rounded(recall),
            "called_positive_at_base_rate": _rounded(float(np.average(chosen, weights=rate_weights(truth)))),
            "auroc_against": _by_kind(mine, truth, score),
            "claim_or_denial": _contrast(mine, score),
        }
    return out


def main(arguments: Sequence[str] | None = None) -> int:
    """Train, write the weights and print the card; the exit status is 2, with one line, if the data cannot be used."""
    parser = argparse.ArgumentParser(
        prog="python -m berdseye.detectors.train_embedded", description="Train the detector `embedded`."
    )
    parser.add_argument("folder", type=Path, metavar="DATA_FOLDER", help=f"Folder with {' and '.join(SOURCES)}.")
    parser.add_argument("--out", type=Path, default=OUT, help="File to write (default: the shipped weights).")
    options = parser.parse_args(arguments)
    try:
        weights = train(options.folder)
    except BerdseyeError as error:
        print(error, file=sys.stderr)
        return 2
    options.out.parent.mkdir(parents=True, exist_ok=True)
    options.out.write_text(weights.to_json(), encoding="utf-8")
    print(json.dumps(weights.card, indent=1))
    print(f"Wrote {options.out} (version {weights.embedded.version}, threshold {weights.embedded.threshold}).")
    return 0


def _fitted(values: Floats, pairs: Sequence[LabelledPair]) -> Logistic:
    """Fit a logistic regression on train, shift it to the base rate, and choose its threshold on dev."""
    rows = _rows(pairs, "train")
    truth = _truth([pairs[i] for i in rows])
    train_values = values[rows].astype(np.float64)
    mean, scale = train_values.mean(axis=0), train_values.std(axis=0)
    scale[scale < 1e-9] = 1.0
    fit = LogisticRegression(C=1.0, solver="newton-cholesky", tol=1e-8, max_iter=200)
    fit.fit((train_values - mean) / scale, truth)
    shift = _logit(BASE_RATE) - _logit(float(truth.mean()))
    draft = Logistic(
        mean=_rounded_all(mean),
        scale=_rounded_all(scale),
        coefficients=_rounded_all(fit.coef_[0]),
        intercept=_rounded(float(fit.intercept_[0]) + shift, 6),
        threshold=0.0,
    )
    dev = _rows(pairs, "dev")
    truth = _truth([pairs[i] for i in dev])
    threshold = best_threshold(truth, draft.probabilities(values[dev]), rate_weights(truth))
    return Logistic(draft.mean, draft.scale, draft.coefficients, draft.intercept, threshold)


def _by_kind(pairs: Sequence[LabelledPair], truth: Truth, scores: Doubles) -> dict[str, float]:
    """Return the AUROC of all positives against the negatives of each kind."""
    kind = np.array([p.kind for p in pairs])
    out = {}
    for name in sorted(set(kind[~truth])):
        rows = truth | (kind == name)
        out[str(name)] = _rounded(float(roc_auc_score(truth[rows], scores[rows])))
    return out


def _contrast(pairs: Sequence[LabelledPair], scores: Doubles) -> dict[str, float]:
    """Return how often the right one of a claim and its denial scores higher, over passages paired with both.

    `always_claim` is the share of passages for which always preferring the claim would be right.
    """
    by_passage: dict[str, list[int]] = defaultdict(list)
    for i, p in enumerate(pairs):
        if p.kind == "claim":
            by_passage[p.pair.passage].append(i)
    both = [rows for rows in by_passage.values() if len(rows) == 2]
    if not both:
        return {}
    right = [scores[rows[not pairs[rows[0]].supports]] > scores[rows[bool(pairs[rows[0]].supports)]] for rows in both]
    return {
        "passages": len(both),
        "right": _rounded(float(np.mean(right))),
        "always_claim": _rounded(float(np.mean([pairs[rows[0]].supports for rows in both]))),
    }


def _interval(statistic: Callable[[Doubles], float], debates: npt.NDArray[np.int64], seed: int) -> list[float]:
    """Return a statistic and its 95% percentile interval, from samples of whole debates with replacement."""
    [(low, high)] = intervals({"it": statistic}, debates, resamples=RESAMPLES, seed=seed).values()
    return [_rounded(statistic(np.ones(len(debates)))), _rounded(low), _rounded(high)]


def _require_both_labels(pairs: Sequence[LabelledPair], folder: Path) -> None:
    counts_by_split: Mapping[str, dict[str, int]] = counts(pairs)
    for split in SPLITS:
        few = min(
            counts_by_split[split]["positives"], counts_by_split[split]["pairs"] - counts_by_split[split]["positives"]
        )
        if few < _FEWEST_OF_A_LABEL:
            raise BadInputError(
                f"The {split} split needs at least {_FEWEST_OF_A_LABEL} pairs of each label, got {few} of one label.",
                where=folder,
            )


def _rows(pairs: Sequence[LabelledPair], split: str) -> npt.NDArray[np.int64]:
    return np.array([i for i, p in enumerate(pairs) if p.split == split], dtype=np.int64)


def _truth(pairs: Sequence[LabelledPair]) -> Truth:
    return np.array([p.supports for p in pairs], dtype=np.bool_)


def _logit(p: float) -> float:
    return float(np.log(p / (1 - p)))


def _rounded(x: float, places: int = 4) -> float:
    return round(float(x), places)


def _rounded_all(values: Doubles) -> tuple[float, ...]:
    return tuple(_rounded(x, 6) for x in values)


if __name__ == "__main__":
    sys.exit(main())
