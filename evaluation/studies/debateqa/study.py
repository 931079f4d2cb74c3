"""DebateQA's table 2, figures 2 and 3, and tables 3 to 5: how well systems answer debatable questions."""

from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt
import numpy as np
import pandas as pd
from scipy.stats import spearmanr

from berdseye.data.answers import AnswerSet
from berdseye.data.errors import BadInputError, UnavailableError
from berdseye.data.language_models.local import LocalModel
from berdseye.data.progress import Progress, silent
from berdseye.data.records import Question
from berdseye.data.workspace import Workspace
from berdseye.evaluation.answer_measures.items import Doubles
from berdseye.evaluation.answer_measures.measures import AnswerMeasure
from berdseye.evaluation.answer_measures.perspective_diversity import recovery_ratio
from berdseye.evaluation.answer_measures.scoring import (
    WEIGHTS,
    AnswerScore,
    normalised_ranks,
    score_answers,
    weighted_ranks,
)
from berdseye.evaluation.charts import legend_below
from berdseye.evaluation.published import published
from berdseye.evaluation.statistics.significance import compare
from berdseye.evaluation.studies.debateqa.figures import (
    PRINTED,
    TEST_QUESTIONS,
    group_figures,
    has_papers_sites,
    is_papers_size,
    main_figures,
    printed_column,
    same_model,
)
from berdseye.evaluation.studies.result import StudyResult, Table, digest

WORDS, TOKENS = "words", "tokens"
_RANKS = {"PD": "rank P.D.", "DA": "rank D.A."}
_WEIGHTED = 2
_CHART_WIDTH = 460


class Scored:
    """The scores of every set of answers under every measure, with the sets, questions and measures."""

    def __init__(
        self,
        workspace: Workspace,
        sets: Sequence[AnswerSet],
        questions: Sequence[Question],
        measures: Sequence[AnswerMeasure],
        progress: Progress = silent,
    ) -> None:
        if not sets:
            raise BadInputError(
                "There are no answers to measure.", hint="Create a set with `berdseye answer`, or name a file."
            )
        names = [answers.name for answers in sets]
        if len(set(names)) < len(names):
            twice = next(name for name in names if names.count(name) > 1)
            raise BadInputError(f"Two sets of answers have the name '{twice}'.", hint="Rename one of the files.")
        self.sets, self.questions, self.measures = list(sets), list(questions), list(measures)
        self.scores: dict[tuple[str, str], AnswerScore] = {}
        total = len(measures) * len(sets)
        for measure in measures:  # measures in the outer loop, so that each model is loaded once
            for answers in sets:
                part = _part(progress, len(self.scores), total)
                score = score_answers(workspace, answers, questions, measure, progress=part)
                self.scores[answers.name, str(measure)] = score

    def of(self, answers: AnswerSet, measure: AnswerMeasure) -> AnswerScore:
        return self.scores[answers.name, str(measure)]

    def means(
        self, measure: AnswerMeasure, sets: Sequence[AnswerSet] | None = None
    ) -> np.ndarray[Any, np.dtype[np.float64]]:
        """Return the mean of each set (by default all sets), float64[n_sets], over the questions for which every set has a value.

        P.D. sums over partial answers, so a set that skips questions with many of them would otherwise win. NaN if there is no
        such question.
        """
        values = np.stack([self.of(answers, measure).values for answers in (self.sets if sets is None else sets)])
        shared = ~np.isnan(values).any(axis=0)
        return values[:, shared].mean(axis=1) if shared.any() else np.full(len(values), np.nan)

    def cell(self, answers: AnswerSet, measure: AnswerMeasure, /, **place: Any) -> dict[str, Any]:
        """Return a cell of a table: its place, its value with interval and n, the measure and its version."""
        score = self.of(answers, measure)
        estimate = score.estimate
        return {
            **place, "value": estimate.value, "low": estimate.low, "high": estimate.high, "n": estimate.n,
            "labels": str(measure), "detector_version": score.version,
        }  # fmt: skip

    @property
    def notes(self) -> tuple[str, ...]:
        notes = [note for score in self.scores.values() for note in score.notes]
        for measure in self.measures:
            known = [~np.isnan(self.of(answers, measure).values) for answers in self.sets]
            shared, most = int(np.logical_and.reduce(known).sum()), max(int(k.sum()) for k in known)
            if shared < most:
                notes.append(f"{measure}: ranks are over the {shared} questions for which all sets have a value.")
        return tuple(dict.fromkeys(notes))


def _part(progress: Progress, done: int, parts: int) -> Progress:
    """Return a progress function for one of `parts` equal parts that reports the progress of all parts together."""

    def report(count: int, what: str, total: int | None = None, /) -> None:
        if total:
            progress(done * total + count, what, parts * total)

    return report


