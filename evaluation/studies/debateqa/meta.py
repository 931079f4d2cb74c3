"""DebateQA's meta-evaluation: agreement of measures of answers with people (tables 14 and 15), and their stability over
evaluators and prompts."""

from collections.abc import Sequence
from itertools import combinations
from typing import Any

import altair as alt
import numpy as np
import pandas as pd
from scipy.stats import kendalltau

from berdseye.data.answers import AnswerSet
from berdseye.data.errors import BadInputError
from berdseye.data.progress import Progress, silent
from berdseye.data.records import Question
from berdseye.data.workspace import Workspace
from berdseye.evaluation.answer_measures.measures import AnswerMeasure
from berdseye.evaluation.answer_measures.people import (
    DisputeLabel,
    Preference,
    dispute_agreement,
    elo_ratings,
    fleiss_kappa,
    majority,
    pair_accuracy,
    rank_agreement,
)
from berdseye.evaluation.published import published
from berdseye.evaluation.statistics.intervals import mean_with_interval
from berdseye.evaluation.studies.charts import dots
from berdseye.evaluation.studies.debateqa.figures import same_model
from berdseye.evaluation.studies.debateqa.study import Scored
from berdseye.evaluation.studies.result import StudyResult, Table, digest

_FEWEST = 3
_PRINTED = {"PD": "pd", "DA": "da", "Direct-Score": "direct-score", "G-Eval": "g-eval", "Num-of-POVs": "num-of-povs",
            "BLEU": "bleu", "ROUGE-L": "rouge-l", "BARTScore": "bartscore", "SemScore": "semscore"}  # fmt: skip


