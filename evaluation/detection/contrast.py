"""Contrast checks: pairs of cases (twins) with one passage and two perspectives, of which it supports one, in five categories.

Both perspectives of a twin are on the topic of the passage, so a detector of topics is right in half of the cases. The
perspective that shares more words with the passage is the supported one about half of the time, and half of the statements with a
negation are supported. The cases were written for this project.
"""

import json
import re
from collections.abc import Sequence
from functools import lru_cache
from importlib.resources import files
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from berdseye.data.records import Pair
from berdseye.detectors.protocol import Detector
from berdseye.detectors.quality import Doubles, intervals
from berdseye.evaluation.statistics.intervals import Estimate, mean_with_interval

ALL = "all"
NEGATED = "negated perspective"
ALWAYS_YES = "always yes"
ALWAYS_PLAIN = "always the statement without a negation"
MORE_SHARED_WORDS = "the statement that shares more words"
_UNKNOWN = Estimate(np.nan, np.nan, np.nan, 0)
_WORD = re.compile(r"[^\W_]+")


class ContrastCase(NamedTuple):
    """One of two twins; `negated` says whether this statement has the negation, in the category of negations only."""

    id: str
    twin: str
    category: str
    topic: str
    pair: Pair
    supports: bool
    negated: bool | None = None


class ContrastResult(NamedTuple):
    """A detector's figures in a category, shares from 0 to 1, with intervals over its `twins`.

    `pairwise` is the share of twins whose supported statement scores higher (ties count half), `accuracy` is at the threshold,
    `auroc` is over all cases, and `called` is the share of cases that the detector labels as supporting.
    """

    detector: str
    version: str
    category: str
    twins: int
    pairwise: Estimate
    accuracy: Estimate
    auroc: Estimate
    called: float


@lru_cache(maxsize=1)
def contrast_cases() -> tuple[ContrastCase, ...]:
    """Return all cases; twins follow each other."""
    text = (files("berdseye.evaluation") / "detection" / "contrast_cases.jsonl").read_text(encoding="utf-8")
    return tuple(_case(json.loads(line)) for line in text.splitlines())


def categories() -> list[str]:
    """Return the five categories of cases, in the order of the file."""
    return list(dict.fromkeys(case.category for case in contrast_cases()))


def contrast(detector: Detector) -> list[ContrastResult]:
    """Compute a detector's figures in each category and in all categories together."""
    probabilities = detector.predict([case.pair for case in contrast_cases()]).astype(np.float64)
    return [_result(detector, category, probabilities) for category in (*categories(), ALL)]


def contrast_references() -> list[ContrastResult]:
    """Compute the figures of rules that need no understanding: always yes; always the statement without a negation; always the
    statement that shares more words with the passage.

    Each rule chooses one statement of each twin (always yes: both), so accuracy equals the pairwise figure.
    """
    cases = contrast_cases()
    scores = {
        ALWAYS_YES: np.ones(len(cases)),
        ALWAYS_PLAIN: np.array([float(not case.negated) for case in cases]),
        MORE_SHARED_WORDS: np.array([_shared(case.pair) for case in cases]),
    }
    return [
        ContrastResult(name, "", category, estimate.n, estimate, estimate, _UNKNOWN, np.nan)
        for name, values in scores.items()
        for category in (*categories(), ALL)
        if name != ALWAYS_PLAIN or category == NEGATED
        for estimate in [mean_with_interval(_leads(_places(category), values))]
    ]


def contrast_table(results: Sequence[ContrastResult]) -> pd.DataFrame:
    """Return one row per category and detector, in percent: pairwise, accuracy and auroc, FIGURE_low, FIGURE_high,
    pct_positive."""
    return pd.DataFrame([_row(result) for result in results])


def _result(detector: Detector, category: str, probabilities: Doubles) -> ContrastResult:
    places = _places(category)
    cases = [contrast_cases()[i] for i in places]
    truth, scores = np.array([case.supports for case in cases], dtype=bool), probabilities[places]
    _, twins = np.unique([min(case.id, case.twin) for case in cases], return_inverse=True)
    called = scores >= detector.threshold
    ahead = (np.sign(scores[truth][:, None] - scores[~truth]) + 1) / 2

    def auroc(weights: Doubles) -> float:
        ordered = weights[truth] @ ahead @ weights[~truth]
        return float(ordered / (weights[truth].sum() * weights[~truth].sum()))

    low, high = intervals({"auroc": auroc}, twins)["auroc"]
    pairwise = mean_with_interval(_leads(places, probabilities))
    accuracy = mean_with_interval(np.bincount(twins, called == truth) / np.bincount(twins))
    return ContrastResult(
        detector.name,
        detector.version,
        category,
        pairwise.n,
        pairwise,
        accuracy,
        Estimate(auroc(np.ones(len(truth))), low, high, pairwise.n),
        float(called.mean()),
    )


def _row(result: ContrastResult) -> dict[str, Any]:
    row: dict[str, Any] = {"category": result.category, "detector": result.detector, "twins": result.twins}
    for name in ("pairwise", "accuracy", "auroc"):
        estimate: Estimate = getattr(result, name)
        row |= {name: 100 * estimate.value, f"{name}_low": 100 * estimate.low, f"{name}_high": 100 * estimate.high}
    return row | {"pct_positive": 100 * result.called}


def _case(raw: dict[str, Any]) -> ContrastCase:
    pair = Pair(raw["passage"], raw["perspective"])
    return ContrastCase(
        raw["id"], raw["twin"], raw["category"], raw["topic"], pair, bool(raw["label"]), raw.get("negated")
    )


def _places(category: str) -> list[int]:
    return [i for i, case in enumerate(contrast_cases()) if category in (case.category, ALL)]


def _leads(places: Sequence[int], scores: Doubles) -> Doubles:
    """Return 1 for each twin whose supported statement scores higher, 0.5 for equal scores, and 0 otherwise."""
    cases = contrast_cases()
    of_case = {cases[i].id: scores[i] for i in places}
    lead = [of_case[cases[i].id] - of_case[cases[i].twin] for i in places if cases[i].supports]
    return np.asarray((np.sign(lead) + 1) / 2, dtype=np.float64)


def _shared(pair: Pair) -> float:
    """Return the share of the perspective's words that occur in the passage."""
    passage, words = (set(_WORD.findall(text.lower())) for text in (pair.passage, pair.perspective))
    return len(words & passage) / len(words)