def debateqa(
    workspace: Workspace,
    dataset: str,
    sets: Sequence[AnswerSet],
    questions: Sequence[Question],
    measures: Sequence[AnswerMeasure],
    *,
    by: str = "",
    paper_rows: bool = True,
    progress: Progress = silent,
) -> StudyResult:
    """Compute table 2 for the sets of answers and, with `by`, a setting of the sets (style, strategy, trusted_only), tables 3 to
    5.

    Values are means over questions with 95% intervals. With at least two sets, every pair is tested (Fisher's randomisation,
    Holm's correction). With a P.D. and a D.A. measure as well, ranks are weighted over the first of each. Raises `BadInputError`
    without sets, for sets of equal names, and for a setting that no set or two sets of one system have.
    """
    scored = Scored(workspace, sets, questions, measures, progress)
    tables = [_systems(scored, paper_rows)]
    charts: dict[str, Any] = {}
    notes = list(scored.notes)
    if by:
        tables.append(_groups(scored, by, paper_rows))
    if len(sets) > 1:
        tables.append(_comparisons(scored))
    pds, das = ([m for m in measures if m.name == name] for name in ("PD", "DA"))
    if pds and das and len(sets) >= _WEIGHTED:
        known = [answers for answers in sets if all(scored.of(answers, m).estimate.n for m in (pds[0], das[0]))]
        if len(known) < len(sets):
            notes.append(f"The weighted ranks omit {len(sets) - len(known)} sets that have no P.D. or no D.A.")
        if len(known) >= _WEIGHTED:
            ranks = _weighted(scored, known, pds[0], das[0])
            tables.append(ranks)
            charts = {"weighted-ranks": _lines(ranks.cells), "correlation": _scatter(scored, known, pds[0], das[0])}
            notes.append(_correlation_note(scored, known, pds[0], das[0]))
    if any(m.name == "PD" and m.settings.get("variant") != "released" for m in measures):
        notes.append(
            "The published P.D. match the released script, which also divides by the number of answer tokens; they are shown "
            "only for PD(MODEL,variant=released)."
        )
    settings = {
        "dataset": dataset, "answers": [s.name for s in sets], "measures": [str(m) for m in measures], "by": by,
        "questions": len(questions), "paper_rows": paper_rows, "inputs": digest([s.texts for s in sets]),
    }  # fmt: skip
    return StudyResult("debateqa", settings, tables, charts, tuple(notes))


def _systems(scored: Scored, paper_rows: bool) -> Table:
    columns = {column: str(m) for m in scored.measures if (column := printed_column(m))}
    figures = dict(main_figures()) if paper_rows or columns else {}
    beside = figures if len(scored.questions) == TEST_QUESTIONS else {}
    tokenizer = _tokenizer(scored.measures)
    ranked = {
        name: normalised_ranks([scored.means(m) for m in chosen], lower_is_better=name == "PD")
        for name in _RANKS
        if (chosen := [m for m in scored.measures if m.name == name])
    }
    cells: list[dict[str, Any]] = []
    for place, answers in enumerate(scored.sets):
        printed = next((row for name, row in beside.items() if same_model(answers.model, name)), {})
        for figure, lengths in _lengths(answers, tokenizer).items():
            length = printed.get("avg_len") if figure == TOKENS else None
            place_of = {"system": answers.name, "figure": figure, "n": len(lengths)}
            cells.append({**place_of, "value": float(np.mean(lengths)), "published": length})
        for measure in scored.measures:
            published = printed.get(printed_column(measure) or "")
            cells.append(scored.cell(answers, measure, system=answers.name, figure=str(measure), published=published))
        for name, ranks in ranked.items():
            cells.append({"system": answers.name, "figure": _RANKS[name], "value": ranks[place]})
    if paper_rows:
        names = {"avg_len": TOKENS, **PRINTED, **columns, "norm_rank_pd": _RANKS["PD"], "norm_rank_da": _RANKS["DA"]}
        for model, row in figures.items():
            cells += [
                {"system": f"{model} (paper)", "figure": names[c], "value": np.nan, "published": v}
                for c, v in row.items()
            ]
    return Table(
        "debateqa-systems", "Answers to debatable questions (DebateQA, table 2)", pd.DataFrame(cells), ("system",), ("figure",),
        3, ("P.D.: lower is better; D.A.: higher is better. Ranks are over the evaluators of this table; ties share the better "
            "rank. Figures in brackets and in rows marked (paper) are published ones.", *_token_note(scored.measures)),
    )  # fmt: skip


