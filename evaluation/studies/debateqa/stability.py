"""The stability of DebateQA's measures of answers over evaluators and prompts."""

from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import kendalltau

from berdseye.data.answers import AnswerSet
from berdseye.data.errors import BadInputError
from berdseye.data.progress import Progress, silent
from berdseye.data.records import Question
from berdseye.data.workspace import Workspace
from berdseye.evaluation.answer_measures.measures import AnswerMeasure
from berdseye.evaluation.answer_measures.people import decision_agreements
from berdseye.evaluation.studies.charts import matrix
from berdseye.evaluation.studies.debateqa.meta import by_answer, decisions_table
from berdseye.evaluation.studies.debateqa.study import Scored
from berdseye.evaluation.studies.result import StudyResult, Table

_FEWEST = 3


def debateqa_stability(
    workspace: Workspace,
    dataset: str,
    sets: Sequence[AnswerSet],
    questions: Sequence[Question],
    measures: Sequence[AnswerMeasure],
    *,
    progress: Progress = silent,
) -> StudyResult:
    """Compute Kendall's tau between the orders of systems by every pair of measures, such as one measure with different models or
    prompts, and the share of equal decisions of every two D.A. measures.

    Raises `BadInputError` for fewer than three sets of answers or two measures.
    """
    if len(sets) < _FEWEST or len(measures) < 2:
        raise BadInputError(
            f"Stability needs at least {_FEWEST} sets of answers and 2 measures, got {len(sets)} and {len(measures)}.",
            hint="Name more of them, or more wraps of P.D. with --wraps.",
        )
    scored = Scored(workspace, sets, questions, measures, progress)
    cells: list[dict[str, Any]] = [
        scored.cell(answers, m, system=answers.name, measure=str(m)) for answers in sets for m in measures
    ]
    values = Table(
        "debateqa-stability-values", "Values by evaluator and prompt", pd.DataFrame(cells), ("system",), ("measure",), 3
    )
    taus = []
    for a, b in combinations(measures, 2):
        x, y = (scored.means(m) * (-1.0 if m.lower_is_better else 1.0) for m in (a, b))
        both = ~(np.isnan(x) | np.isnan(y))
        tau = float(kendalltau(x[both], y[both]).statistic) if both.sum() > 1 else np.nan
        taus += [
            {"measure": str(one), "other": str(two), "value": tau, "n": int(both.sum())}
            for one, two in ((a, b), (b, a))
        ]
    frame = pd.DataFrame(taus)
    table = Table(
        "debateqa-stability", "Kendall's tau between orders of systems (stability over evaluators and prompts)", frame,
        ("measure",), ("other",), 3,
    )  # fmt: skip
    tables = [table, values]
    charts = {
        "stability": matrix(frame, "Agreement of orders of systems (Kendall's tau)", row="measure", column="other")
    }
    deciding = [m for m in measures if m.is_decision]
    if len(deciding) > 1:
        agreements = decision_agreements([], {str(m): by_answer(scored, m) for m in deciding})
        tables.append(decisions_table(agreements))
    known = frame["value"].dropna()
    notes = (
        *scored.notes,
        f"Mean tau over {len(known) // 2} pairs of measures: {known.mean():.3f}; minimum {known.min():.3f}.",
    )
    settings = {"dataset": dataset, "answers": [s.name for s in sets], "measures": [str(m) for m in measures]}
    return StudyResult("debateqa-stability", settings, tables, charts, notes)
