"""DebateQA's meta-evaluation: do measures of answers agree with people (tables 14, 15), and with themselves (stability)?"""

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
    """Tables 14 and 15: every measure against people's pairwise preferences, and D.A. against people's labels.

    Table 14: Elo from the preferences, then Spearman and Kendall of each measure's means with it; beside them the share of
    single preferences that the measure orders as people do. Table 15: on the answers that most people agree about.
    """
    if not preferences and not labels:
        raise BadInputError("There is nobody's word to compare with.", hint="Give --preferences or --labels.")
    scored = Scored(workspace, sets, questions, measures, progress)
    tables: list[Table] = []
    notes = list(scored.notes)
    if preferences:
        known = {held.name for held in sets}
        kept = [p for p in preferences if p.a in known and p.b in known]
        if len(kept) < len(preferences):
            notes.append(
                f"{len(preferences) - len(kept)} of {len(preferences)} preferences are on other systems: left out."
            )
        ratings = elo_ratings(kept, seed=seed) if kept else {}
        tables += [_alignment(scored, kept, ratings), _ratings(ratings, kept)]
    if labels:
        table, told = _dispute(scored, labels)
        tables.append(table)
        notes += told
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
    """Kendall's tau between the orders of systems that each two measures give: the same measure by other models or prompts."""
    if len(sets) < _FEWEST or len(measures) < 2:
        raise BadInputError(
            "Stability needs three sets of answers and two measures.",
            hint="Name more of them, or wraps of P.D. with --wraps.",
        )
    scored = Scored(workspace, sets, questions, measures, progress)
    cells: list[dict[str, Any]] = [
        scored.cell(held, m, system=held.name, measure=str(m)) for held in sets for m in measures
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
        f"Mean tau over {len(known) // 2} pairs of measures: {known.mean():.3f}; least {known.min():.3f}.",
    )
    settings = {"dataset": dataset, "answers": [s.name for s in sets], "measures": order}
    return StudyResult("debateqa-stability", settings, [table, values], {"stability": chart}, notes)


def _alignment(scored: Scored, preferences: Sequence[Preference], ratings: dict[str, float]) -> Table:
    printed = published("debateqa_pd_alignment")
    cells: list[dict[str, Any]] = []
    for measure in scored.measures:
        values = dict(zip((held.name for held in scored.sets), map(float, scored.means(measure)), strict=True))
        found = rank_agreement(values, ratings, lower_is_better=measure.lower_is_better)
        paper = _printed(printed, measure)
        place = {
            "metric": str(measure),
            "labels": "people",
            "detector_version": scored.of(scored.sets[0], measure).version,
        }
        for name in ("rho", "tau"):
            cells.append(
                {**place, "figure": name, "value": getattr(found, name), "n": found.n, "published": paper.get(name)}
            )
        by_question = {
            held.name: dict(
                zip([q.id for q in scored.questions], scored.of(held, measure).values.tolist(), strict=True)
            )
            for held in scored.sets
        }
        agreed = mean_with_interval(pair_accuracy(preferences, by_question, lower_is_better=measure.lower_is_better))
        cells.append(
            {**place, "figure": "pairs", "value": agreed.value, "low": agreed.low, "high": agreed.high, "n": agreed.n}
        )
    return Table(
        "debateqa-alignment", "Agreement of measures with people's preferences (DebateQA, table 14)", pd.DataFrame(cells),
        ("metric",), ("figure",), 3,
        ("rho, tau: of the orders of systems, people's by Elo. pairs: share of preferences, ties of people left out, that the "
         "measure orders as they do.",),
    )  # fmt: skip


def _ratings(ratings: dict[str, float], preferences: Sequence[Preference]) -> Table:
    games = {name: sum(name in (p.a, p.b) for p in preferences) for name in ratings}
    cells = [{"system": name, "figure": "Elo", "value": rated, "n": games[name]} for name, rated in ratings.items()]
    return Table("debateqa-elo", "People's ratings of the systems", pd.DataFrame(cells), ("system",), ("figure",))


def _dispute(scored: Scored, labels: Sequence[DisputeLabel]) -> tuple[Table, list[str]]:
    people, undecided = majority(labels)
    kappa, complete = fleiss_kappa(labels)
    notes = [f"Fleiss' kappa among people: {kappa:.3f} on the {complete} answers that all of them labelled."]
    if undecided:
        notes.append(f"{undecided} answers are left out: people are evenly divided.")
    printed = published("debateqa_da_accuracy").rename(columns={"acc": "accuracy"})
    cells: list[dict[str, Any]] = []
    for measure in (m for m in scored.measures if m.name == "DA"):
        values = {
            (question.id, held.name): float(value)
            for held in scored.sets
            for question, value in zip(scored.questions, scored.of(held, measure).values, strict=True)
        }
        found = dispute_agreement(values, people)
        paper = _printed(printed, measure)
        version = scored.of(scored.sets[0], measure).version
        cells += [
            {
                "metric": str(measure), "figure": name, "value": getattr(found, name), "n": found.n, "labels": "people",
                "detector_version": version, "published": paper.get(name),
            }
            for name in ("accuracy", "f1", "auroc", "mcc")
        ]  # fmt: skip
        notes.append(f"{measure}: {found.n} answers, {found.positive:.0%} of them name the dispute in people's eyes.")
    if not cells:
        raise BadInputError("People's labels are compared with D.A., and no D.A. is named.", hint="Add DA(MODEL).")
    return Table(
        "debateqa-dispute", "D.A. against people (DebateQA, table 15)", pd.DataFrame(cells), ("metric",), ("figure",), 3
    ), notes


def _printed(figures: pd.DataFrame, measure: AnswerMeasure) -> dict[str, float]:
    """The paper's row of a measure by the same model."""
    name = _PRINTED[measure.name]
    if measure.settings.get("prompt") == "zero-shot":
        name = "da zero-shot"
    for row in figures[figures["metric"] == name].to_dict("records"):
        if row["backbone"] == "none" or same_model(measure.model, str(row["backbone"])):
            return {str(k): float(v) for k, v in row.items() if k not in ("metric", "backbone")}
    return {}
