"""Two runs question by question: who wins, which perspectives one of them loses, and how passages move."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

from data.records import Ids
from evaluation.labelled_runs import LabelledRun
from evaluation.measures import Measure
from evaluation.scoring import judged_values
from evaluation.significance import Comparison, Test, compare

_LEVEL = 1e-9


@dataclass(frozen=True)
class Contrast:
    """`questions`: a row for each that either run has, the greatest difference first. Columns: question_id, question, first and
    second (the measure, NaN where it has no value), difference (second minus first), outcome ('win' for the second, 'loss',
    'tie', 'no value', 'only first', 'only second'), lost and gained (perspectives that the first covers within k and the second
    does not, and the other way round). `comparison` is over the questions that both have a value for.
    """

    questions: pd.DataFrame
    comparison: Comparison
    k: int

    def count(self, outcome: str) -> int:
        return int((self.questions["outcome"] == outcome).sum())


def contrast(
    first: LabelledRun, second: LabelledRun, measure: Measure, *, test: Test = "randomisation", seed: int = 0
) -> Contrast:
    """Compare two runs by question id; they may be of different pipelines, corpora, detectors or versions of a data set.

    A question that one of them lacks has no difference: it is named, and never counts as zero.
    """
    held = [_by_question(run, measure) for run in (first, second)]
    texts = {q.id: q.text for run in (second, first) for q in run.questions}
    rows = []
    for question, text in texts.items():
        a, b = (side.get(question) for side in held)
        covered_a, covered_b = (dict.fromkeys(s.covered) if s else {} for s in (a, b))
        known_a, known_b = (set(s.perspectives) if s else set() for s in (a, b))
        rows.append(
            {
                "question_id": question,
                "question": text,
                "first": a.value if a else np.nan,
                "second": b.value if b else np.nan,
                "outcome": _outcome(a, b),
                "lost": tuple(p for p in covered_a if p in known_b and p not in covered_b),
                "gained": tuple(p for p in covered_b if p in known_a and p not in covered_a),
            }
        )
    columns = ["question_id", "question", "first", "second", "outcome", "lost", "gained"]
    frame = pd.DataFrame(rows, columns=columns)
    frame.insert(4, "difference", frame["second"] - frame["first"])
    values = {name: frame[name].to_numpy(dtype=np.float64) for name in ("second", "first")}
    [comparison] = compare(values, test=test, correction="none", seed=seed)
    order = frame["difference"].abs().sort_values(ascending=False, kind="stable", na_position="last").index
    return Contrast(frame.loc[order].reset_index(drop=True), comparison, measure.k)


def rank_moves(first: Ids, second: Ids) -> pd.DataFrame:
    """Where each passage of two rankings int64[k] of one question stands: passage, first, second; NaN where it is not."""
    places: dict[int, dict[str, float]] = {}
    for name, ids in (("first", first), ("second", second)):
        for rank, passage in enumerate(ids[ids >= 0].tolist(), start=1):
            places.setdefault(passage, {})[name] = rank
    rows = [
        {"passage": p, "first": at.get("first", np.nan), "second": at.get("second", np.nan)} for p, at in places.items()
    ]
    return pd.DataFrame(rows, columns=["passage", "first", "second"])


@dataclass(frozen=True)
class _Side:
    value: float
    perspectives: tuple[str, ...]
    covered: tuple[str, ...]


def _by_question(run: LabelledRun, measure: Measure) -> dict[str, _Side]:
    values: npt.NDArray[np.float64] = judged_values(measure, run.support)
    ranks = run.first_ranks()
    found = {}
    for row, question in enumerate(run.questions):
        texts = tuple(p.text for p in question.perspectives)
        covered = tuple(t for t, r in zip(texts, ranks[row].tolist(), strict=False) if 0 < r <= measure.k)
        found[question.id] = _Side(float(values[row]), texts, covered)
    return found


def _outcome(first: _Side | None, second: _Side | None) -> str:
    if first is None or second is None:
        return "only second" if first is None else "only first"
    difference = second.value - first.value
    if np.isnan(difference):
        return "no value"
    return "tie" if abs(difference) < _LEVEL else "win" if difference > 0 else "loss"
