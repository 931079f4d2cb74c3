"""DebateQA's meta-evaluation: agreement of measures of answers with people (tables 14 and 15), and of people with one another
(figures 8 and 11)."""

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any

import pandas as pd

from berdseye.data.answers import AnswerSet
from berdseye.data.errors import BadInputError
from berdseye.data.progress import Progress, silent
from berdseye.data.records import Question
from berdseye.data.workspace import Workspace
from berdseye.evaluation.agreement.pairwise import PairAgreement
from berdseye.evaluation.answer_measures.annotators import (
    Orders,
    measured_orders,
    orders_by_question,
    over_questions,
    over_systems,
)
from berdseye.evaluation.answer_measures.measures import AnswerMeasure
from berdseye.evaluation.answer_measures.people import (
    DisputeLabel,
    Preference,
    decision_agreements,
    dispute_agreement,
    elo_ratings,
    fleiss_kappa,
    majority,
    pair_accuracy,
)
from berdseye.evaluation.published import published
from berdseye.evaluation.statistics.intervals import mean_with_interval
from berdseye.evaluation.studies.charts import dots, matrix
from berdseye.evaluation.studies.debateqa.figures import same_model
from berdseye.evaluation.studies.debateqa.study import Scored
from berdseye.evaluation.studies.result import StudyResult, Table, digest

_PRINTED = {"PD": "pd", "DA": "da", "Acknowledge": "acknowledge", "Direct-Score": "direct-score", "G-Eval": "g-eval",
            "Num-of-POVs": "num-of-povs", "BLEU": "bleu", "ROUGE-L": "rouge-l", "BARTScore": "bartscore",
            "SemScore": "semscore"}  # fmt: skip
_BASELINE = AnswerMeasure("Acknowledge")
_COMPARED_SYSTEMS, _COMPARED_QUESTIONS, _LABELLED = 5, 100, 500
"""The sizes of the paper's tables 14 (systems and questions that people compared) and 15 (answers that they labelled)."""
_SPANS = {"debateqa-raters": (-1.0, 1.0), "debateqa-decisions": (0.0, 1.0)}


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

    Table 14: the mean of each annotator's own Spearman and Kendall correlations with a measure, per question and over systems
    (by Elo), and the share of single preferences that the measure orders as people do. Figures 8 and 11: rho of every two
    annotators and measures. Table 15: D.A. and the baseline Acknowledge on the answers that have a majority label, and the share
    of equal decisions of every two annotators and measures. Raises `BadInputError` without preferences and labels.
    """
    if not preferences and not labels:
        raise BadInputError(
            "There are no preferences or labels to compare with.", hint="Give --preferences or --labels."
        )
    deciding = [m for m in measures if m.is_decision]
    if labels and not deciding:
        raise BadInputError(
            "People's labels need a D.A. measure to compare with.", hint="Add DA(MODEL) to the measures."
        )
    if labels and _BASELINE not in deciding:
        deciding.append(_BASELINE)
    scored = Scored(
        workspace, sets, questions, list(dict.fromkeys([*measures, *(deciding if labels else ())])), progress
    )
    tables: list[Table] = []
    notes = list(scored.notes)
    if preferences:
        names = {answers.name for answers in sets}
        kept = [p for p in preferences if p.a in names and p.b in names]
        if len(kept) < len(preferences):
            notes.append(
                f"{len(preferences) - len(kept)} of {len(preferences)} preferences are left out: they concern other systems."
            )
        people = orders_by_question(kept)
        orders = {str(m): measured_orders(_by_system(scored, m), lower_is_better=m.lower_is_better) for m in measures}
        tables += [
            _alignment(scored, measures, kept, people, orders, seed),
            _raters({**people, **orders}),
            _ratings(elo_ratings(kept, seed=seed), kept),
        ]
    if labels:
        values = {str(m): by_answer(scored, m) for m in deciding}
        table, dispute_notes = _dispute(scored, deciding, values, labels)
        tables += [table, decisions_table(decision_agreements(labels, values))]
        notes += dispute_notes
    settings = {
        "dataset": dataset, "answers": [s.name for s in sets], "measures": [str(m) for m in measures],
        "preferences": len(preferences), "labels": len(labels), "seed": seed,
        "inputs": digest(preferences, labels, [s.texts for s in sets]),
    }  # fmt: skip
    charts: dict[str, Any] = {
        table.name: dots(table.cells, "agreement with people", row="metric", colour="figure")
        for table in tables
        if table.columns == ("figure",) and table.rows == ("metric",)
    }
    charts |= {
        table.name: matrix(table.cells, table.caption, row="rater", column="other", span=_SPANS[table.name])
        for table in tables
        if table.name in _SPANS
    }
    return StudyResult("debateqa-meta", settings, tables, charts, tuple(notes))


def _by_system(scored: Scored, measure: AnswerMeasure) -> dict[str, dict[str, float]]:
    """Return a measure's values of each system by question."""
    ids = [question.id for question in scored.questions]
    return {s.name: dict(zip(ids, scored.of(s, measure).values.tolist(), strict=True)) for s in scored.sets}


def by_answer(scored: Scored, measure: AnswerMeasure) -> dict[tuple[str, str], float]:
    """Return a measure's values by question and system."""
    systems = _by_system(scored, measure).items()
    return {(question, system): value for system, values in systems for question, value in values.items()}


