"""Comparison of a newly trained detector with the present one, on held-out questions from which neither has learned."""

import math
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal, get_args

import numpy as np
import numpy.typing as npt

from berdseye.data.datasets.labelled_pairs import LabelledPair
from berdseye.data.datasets.stored import same_question
from berdseye.data.errors import UnknownNameError
from berdseye.data.progress import Progress, silent
from berdseye.data.texts.truncation import cut_note
from berdseye.detectors.labelling import predict_all
from berdseye.detectors.protocol import Detector, Floats, count_truncated
from berdseye.detectors.quality import Doubles, Ranked, Truth, intervals, precision_recall_f1
from berdseye.evaluation.statistics.significance import compare

Adopt = Literal["if-better", "always", "never"]
ADOPTS: tuple[Adopt, ...] = get_args(Adopt)
FEWEST_QUESTIONS = 5
"""The smallest number of held-out questions for a verdict."""
_RESAMPLES = 2_000
_NAMES = {"f1": "F1", "auroc": "AUROC", "accuracy": "accuracy"}
Figure = Callable[[Doubles], float]


@dataclass(frozen=True)
class Difference:
    """A figure of both detectors, and the difference new minus present with its 95% interval over questions; NaN if undefined."""

    figure: str
    present: float
    new: float
    difference: float
    low: float
    high: float


@dataclass(frozen=True)
class Improvement:
    """Two detectors compared on `pairs` pairs of `questions` held-out questions.

    `seen` held-out pairs are left out because the present detector has learned from their questions, and `simulated` ones because
    they have no label without the votes of simulated annotators. `p` belongs to the difference in accuracy by question
    (randomisation test). `present_truncated` and `new_truncated` are the numbers of distinct pairs with a text that each detector
    cut (None: it does not report this).
    """

    present: str
    present_version: str
    new: str
    new_version: str
    pairs: int
    questions: int
    seen: int
    differences: tuple[Difference, ...]
    p: float
    present_truncated: int | None = None
    new_truncated: int | None = None
    simulated: int = 0

    @property
    def verdict(self) -> Literal["better", "worse", "no clear difference"]:
        """The verdict by F1: better or worse if the interval of the difference excludes 0, otherwise no clear difference."""
        f1 = next((d for d in self.differences if d.figure == "f1"), None)
        if f1 is None or self.questions < FEWEST_QUESTIONS or math.isnan(f1.low):
            return "no clear difference"
        return "better" if f1.low > 0 else "worse" if f1.high < 0 else "no clear difference"

    def __str__(self) -> str:
        simulated = ""
        if self.simulated:
            simulated = (
                f" {self.simulated:,} held-out pairs without a label by people are left out: simulated annotators count in "
                "training alone."
            )
        if not self.pairs:
            return f"There is no held-out judged pair, so the two detectors cannot be compared.{simulated}"
        figures = ", ".join(
            f"{_NAMES[d.figure]} {d.present:.3f} -> {d.new:.3f} ({d.difference:+.3f}, "
            + ("no interval)" if math.isnan(d.low) else f"{d.low:+.3f} to {d.high:+.3f})")
            for d in self.differences
        )
        few = ""
        if self.questions < FEWEST_QUESTIONS:
            few = f" A verdict needs at least {FEWEST_QUESTIONS} questions."
        seen = f" {self.seen} held-out pairs from which {self.present} has learned are left out." if self.seen else ""
        counts = ((self.present, self.present_truncated), (self.new, self.new_truncated))
        cut = "".join(f" {text}" for text in (cut_note(name, count, self.pairs) for name, count in counts) if text)
        return (
            f"{self.new} against {self.present} on {self.pairs:,} pairs of {self.questions:,} held-out questions: "
            f"{self.verdict}. {figures}.{few}{seen}{simulated}{cut}"
        )

    def as_row(self) -> dict[str, Any]:
        """Return the comparison as a dictionary for JSON."""
        return asdict(self) | {"verdict": self.verdict, "summary": str(self)}


