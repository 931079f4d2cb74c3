"""Comparison of two runs by question: which run wins each question, and which perspectives are lost or gained.

Each side of a comparison is a stored run, on a version of its data set, with the labels of a label source.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
import numpy.typing as npt
import pandas as pd

from berdseye.annotation.judgments.log import Judgments
from berdseye.data.progress import Progress, silent
from berdseye.data.records import Perspective
from berdseye.data.runs.stored import Run
from berdseye.data.workspace import Workspace
from berdseye.evaluation.labels.labelled_runs import LabelledRun, labelled_run
from berdseye.evaluation.labels.sources import LabelSource
from berdseye.evaluation.labels.support import Support
from berdseye.evaluation.measures import Measure
from berdseye.evaluation.scores.counted import Counted
from berdseye.evaluation.scores.enough_judged import MIN_JUDGED, Floor, below, enough_judged, min_judged_of
from berdseye.evaluation.scores.scoring import counted_values, pool_of
from berdseye.evaluation.scores.unjudged import Unjudged, unjudged_of
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
Side = tuple[Run, LabelSource]


@dataclass(frozen=True)
class Contrast:
    """Two runs compared by question.

    `questions`: one row for each question of either run, the largest absolute difference first. Columns: question_id, question,
    first and second (the measure, NaN if it has no value), difference (second minus first), outcome ('win' of the second run,
    'loss', 'tie', 'no value', 'only first', 'only second'), lost (perspectives that the first run covers in its top k and the
    second does not), gained (the reverse), row_first and row_second (the question's row in each run, -1 if the run lacks it).

    `perspectives`: one row for each perspective that both runs have, in the order of `questions`. Columns: question_id, question,
    place (in the first run, from 1), perspective, stance, first and second (the first rank that covers it, NaN if none does),
    change ('lost', 'gained', '').

    `comparison` and `means` are over the questions for which both runs have a value; `judged` is judged@k of each run. If too few
    pairs of a run have labels, none of its questions has a value, and `withheld` says why
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

    Questions match if both their ids and their texts are equal. A question that one run lacks is listed without a difference; it
    never counts as zero. `counted` says which questions of each run count (`evaluation.scores.counted`). Pooled measures are
    computed from `pools`: the support of each run, including passages of the pool that the run did not retrieve.
    """
    runs, supports = (first, second), pools or (first.support, second.support)
    values = [counted_values(measure, support, c) for support, c in zip(supports, counted, strict=True)]
    judged = (
        supports[0].judged_at(measure.k, ~np.isnan(values[0])),
        supports[1].judged_at(measure.k, ~np.isnan(values[1])),
    )
    enough = [enough_judged(share, min_judged) for share in judged]
    sides = [_by_question(run, own, shown) for run, own, shown in zip(runs, values, enough, strict=True)]
    rows, ranks = [], []
    for key in dict.fromkeys([*sides[0], *sides[1]]):
        a, b = (side.get(key) for side in sides)
        changes = _ranks(a, b, measure.k) if a and b else []
        both = [side.value if side else np.nan for side in (a, b)]
        lost, gained = (tuple(r[1].text for r in changes if r[4] == change) for change in ("lost", "gained"))
        places = (side.row if side else -1 for side in (a, b))
        rows.append((*key, *both, both[1] - both[0], _outcome(a, b), lost, gained, *places))
        ranks += [(*key, place, p.text, p.stance or "none", *at, change) for place, p, *at, change in changes]
    questions = pd.DataFrame(rows, columns=list(_QUESTION_COLUMNS))
    one, other = (questions[name].to_numpy(dtype=np.float64) for name in ("first", "second"))
    [comparison] = compare(
        {"second": other, "first": one}, test=test, correction="none", bounds=measure.differences, seed=seed
    )
    order = questions["difference"].abs().sort_values(ascending=False, kind="stable", na_position="last").index
    questions = questions.loc[order].reset_index(drop=True)
    perspectives = pd.DataFrame(ranks, columns=list(_PERSPECTIVE_COLUMNS))
    position = {key: n for n, key in enumerate(zip(questions["question_id"], questions["question"], strict=True))}
    positions = [position[key] for key in zip(perspectives["question_id"], perspectives["question"], strict=True)]
    perspectives = perspectives.iloc[np.argsort(positions, kind="stable")].reset_index(drop=True)
    both_known = ~np.isnan(one) & ~np.isnan(other)
    means = (float(one[both_known].mean()), float(other[both_known].mean())) if both_known.any() else (np.nan, np.nan)
    withheld = "" if all(enough) else below(min_judged)
    return Contrast(measure, questions, perspectives, comparison, means, judged, withheld)


def contrast_table(contrasts: Sequence[Contrast], correction: str) -> pd.DataFrame:
    """Return one row for each measure.

    Columns: the means of both runs over the questions they share, the difference with its 95% interval, p, p corrected for the
    number of measures, wins, losses, ties, n, the number of questions left out, and judged@k of both runs.
    """
    comparisons = adjusted([c.comparison for c in contrasts], correction)
    return pd.DataFrame(
        [
            {
                "measure": str(c.measure),
                "first": c.means[0],
                "second": c.means[1],
                "difference": result.difference,
                "low": result.low,
                "high": result.high,
                "p": result.p,
                "adjusted p": result.adjusted,
                "wins": c.count(WIN),
                "losses": c.count(LOSS),
                "ties": c.count(TIE),
                "n": result.n,
                "left out": result.left_out,
                "judged first": c.judged[0],
                "judged second": c.judged[1],
                "test": result.test,
                "withheld": c.withheld,
            }
            for c, result in zip(contrasts, comparisons, strict=True)
        ]
    )


@dataclass(frozen=True)
class _Side:
    row: int
    value: float
    ranks: tuple[tuple[Perspective, int], ...]


def _by_question(run: LabelledRun, scores: npt.NDArray[np.float64], shown: bool) -> dict[tuple[str, str], _Side]:
    values = scores if shown else np.full(len(scores), np.nan)
    ranks = run.first_ranks().tolist()
    return {
        (q.id, q.text): _Side(row, float(values[row]), tuple(zip(q.perspectives, ranks[row], strict=False)))
        for row, q in enumerate(run.questions)
    }


def _ranks(first: _Side, second: _Side, k: int) -> list[tuple[int, Perspective, float, float, str]]:
    """Return place, perspective, both ranks and the change of each perspective whose text both sides have."""
    second_ranks = {perspective.text: rank for perspective, rank in reversed(second.ranks)}
    changes = []
    for place, (perspective, a) in enumerate(first.ranks, start=1):
        if (b := second_ranks.get(perspective.text)) is not None:
            covered = (0 < a <= k, 0 < b <= k)
            change = "" if covered[0] == covered[1] else "lost" if covered[0] else "gained"
            changes.append((place, perspective, a or np.nan, b or np.nan, change))
    return changes


def _outcome(first: _Side | None, second: _Side | None) -> str:
    if first is None or second is None:
        return ONLY_SECOND if first is None else ONLY_FIRST
    difference = second.value - first.value
    if np.isnan(difference):
        return NO_VALUE
    return TIE if abs(difference) < _LEVEL else WIN if difference > 0 else LOSS


def contrasts(
    workspace: Workspace,
    judgments: Judgments,
    sides: tuple[Side, Side],
    measures: Sequence[Measure],
    *,
    min_judged: Floor | None = None,
    unjudged: Unjudged | str | None = None,
    test: Test = "randomisation",
    seed: int = 0,
    progress: Progress = silent,
) -> list[Contrast]:
    """Compare two sides by each of the measures.

    Raises `StaleError` if a run no longer fits its data set or corpus, and `BadInputError` for a corrected label source, which
    does not label single pairs.
    """
    depth = max(m.k for m in measures)
    first, second = (labelled_run(workspace, judgments, run, source, depth, progress=progress) for run, source in sides)
    one, other = (pool_of(workspace, judgments, run, source, measures, progress=progress) for run, source in sides)
    pools = None
    if one.qrels is not None and other.qrels is not None:
        pools = (one.qrels.support(sides[0][0].ids), other.qrels.support(sides[1][0].ids))
    rule, floor = unjudged_of(workspace, unjudged), min_judged_of(workspace, min_judged)
    counted = (replace(one.counted, unjudged=rule), replace(other.counted, unjudged=rule))
    return [
        contrast(first, second, m, counted, pools=pools if m.pooled else None, min_judged=floor, test=test, seed=seed)
        for m in measures
    ]