def _lengths(answers: AnswerSet, tokenizer: Any | None) -> dict[str, list[int]]:
    """Return the lengths of the answers in words and, with a tokenizer, in tokens, without special tokens."""
    texts = [answer.text for answer in answers.answers]
    lengths = {WORDS: [len(text.split()) for text in texts]}
    if tokenizer is not None and texts:
        lengths[TOKENS] = [len(ids) for ids in tokenizer(texts, add_special_tokens=False)["input_ids"]]
    return lengths


def _tokenizer(measures: Sequence[AnswerMeasure]) -> Any | None:
    """Return the tokenizer of the first P.D. measure; None without one, or where its model is not available."""
    model = _counting_model(measures)
    try:
        return None if model is None else LocalModel(model).load().tokenizer
    except UnavailableError:
        return None


def _counting_model(measures: Sequence[AnswerMeasure]) -> str | None:
    return next((measure.model for measure in measures if measure.name == "PD"), None)


def _token_note(measures: Sequence[AnswerMeasure]) -> tuple[str, ...]:
    model = _counting_model(measures)
    if model is None:
        return (
            "Published lengths are in tokens; ours are counted in tokens only with a P.D. measure, by its tokenizer.",
        )
    return (f"Lengths in tokens are counted by the tokenizer of {model}; the paper does not name its own.",)


def _groups(scored: Scored, by: str, paper_rows: bool) -> Table:
    if not any(by in answers.settings for answers in scored.sets):
        settings = sorted({key for answers in scored.sets for key in answers.settings})
        raise BadInputError(
            f"No set of answers has a setting '{by}'.",
            hint=f"Their settings are {', '.join(settings)}."
            if settings
            else "Only sets created with `berdseye answer` have settings.",
        )
    cells, seen = [], set()
    for answers in scored.sets:
        value = str(answers.settings.get(by, "–"))
        system = answers.model
        if (system, value) in seen:
            raise BadInputError(
                f"Two sets of {system} have {by} {value}.",
                hint="Name the sets to compare with --answers, one for each system and value.",
            )
        seen.add((system, value))
        comparable = is_papers_size(by, len(scored.questions))
        comparable &= by != "trusted_only" or has_papers_sites(answers.settings)
        cells += [
            scored.cell(
                answers, m, system=system, measure=str(m), setting=value,
                published=_of_group(group_figures(by, m), system, value) if comparable else None,
            )
            for m in scored.measures
        ]  # fmt: skip
    order = {"basic": 0, "plain": 0, "comprehensive": 1, "vanilla": 1, "detailed": 2, "react": 2, "False": 0, "True": 1}
    cells.sort(key=lambda cell: order.get(str(cell["setting"]), 9))
    if paper_rows:
        cells += [
            {"system": f"{model} (paper)", "measure": str(m), "setting": value, "value": np.nan, "published": figure}
            for m in scored.measures
            for (model, value), figure in group_figures(by, m).items()
        ]
    number = {"style": "table 3", "strategy": "table 4", "trusted_only": "table 5"}.get(by, "")
    return Table(
        f"debateqa-by-{by}".replace("_", "-"), f"Answers by {by}{f' (DebateQA, {number})' if number else ''}",
        pd.DataFrame(cells), ("system",), ("measure", "setting"), 3,
    )  # fmt: skip


def _of_group(figures: Mapping[tuple[str, str], float], system: str, value: str) -> float | None:
    return next((v for (model, of), v in figures.items() if of == value and same_model(system, model)), None)


def _comparisons(scored: Scored) -> Table:
    cells: list[dict[str, Any]] = []
    for measure in scored.measures:
        values: Mapping[str, Any] = {answers.name: scored.of(answers, measure).values for answers in scored.sets}
        values = {name: by_question for name, by_question in values.items() if not np.isnan(by_question).all()}
        for pair in compare(values) if len(values) > 1 else []:
            place = {"measure": str(measure), "a": pair.a, "b": pair.b, "n": pair.n, "labels": str(measure)}
            cells.append({**place, "figure": "a - b", "value": pair.difference, "low": pair.low, "high": pair.high})
            cells.append({**place, "figure": "p", "value": pair.adjusted})
            if measure.name == "PD":
                ratio = recovery_ratio(
                    pair.difference, _partial_answers(scored, measure, values[pair.a], values[pair.b])
                )
                cells.append({**place, "figure": "recovery", "value": ratio})
    frame = pd.DataFrame(cells, columns=["measure", "a", "b", "figure", "value", "low", "high", "n", "labels"])
    return Table(
        "debateqa-comparisons", "Differences between systems", frame, ("measure", "a", "b"), ("figure",), 3,
        ("p: Fisher's randomisation test over questions, with Holm's correction within each measure. recovery: by how much a "
         "recovers a partial answer more probably than b, about exp(-(a - b) / n) for n partial answers per question.",),
    )  # fmt: skip