def compare_detectors(
    present: Detector,
    new: Detector,
    held_out: Sequence[LabelledPair],
    *,
    learned: frozenset[str] = frozenset(),
    simulated: int = 0,
    seed: int = 0,
    progress: Progress = silent,
) -> Improvement:
    """Compare two detectors, each at its own threshold, on `held_out`.

    `learned` holds the questions (`same_question`) on which the present detector was trained; their pairs are left out.
    `simulated` is the number of pairs that `held_out` lacks because they have no label by people. Intervals come from a paired
    bootstrap: whole questions are drawn with replacement, and both detectors are measured on the same draw.
    """
    rows = [row for row in held_out if _question(row) not in learned]
    names, place = np.unique(np.array([_question(row) for row in rows], dtype=str), return_inverse=True)
    seen = len(held_out) - len(rows)
    if not rows:
        names_and_versions = (present.name, present.version, new.name, new.version)
        return Improvement(*names_and_versions, 0, 0, seen, (), math.nan, simulated=simulated)
    truth = np.array([row.supports for row in rows], dtype=bool)
    pairs = [row.pair for row in rows]
    before, after = (
        _figures(truth, predict_all(detector, pairs, progress=progress).astype(np.float64), detector.threshold)
        for detector in (present, new)
    )
    differences = _differences(before, after, place.astype(np.int64), _RESAMPLES, seed)
    p = _by_question(before["accuracy"], after["accuracy"], place, seed)
    return Improvement(
        present.name,
        present.version,
        new.name,
        new.version,
        len(rows),
        len(names),
        seen,
        differences,
        p,
        count_truncated(present, pairs),
        count_truncated(new, pairs),
        simulated,
    )


def paired_differences(
    truth: Truth,
    present: tuple[Floats, float],
    new: tuple[Floats, float],
    groups: npt.NDArray[np.int64],
    *,
    resamples: int = _RESAMPLES,
    seed: int = 0,
) -> tuple[Difference, ...]:
    """Return the differences new minus present in F1, AUROC and accuracy, with intervals from a paired bootstrap over groups
    int64[n].

    `present` and `new` hold the probabilities float32[n] and the threshold of each detector.
    """
    before, after = (_figures(truth, values.astype(np.float64), threshold) for values, threshold in (present, new))
    return _differences(before, after, groups, resamples, seed)


def worth_adopting(comparison: Improvement, mode: Adopt) -> bool:
    """Whether to adopt the new detector; raises `UnknownNameError` for an unknown mode."""
    if mode not in ADOPTS:
        raise UnknownNameError("rule for adopting", mode, ADOPTS)
    return mode == "always" or (mode == "if-better" and comparison.verdict == "better")


def _differences(
    before: dict[str, Figure], after: dict[str, Figure], groups: npt.NDArray[np.int64], resamples: int, seed: int
) -> tuple[Difference, ...]:
    spans = intervals(
        {name: _difference(after[name], before[name]) for name in after}, groups, resamples=resamples, seed=seed
    )
    ones = np.ones(len(groups))
    return tuple(
        Difference(name, before[name](ones), after[name](ones), after[name](ones) - before[name](ones), *spans[name])
        for name in after
    )


def _figures(truth: Truth, scores: Doubles, threshold: float) -> dict[str, Figure]:
    """Return the figures as functions of the weights of rows."""
    chosen = scores >= threshold
    return {
        "f1": lambda w: precision_recall_f1(truth, chosen, w)[2],
        "auroc": Ranked(truth, scores).auroc,
        "accuracy": lambda w: float(np.average(chosen == truth, weights=w)),
    }


def _difference(after: Figure, before: Figure) -> Figure:
    return lambda w: after(w) - before(w)


def _by_question(before: Figure, after: Figure, place: npt.NDArray[np.intp], seed: int) -> float:
    """Return the two-sided p of the difference in accuracy over questions; NaN for fewer than two questions."""
    masks = [(place == number).astype(np.float64) for number in range(int(place.max()) + 1)]
    values = {"new": np.array([after(m) for m in masks]), "present": np.array([before(m) for m in masks])}
    (comparison,) = compare(values, test="randomisation", correction="none", seed=seed)
    return comparison.p


def _question(row: LabelledPair) -> str:
    return same_question(row.question or row.pair.perspective)
