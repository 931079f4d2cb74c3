"""Two runs question by question: who wins, and which perspectives one of them loses.

What is compared: a stored run, under a version of its data set, with the labels of a source.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt
import pandas as pd

from berdseye.annotation.judgments.log import Judgments
from berdseye.data.progress import Progress, silent
from berdseye.data.records import Perspective
from berdseye.data.runs.stored import Run
from berdseye.data.workspace import Workspace
from berdseye.evaluation.labels.runs import LabelledRun, labelled_run
from berdseye.evaluation.labels.sources import LabelSource
from berdseye.evaluation.labels.support import Support
from berdseye.evaluation.measures import Measure
from berdseye.evaluation.scores.counted import Counted
from berdseye.evaluation.scores.enough_judged import MIN_JUDGED, below, enough_judged, min_judged_of
from berdseye.evaluation.scores.scoring import counted_values, pool_of
from berdseye.evaluation.statistics.significance import Comparison, Test, adjusted, compare

WIN, LOSS, TIE, NO_VALUE, ONLY_FIRST, ONLY_SECOND = OUTCOMES = (
    "win",
    "loss",
    "tie",
    "no value",
    "only first",
    "only second",
)
_LEVEL: Final = 1e-9
_QUESTION_COLUMNS = ("question_id", "question", "first", "second", "difference", "outcome", "lost", "gained",
                     "row_first", "row_second")  # fmt: skip
_PERSPECTIVE_COLUMNS = ("question_id", "question", "place", "perspective", "stance", "first", "second", "change")


@dataclass(frozen=True)
class Contrast:
    """`questions`: a row for each that either run has, the greatest difference first. Columns: question_id, question, first and
    second (the measure, NaN where it has no value), difference (second minus first), outcome ('win' for the second, 'loss',
    'tie', 'no value', 'only first', 'only second'), lost and gained (perspectives that the first covers within k and the second
    does not, and the other way round), row_first and row_second (where each run has it, -1 where it does not).

    `perspectives`: a row for each that both have, in the same order. Columns: question_id, question, place (in the first, from
    1), perspective, stance, first and second (the rank that covers it, NaN where none does), change ('lost', 'gained', '').

    `comparison` is over the questions that both have a value for, and so are `means`; `judged` is judged@k of either. Where too
    little is judged of one side, no question has a value for it, and `withheld` says so
    (`berdseye.evaluation.scores.enough_judged`).
    """

    measure: Measure
    questions: pd.DataFrame
    perspectives: pd.DataFrame
    comparison: Comparison
    means: tuple[float, float]
    judged: tuple[float, float]
    withheld: str = ""

    @property
    def k(self) -> int:
        return self.measure.k

    def count(self, outcome: str) -> int:
        return int((self.questions["outcome"] == outcome).sum())


def contrast(
    first: LabelledRun,
    second: LabelledRun,
    measure: Measure,
    counted: tuple[Counted, Counted],
    *,
    pools: tuple[Support, Support] | None = None,
    min_judged: float = MIN_JUDGED,
    test: Test = "randomisation",
    seed: int = 0,
) -> Contrast:
    """Compare two runs by question; they may be of different pipelines, corpora, detectors or versions of a data set.

    Questions are the same where id and text are. One that a run lacks has no difference: it is named, and never counts as
    zero. `counted` says which questions of either count (`evaluation.scores.counted`). A pooled measure is computed from `pools`,
    what either supports with the passages that it does not hold.
    """
    runs, supports = (first, second), pools or (first.support, second.support)
    judged = (supports[0].judged_at(measure.k), supports[1].judged_at(measure.k))
    enough = [enough_judged(share, min_judged) for share in judged]
    sides = [
        _by_question(run, counted_values(measure, support, counts), shown)
        for run, support, counts, shown in zip(runs, supports, counted, enough, strict=True)
    ]
    rows, ranks = [], []
    for key in dict.fromkeys([*sides[0], *sides[1]]):
        a, b = (side.get(key) for side in sides)
        found = _ranks(a, b, measure.k) if a and b else []
        values = [side.value if side else np.nan for side in (a, b)]
        lost, gained = (tuple(r[1].text for r in found if r[4] == change) for change in ("lost", "gained"))
        places = (side.row if side else -1 for side in (a, b))
        rows.append((*key, *values, values[1] - values[0], _outcome(a, b), lost, gained, *places))
        ranks += [(*key, place, p.text, p.stance or "none", *both, change) for place, p, *both, change in found]
    questions = pd.DataFrame(rows, columns=list(_QUESTION_COLUMNS))
    one, other = (questions[name].to_numpy(dtype=np.float64) for name in ("first", "second"))
    [comparison] = compare(
        {"second": other, "first": one}, test=test, correction="none", bounds=measure.differences, seed=seed
    )
    order = questions["difference"].abs().sort_values(ascending=False, kind="stable", na_position="last").index
    questions = questions.loc[order].reset_index(drop=True)
    held = pd.DataFrame(ranks, columns=list(_PERSPECTIVE_COLUMNS))
    standing = {key: n for n, key in enumerate(zip(questions["question_id"], questions["question"], strict=True))}
    by = [standing[key] for key in zip(held["question_id"], held["question"], strict=True)]
    held = held.iloc[np.argsort(by, kind="stable")].reset_index(drop=True)
    both_known = ~np.isnan(one) & ~np.isnan(other)
    means = (float(one[both_known].mean()), float(other[both_known].mean())) if both_known.any() else (np.nan, np.nan)
    return Contrast(measure, questions, held, comparison, means, judged, "" if all(enough) else below(min_judged))


def contrast_table(contrasts: Sequence[Contrast], correction: str) -> pd.DataFrame:
    """A row a measure: the means of both over the questions they share, the difference with its 95% interval, p and p corrected
    for the number of measures, wins, losses and ties, n and what was left out, judged@k of both."""
    comparisons = adjusted([c.comparison for c in contrasts], correction)
    return pd.DataFrame(
        [
            {
                "measure": str(c.measure),
                "first": c.means[0],
                "second": c.means[1],
                "difference": told.difference,
                "low": told.low,
                "high": told.high,
                "p": told.p,
                "adjusted p": told.adjusted,
                "wins": c.count(WIN),
                "losses": c.count(LOSS),
                "ties": c.count(TIE),
                "n": told.n,
                "left out": told.left_out,
                "judged first": c.judged[0],
                "judged second": c.judged[1],
                "test": told.test,
                "withheld": c.withheld,
            }
            for c, told in zip(contrasts, comparisons, strict=True)
        ]
    )


@dataclass(frozen=True)
class _Side:
    row: int
    value: float
    ranks: tuple[tuple[Perspective, int], ...]


def _by_question(run: LabelledRun, found: npt.NDArray[np.float64], shown: bool) -> dict[tuple[str, str], _Side]:
    values = found if shown else np.full(len(found), np.nan)
    ranks = run.first_ranks().tolist()
    return {
        (q.id, q.text): _Side(row, float(values[row]), tuple(zip(q.perspectives, ranks[row], strict=False)))
        for row, q in enumerate(run.questions)
    }


def _ranks(first: _Side, second: _Side, k: int) -> list[tuple[int, Perspective, float, float, str]]:
    """Place, perspective, both ranks and what changed, of those that both have, by their texts."""
    known = {perspective.text: rank for perspective, rank in reversed(second.ranks)}
    found = []
    for place, (perspective, a) in enumerate(first.ranks, start=1):
        if (b := known.get(perspective.text)) is not None:
            covered = (0 < a <= k, 0 < b <= k)
            change = "" if covered[0] == covered[1] else "lost" if covered[0] else "gained"
            found.append((place, perspective, a or np.nan, b or np.nan, change))
    return found


def _outcome(first: _Side | None, second: _Side | None) -> str:
    if first is None or second is None:
        return ONLY_SECOND if first is None else ONLY_FIRST
    difference = second.value - first.value
    if np.isnan(difference):
        return NO_VALUE
    return TIE if abs(difference) < _LEVEL else WIN if difference > 0 else LOSS


Side = tuple[Run, LabelSource]


def contrasts(
    workspace: Workspace,
    judgments: Judgments,
    sides: tuple[Side, Side],
    measures: Sequence[Measure],
    *,
    min_judged: float | None = None,
    test: Test = "randomisation",
    seed: int = 0,
    progress: Progress = silent,
) -> list[Contrast]:
    """Two sides compared by each measure. Raises `StaleError` where a run does not fit its data set or corpus any more, and
    `BadInputError` for a corrected source, which labels no pair."""
    depth = max(m.k for m in measures)
    first, second = (labelled_run(workspace, judgments, run, source, depth, progress=progress) for run, source in sides)
    one, other = (pool_of(workspace, judgments, run, source, measures, progress=progress) for run, source in sides)
    pools = None
    if one.qrels is not None and other.qrels is not None:
        pools = (one.qrels.support(sides[0][0].ids), other.qrels.support(sides[1][0].ids))
    counted, floor = (one.counted, other.counted), min_judged_of(workspace, min_judged)
    return [
        contrast(first, second, m, counted, pools=pools if m.pooled else None, min_judged=floor, test=test, seed=seed)
        for m in measures
    ]