def debateqa_meta(
    workspace: Workspace,
    dataset: str,
    sets: Sequence[AnswerSet],
    questions: Sequence[Question],
    measures: Sequence[AnswerMeasure],
    *,
    preferences: Sequence[Preference] = (),
    labels: Sequence[DisputeLabel] = (),
    seed: int = 0,
    progress: Progress = silent,
) -> StudyResult:
    """Compute tables 14 and 15: every measure against people's pairwise preferences, and D.A. against people's labels.

    Table 14: Elo ratings from the preferences, the Spearman and Kendall correlations of each measure's means with them, and the
    share of single preferences that the measure orders as people do. Table 15: on the answers that have a majority label. Raises
    `BadInputError` without preferences and labels.
    """
    if not preferences and not labels:
        raise BadInputError(
            "There are no preferences or labels to compare with.", hint="Give --preferences or --labels."
        )
    scored = Scored(workspace, sets, questions, measures, progress)
    tables: list[Table] = []
    notes = list(scored.notes)
    if preferences:
        names = {answers.name for answers in sets}
        kept = [p for p in preferences if p.a in names and p.b in names]
        if len(kept) < len(preferences):
            notes.append(
                f"{len(preferences) - len(kept)} of {len(preferences)} preferences are left out: they concern other systems."
            )
        ratings = elo_ratings(kept, seed=seed) if kept else {}
        tables += [_alignment(scored, kept, ratings), _ratings(ratings, kept)]
    if labels:
        table, dispute_notes = _dispute(scored, labels)
        tables.append(table)
        notes += dispute_notes
    settings = {
        "dataset": dataset, "answers": [s.name for s in sets], "measures": [str(m) for m in measures],
        "preferences": len(preferences), "labels": len(labels), "seed": seed,
        "inputs": digest(preferences, labels, [s.texts for s in sets]),
    }  # fmt: skip
    charts = {
        table.name: dots(table.cells, "agreement with people", row="metric", colour="figure")
        for table in tables
        if table.columns == ("figure",) and table.rows == ("metric",)
    }
    return StudyResult("debateqa-meta", settings, tables, charts, tuple(notes))


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
    prompts. Raises `BadInputError` for fewer than three sets of answers or two measures."""
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
    order = [str(m) for m in measures]
    frame = pd.DataFrame(taus)
    table = Table(
        "debateqa-stability", "Kendall's tau between orders of systems (stability over evaluators and prompts)", frame,
        ("measure",), ("other",), 3,
    )  # fmt: skip
    chart = alt.Chart(frame, title="Agreement of orders of systems (Kendall's tau)").mark_rect().encode(
        alt.X("other:N", sort=order, title=None),
        alt.Y("measure:N", sort=order, title=None),
        alt.Color("value:Q", title="tau", scale=alt.Scale(domain=[-1, 1], scheme="redblue")),
    )  # fmt: skip
    known = frame["value"].dropna()
    notes = (
        *scored.notes,
        f"Mean tau over {len(known) // 2} pairs of measures: {known.mean():.3f}; minimum {known.min():.3f}.",
    )
    settings = {"dataset": dataset, "answers": [s.name for s in sets], "measures": order}
    return StudyResult("debateqa-stability", settings, [table, values], {"stability": chart}, notes)


def _alignment(scored: Scored, preferences: Sequence[Preference], ratings: dict[str, float]) -> Table:
    printed = published("debateqa_pd_alignment")
    cells: list[dict[str, Any]] = []
    for measure in scored.measures:
        values = dict(zip((answers.name for answers in scored.sets), map(float, scored.means(measure)), strict=True))
        agreement = rank_agreement(values, ratings, lower_is_better=measure.lower_is_better)
        paper = _printed(printed, measure)
        place = {
            "metric": str(measure),
            "labels": "people",
            "detector_version": scored.of(scored.sets[0], measure).version,
        }
        for name in ("rho", "tau"):
            cells.append(
                {
                    **place,
                    "figure": name,
                    "value": getattr(agreement, name),
                    "n": agreement.n,
                    "published": paper.get(name),
                }
            )
        by_question = {
            answers.name: dict(
                zip([q.id for q in scored.questions], scored.of(answers, measure).values.tolist(), strict=True)
            )
            for answers in scored.sets
        }
        agreed = mean_with_interval(pair_accuracy(preferences, by_question, lower_is_better=measure.lower_is_better))
        cells.append(
            {**place, "figure": "pairs", "value": agreed.value, "low": agreed.low, "high": agreed.high, "n": agreed.n}
        )
    return Table(
        "debateqa-alignment", "Agreement of measures with people's preferences (DebateQA, table 14)", pd.DataFrame(cells),
        ("metric",), ("figure",), 3,
        ("rho, tau: correlations with people's order of the systems, by Elo. pairs: share of preferences, without ties, that the "
         "measure orders as people do.",),
    )  # fmt: skip


def _ratings(ratings: dict[str, float], preferences: Sequence[Preference]) -> Table:
    games = {name: sum(name in (p.a, p.b) for p in preferences) for name in ratings}
    cells = [{"system": name, "figure": "Elo", "value": rated, "n": games[name]} for name, rated in ratings.items()]
    return Table("debateqa-elo", "People's ratings of the systems", pd.DataFrame(cells), ("system",), ("figure",))


def _dispute(scored: Scored, labels: Sequence[DisputeLabel]) -> tuple[Table, list[str]]:
    people, undecided = majority(labels)
    kappa, complete = fleiss_kappa(labels)
    notes = [f"Fleiss' kappa among people: {kappa:.3f} on the {complete} answers that all people labelled."]
    if undecided:
        notes.append(f"{undecided} answers are left out because people are evenly divided.")
    printed = published("debateqa_da_accuracy").rename(columns={"acc": "accuracy"})
    cells: list[dict[str, Any]] = []
    for measure in (m for m in scored.measures if m.name == "DA"):
        values = {
            (question.id, answers.name): float(value)
            for answers in scored.sets
            for question, value in zip(scored.questions, scored.of(answers, measure).values, strict=True)
        }
        agreement = dispute_agreement(values, people)
        paper = _printed(printed, measure)
        version = scored.of(scored.sets[0], measure).version
        cells += [
            {
                "metric": str(measure), "figure": name, "value": getattr(agreement, name), "n": agreement.n,
                "labels": "people", "detector_version": version, "published": paper.get(name),
            }
            for name in ("accuracy", "f1", "auroc", "mcc")
        ]  # fmt: skip
        notes.append(
            f"{measure}: {agreement.n} answers; people say that {agreement.positive:.0%} of them name the dispute."
        )
    if not cells:
        raise BadInputError(
            "People's labels need a D.A. measure to compare with.", hint="Add DA(MODEL) to the measures."
        )
    return Table(
        "debateqa-dispute", "D.A. against people (DebateQA, table 15)", pd.DataFrame(cells), ("metric",), ("figure",), 3
    ), notes


def _printed(figures: pd.DataFrame, measure: AnswerMeasure) -> dict[str, float]:
    """Return the paper's figures of a measure with the same model, by column; empty if there are none."""
    name = _PRINTED[measure.name]
    if measure.settings.get("prompt") == "zero-shot":
        name = "da zero-shot"
    for row in figures[figures["metric"] == name].to_dict("records"):
        if row["backbone"] == "none" or same_model(measure.model, str(row["backbone"])):
            return {str(k): float(v) for k, v in row.items() if k not in ("metric", "backbone")}
    return {}