def _alignment(
    scored: Scored,
    measures: Sequence[AnswerMeasure],
    preferences: Sequence[Preference],
    people: Mapping[str, Orders],
    orders: Mapping[str, Orders],
    seed: int,
) -> Table:
    systems_compared = {name for p in preferences for name in (p.a, p.b)}
    size = (len(systems_compared), len({p.question_id for p in preferences}))
    printed = published("debateqa_pd_alignment") if size == (_COMPARED_SYSTEMS, _COMPARED_QUESTIONS) else None
    cells: list[dict[str, Any]] = []
    for measure in measures:
        place = {
            "metric": str(measure),
            "labels": "people",
            "detector_version": scored.of(scored.sets[0], measure).version,
        }
        sign = -1.0 if measure.lower_is_better else 1.0
        means = {s.name: sign * float(v) for s, v in zip(scored.sets, scored.means(measure), strict=True)}
        systems = over_systems(preferences, means, seed=seed)
        agreed = over_questions(list(people.values()), orders[str(measure)])
        paper = _printed(printed, measure)
        cells += [
            {**place, "figure": name, **one._asdict(), "published": paper.get(name)}
            for name, one in zip(agreed._fields, agreed, strict=True)
        ]
        cells += [
            {**place, "figure": f"{name}, systems", "value": one, "n": systems.n}
            for name, one in (("rho", systems.rho), ("tau", systems.tau))
        ]
        equal = pair_accuracy(preferences, _by_system(scored, measure), lower_is_better=measure.lower_is_better)
        cells.append({**place, "figure": "pairs", **mean_with_interval(equal)._asdict()})
    return Table(
        "debateqa-alignment", "Agreement of measures with people's preferences (DebateQA, table 14)", pd.DataFrame(cells),
        ("metric",), ("figure",), 3,
        ("rho, tau: means of each annotator's own correlations with the measure, over the systems of one question; n counts the "
         "annotators' orders with a correlation. rho and tau, systems: the same over the systems' means, by each annotator's own "
         "Elo ratings. pairs: share of preferences, without ties, that the measure orders as people do.",),
    )  # fmt: skip


def _raters(orders: Mapping[str, Orders]) -> Table:
    pairs = [(a, b, over_questions([orders[a]], orders[b]).rho) for a, b in combinations(orders, 2)]
    cells = [{"rater": one, "other": two, **rho._asdict()} for a, b, rho in pairs for one, two in ((a, b), (b, a))]
    frame = pd.DataFrame(cells, columns=["rater", "other", "value", "low", "high", "n"])
    return Table(
        "debateqa-raters", "Spearman's rho of annotators and measures (DebateQA, figures 8 and 11)", frame,
        ("rater",), ("other",), 3,
        ("Means over questions of the correlation of two raters' orders of the systems; n counts the questions.",),
    )  # fmt: skip


def decisions_table(agreements: Sequence[PairAgreement]) -> Table:
    """Return the table of the shares of answers for which two raters decide equally that they name the dispute."""
    cells = [
        {"rater": one, "other": two, "value": p.raw, "low": p.raw_low, "high": p.raw_high, "n": p.n}
        for p in agreements
        for one, two in ((p.a, p.b), (p.b, p.a))
    ]
    frame = pd.DataFrame(cells, columns=["rater", "other", "value", "low", "high", "n"])
    return Table(
        "debateqa-decisions", "Share of equal decisions on dispute awareness", frame, ("rater",), ("other",), 3,
        ("n counts the answers that both decide.",),
    )  # fmt: skip


def _ratings(ratings: dict[str, float], preferences: Sequence[Preference]) -> Table:
    games = {name: sum(name in (p.a, p.b) for p in preferences) for name in ratings}
    cells = [{"system": name, "figure": "Elo", "value": rated, "n": games[name]} for name, rated in ratings.items()]
    return Table("debateqa-elo", "People's ratings of the systems", pd.DataFrame(cells), ("system",), ("figure",))


def _dispute(
    scored: Scored,
    measures: Sequence[AnswerMeasure],
    values: Mapping[str, Mapping[tuple[str, str], float]],
    labels: Sequence[DisputeLabel],
) -> tuple[Table, list[str]]:
    people, undecided = majority(labels)
    kappa, complete = fleiss_kappa(labels)
    notes = [f"Fleiss' kappa among people: {kappa:.3f} on the {complete} answers that all people labelled."]
    if undecided:
        notes.append(f"{undecided} answers are left out because people are evenly divided.")
    printed = published("debateqa_da_accuracy").rename(columns={"acc": "accuracy"})
    cells: list[dict[str, Any]] = []
    for measure in measures:
        agreement = dispute_agreement(values[str(measure)], people)
        paper = _printed(printed if agreement.n == _LABELLED else None, measure)
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
    return Table(
        "debateqa-dispute", "D.A. against people (DebateQA, table 15)", pd.DataFrame(cells), ("metric",), ("figure",), 3
    ), notes


def _printed(figures: pd.DataFrame | None, measure: AnswerMeasure) -> dict[str, float]:
    """Return the paper's figures of a measure with the same model, by column; empty if there are none.

    `figures` is None if the paper's table has other sizes.
    """
    if figures is None or "wrap" in measure.settings:
        return {}
    name = _PRINTED[measure.name]
    if measure.settings.get("prompt") == "zero-shot":
        name = "da zero-shot"
    for row in figures[figures["metric"] == name].to_dict("records"):
        if row["backbone"] == "none" or same_model(measure.model, str(row["backbone"])):
            return {str(k): float(v) for k, v in row.items() if k not in ("metric", "backbone")}
    return {}