def _partial_answers(scored: Scored, measure: AnswerMeasure, a: Doubles, b: Doubles) -> float:
    """Return the mean number of partial answers that a P.D. sums over, on the questions for which both systems have a value."""
    if measure.settings.get("variant") == "released":  # a mean over partial answers
        return 1.0
    counts = np.array([len(question.perspectives) for question in scored.questions])
    return float(counts[~np.isnan(a) & ~np.isnan(b)].mean())


def _weighted(scored: Scored, sets: Sequence[AnswerSet], pd_measure: AnswerMeasure, da_measure: AnswerMeasure) -> Table:
    pds, das = (list(scored.means(m, sets)) for m in (pd_measure, da_measure))
    printed = (
        published("debateqa_weighted_rank").to_dict("records")
        if _are_papers(scored, sets, pd_measure, da_measure)
        else []
    )
    ours = {k: weighted_ranks(np.array(pds), np.array(das), k) for k in WEIGHTS}
    cells = [
        {
            "system": answers.name, "k": f"{k:g}", "value": ranks[place], "labels": f"{pd_measure}, {da_measure}",
            "published": next(
                (float(r["rank"]) for r in printed if r["k"] == k and same_model(answers.model, str(r["model"]))), np.nan
            ),
        }
        for place, answers in enumerate(sets)
        for k, ranks in ours.items()
    ]  # fmt: skip
    return Table(
        "debateqa-weighted-ranks", "Ranks by k z(1/P.D.) + (1-k) z(D.A.) (DebateQA, figure 3)", pd.DataFrame(cells),
        ("system",), ("k",), 0,
        (f"P.D. by {pd_measure}, D.A. by {da_measure}. Published ranks are shown only for the paper's 12 models, evaluators and "
         f"{TEST_QUESTIONS:,} questions.",),
    )  # fmt: skip


def _are_papers(
    scored: Scored, sets: Sequence[AnswerSet], pd_measure: AnswerMeasure, da_measure: AnswerMeasure
) -> bool:
    """Whether the ranks are over the models, evaluators and questions of the paper's figure 3."""
    models = [name for name, _ in main_figures()]
    return (
        (printed_column(pd_measure), printed_column(da_measure)) == ("pd_qwen2_05b", "da_phi3_medium")
        and len(scored.questions) == TEST_QUESTIONS
        and len(sets) == len(models)
        and all(any(same_model(answers.model, name) for answers in sets) for name in models)
    )


def _lines(cells: pd.DataFrame) -> alt.Chart:
    chart: alt.Chart = (
        alt.Chart(cells[["system", "k", "value"]], title="Rank by the weight k of P.D.", width=_CHART_WIDTH)
        .mark_line(point=True)
        .encode(
            alt.X("k:O", title="k"),
            alt.Y("value:Q", title="rank", scale=alt.Scale(reverse=True), axis=alt.Axis(tickMinStep=1)),
            alt.Color("system:N", title="system", legend=legend_below(cells["system"])),
        )
    )
    return chart


def _scatter(
    scored: Scored, sets: Sequence[AnswerSet], pd_measure: AnswerMeasure, da_measure: AnswerMeasure
) -> alt.LayerChart:
    points = pd.DataFrame(
        [
            {
                "system": answers.name,
                "pd": scored.of(answers, pd_measure).estimate.value,
                "da": scored.of(answers, da_measure).estimate.value,
            }
            for answers in sets
        ]
    )
    base = alt.Chart(points, title="Perspective diversity and dispute awareness").encode(
        alt.X("pd:Q", title=f"{pd_measure} (lower is better)", scale=alt.Scale(reverse=True, zero=False)),
        alt.Y("da:Q", title=str(da_measure), scale=alt.Scale(zero=False)),
    )
    chart: alt.LayerChart = base.mark_circle(size=60) + base.mark_text(align="left", dx=7).encode(alt.Text("system:N"))
    return chart


def _correlation_note(
    scored: Scored, sets: Sequence[AnswerSet], pd_measure: AnswerMeasure, da_measure: AnswerMeasure
) -> str:
    pds, das = (list(scored.means(m, sets)) for m in (pd_measure, da_measure))
    if len(sets) <= _WEIGHTED or np.ptp(pds) == 0 or np.ptp(das) == 0:
        return "The correlation of P.D. and D.A. is not computed: there are too few systems, or their values are equal."
    rho = float(spearmanr(pds, das).statistic)
    return f"Spearman's rho of P.D. and D.A. over {len(sets)} systems: {rho:.3f} (below 0: they agree)."
