"""Held-out pairs that are like retrieved ones, on which `stance` is chosen and measured.

Three sources that training never sees: windows of five neighbouring sentences of articles, with people's evidence labels (IAM);
arguments with key points of held-out topics (ArgKP); and held-out debates, with the passages that a search for a perspective finds.
All positives are on topic, and so are nearly all negatives. Thresholds and shares are computed at a base rate of 16.8%, and a
threshold is always chosen on another source than the one it is measured on.
"""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from berdseye.detectors.quality import (
    Doubles,
    Truth,
    auroc,
    best_threshold,
    intervals,
    precision_recall_f1,
    rate_weights,
)
from berdseye.detectors.stance.examples import DEBATES_FOLDER, StancePair, read_stance_pairs
from berdseye.detectors.training_pairs import labelled_pairs, read_debates

Floats = npt.NDArray[np.float32]
Split = Literal["dev", "test"]
Predict = Callable[[Sequence[tuple[str, str]]], Floats]
"""From (passage, perspective) texts to P of each stance, float32[n, 3]."""

_SENTENCES_A_WINDOW = 5
_RETRIEVED_KINDS = ("own", "claim", "opposing", "sibling", "retrieved")
_RESAMPLES = 500


class HeldOut(NamedTuple):
    """A pair with its label; `group` is its topic (or article, or debate), the unit of intervals."""

    passage: str
    perspective: str
    supports: bool
    kind: str
    group: str


def held_out(folder: Path, split: Split) -> dict[str, list[HeldOut]]:
    """Return the held-out pairs of a split by source: `articles`, `arguments` and `debates`."""
    pairs = [p for p in read_stance_pairs(folder) if p.split == split]
    return {
        "articles": article_windows([p for p in pairs if p.source == "iam-evidence"]),
        "arguments": [
            HeldOut(p.passage, p.perspective, p.kind == "match", p.kind, p.group) for p in pairs if p.source == "argkp"
        ],
        "debates": [
            HeldOut(p.pair.passage, p.pair.perspective, p.supports, p.kind, str(p.debate))
            for p in labelled_pairs(read_debates(folder / DEBATES_FOLDER), 0)
            if p.split == split and p.kind in _RETRIEVED_KINDS
        ],
    }


def article_windows(pairs: Sequence[StancePair]) -> list[HeldOut]:
    """Join five neighbouring sentences of an article to a passage; it supports the claim if one of them is evidence for it."""
    by_claim: dict[tuple[str, str], list[StancePair]] = defaultdict(list)
    for pair in sorted(pairs, key=lambda pair: pair.number):
        by_claim[pair.group, pair.perspective].append(pair)
    out = []
    for (group, claim), rows in by_claim.items():
        for start in range(0, len(rows), _SENTENCES_A_WINDOW):
            window = rows[start : start + _SENTENCES_A_WINDOW]
            if len(window) > 1:
                evidence = any(row.kind == "evidence" for row in window)
                kind = "evidence" if evidence else "on topic, no evidence"
                out.append(HeldOut(" ".join(row.passage for row in window), claim, evidence, kind, group))
    return out


def negations(folder: Path) -> list[StancePair]:
    """Return the pairs with hand-made negations, which are a test and no training data."""
    return [p for p in read_stance_pairs(folder) if p.source.startswith("negation-")]


def claims_and_denials(pairs: Sequence[HeldOut]) -> list[tuple[HeldOut, HeldOut]]:
    """Return passages of debates with the one of a claim and its denial that they support, and the other."""
    by_passage: dict[tuple[str, str], list[HeldOut]] = defaultdict(list)
    for pair in pairs:
        if pair.kind == "claim":
            by_passage[pair.group, pair.passage].append(pair)
    both = [sorted(found, key=lambda pair: not pair.supports) for found in by_passage.values() if len(found) == 2]
    return [(first, second) for first, second in both if first.supports and not second.supports]


class Scored(NamedTuple):
    """Held-out pairs with P(supports) of each, float32[n]."""

    pairs: Sequence[HeldOut]
    probabilities: Floats

    @property
    def truth(self) -> Truth:
        return np.array([pair.supports for pair in self.pairs], dtype=bool)

    def threshold(self) -> float:
        """Return the threshold with the best F1 at the base rate."""
        return best_threshold(self.truth, self.probabilities, rate_weights(self.truth))


def scored(predict: Predict, pairs: Sequence[HeldOut]) -> Scored:
    """Return the pairs with the detector's P(supports)."""
    return Scored(pairs, predict([(pair.passage, pair.perspective) for pair in pairs])[:, 0])


def figures(one: Scored, threshold: float, *, seed: int = 0) -> dict[str, Any]:
    """Return the measures of held-out pairs at a threshold from another source, with 95% intervals over topics.

    `auroc_against` has the AUROC of all positives against the negatives of each kind. Shares and F1 are at the base rate of 16.8%.
    """
    truth, p = one.truth, one.probabilities.astype(np.float64)
    _, groups = np.unique([pair.group for pair in one.pairs], return_inverse=True)
    best = one.threshold()

    def f1(weights: Doubles, at: float) -> float:
        return precision_recall_f1(truth, p >= at, weights * rate_weights(truth, weights))[2]

    statistics: Mapping[str, Callable[[Doubles], float]] = {
        "auroc": lambda w: auroc(truth, p, w),
        "f1": lambda w: f1(w, threshold),
        "best_f1": lambda w: f1(w, best),
    }
    bounds = intervals(statistics, groups, resamples=_RESAMPLES, seed=seed)
    everyone, at_rate = np.ones(len(truth)), rate_weights(truth)
    kinds = np.array([pair.kind for pair in one.pairs])
    return {
        "pairs": len(truth),
        "positives": int(truth.sum()),
        "topics": int(groups.max()) + 1,
        **{name: [_rounded(of(everyone)), *map(_rounded, bounds[name])] for name, of in statistics.items()},
        "threshold": _rounded(threshold),
        "best_threshold": _rounded(best),
        "called_supporting": _rounded(float(np.average(p >= threshold, weights=at_rate))),
        "auroc_against": {
            str(kind): _rounded(auroc(truth[truth | (kinds == kind)], p[truth | (kinds == kind)]))
            for kind in sorted(set(kinds[~truth]))
        },
    }


def _rounded(value: float) -> float:
    return round(float(value), 4)
