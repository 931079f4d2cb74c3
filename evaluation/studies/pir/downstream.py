"""Downstream value of perspective-aware retrieval (PIR, table 5).

A language model answers AmbigQA's questions with the best passage, and writes essays of about 100 words on Perspectrum's queries
with the five best passages; the pipelines are compared with no passages and with the gold passages. The released AmbigQA file
has no answers, so accepted answers come from a file that you provide; without it, the accuracy is left out with a note.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy.stats import pearsonr

from berdseye.data.datasets.pir_tasks import PirQuery
from berdseye.data.errors import BadInputError
from berdseye.data.progress import Progress, silent
from berdseye.data.records import Pair
from berdseye.evaluation.answering import downstream
from berdseye.evaluation.answering import downstream as essay_texts
from berdseye.evaluation.answering.asking import Asker, Sampling, Spending, Written
from berdseye.evaluation.answering.chunks import Chunk
from berdseye.evaluation.answering.downstream import ESSAY, SHORT
from berdseye.evaluation.answering.styles import Style
from berdseye.evaluation.pir.task_search import TaskSearch
from berdseye.evaluation.published import published
from berdseye.evaluation.statistics.intervals import mean_with_interval
from berdseye.evaluation.studies.charts import dots
from berdseye.evaluation.studies.pir.paper import APART, DIFFERENCE_NOTE, by_difference, paper_retriever
from berdseye.evaluation.studies.result import StudyResult, Table
from berdseye.retrieval.pipeline import Pipeline

NONE, GOLD = "none", "gold"
_QUESTIONS, _ESSAYS = "ambigqa", "perspectrum"
_SIDES = {"support": 1, "undermine": -1}
_PROJECTED = re.compile(r"(dense\([^()>]+\))(?: >> (pap\+?)(?:\(perspective=difference\))?)?")
_FEWEST = 4
"""An interval of Pearson's r needs at least four pairs."""
TEXTBLOB = "textblob"
"""The paper's judge of essays: the polarity of their words, whatever the statement is."""
_PAPERS_SIZES = {_QUESTIONS: 120, _ESSAYS: 30}
"""The numbers of questions and of essays behind the paper's figures."""
_PAPERS = (
    "Figures in brackets are the paper's, with its own model and prompts; for essays, only with TextBlob's polarity. With other "
    "than its 120 questions or 30 essays, they are in rows of their own. "
    "The paper marks r = 16.1 as significant for 30 essays, but that needs 149 essays (30 essays need |r| > 36.1).",
)


@dataclass(frozen=True)
class Downstream:
    """The input of the study: the two tasks (either may be missing), accepted answers by question, and the judge of essays.

    `polarity` returns how strongly essays (as passages) speak for statements (as perspectives), float64[n], NaN if it is unclear;
    `judge` is the name of this judge. `essay_temperature` is the sampling temperature of essays; that of answers is the asker's.
    """

    asker: Asker
    pipelines: Sequence[str]
    parse: Callable[[str], Pipeline]
    polarity: Callable[[Sequence[Pair]], npt.NDArray[np.float64]]
    judge: str
    judge_version: str
    questions: TaskSearch | None = None
    accepted: Mapping[str, Sequence[str]] = field(default_factory=dict)
    essays: TaskSearch | None = None
    examples: int = 120
    essay_count: int = 30
    essay_temperature: float = 1.0
    seed: int = 0
    answer_style: Style = SHORT
    essay_style: Style = ESSAY
    progress: Progress = silent


def pir_downstream(asked: Downstream) -> StudyResult:
    """Compute the accuracy of answers and the correlation of essays by retriever, in the layout of PIR's table 5.

    Raises `BadInputError` if neither task can be scored.
    """
    cells, notes, spent = list[dict[str, Any]](), list[str](), Spending()
    for part, search in ((_accuracy, asked.questions), (_correlation, asked.essays)):
        if search is None:
            continue
        outcome = part(asked, search)
        cells += outcome.cells
        notes += outcome.notes
        spent = spent.plus(outcome.spent)
    if not cells:
        raise BadInputError("There is nothing to score.", hint="Give --ambigqa with --answers, or --perspectrum.")
    frame = pd.DataFrame(_with_unrun(cells))
    if asked.judge != TEXTBLOB:
        frame.loc[frame["measure"] == "correlation", "published"] = np.nan
        frame = frame[frame["n"].gt(0) | frame["published"].notna() | ~frame["retriever"].str.endswith(APART)]
    if asked.questions is not None and any(_differs(asked.parse(name)) for name in asked.pipelines):
        notes.append(DIFFERENCE_NOTE)
    notes.append(
        f"{spent.calls} answers and essays: {spent.prompt_tokens:,} tokens read, {spent.completion_tokens:,} written, "
        f"${spent.cost:.2f}{f', {spent.unpriced} of unknown price' if spent.unpriced else ''}."
    )
    caption = f"Answers and essays of {asked.asker.model.name} by retriever (PIR, table 5)"
    table = Table("pir_downstream", caption, frame, ("retriever",), ("task", "measure"), notes=_PAPERS)
    charts = {
        f"pir_downstream_{task}": dots(rows, f"{task}: {rows['measure'].iloc[0]}", row="retriever")
        for task, rows in ((t, _first_measure(frame, t)) for t in (_QUESTIONS, _ESSAYS))
        if rows["value"].notna().any()
    }
    settings = {
        "model": asked.asker.model.name,
        "model_version": asked.asker.model.version,
        "pipelines": list(asked.pipelines),
        "judge": asked.judge,
        "tasks": {s.task.name: s.digest for s in (asked.questions, asked.essays) if s is not None},
        "examples": asked.examples,
        "essays": asked.essay_count,
        "seed": asked.seed,
        "temperature": asked.asker.sampling.temperature,
        "essay_temperature": asked.essay_temperature,
        **_other_prompts(asked),
    }
    return StudyResult("pir-downstream", settings, [table], charts, tuple(notes))


def _other_prompts(asked: Downstream) -> dict[str, Any]:
    """Return the names and hashes of prompts that are not Berdseye's own."""
    used = {"answer_prompt": (asked.answer_style, SHORT), "essay_prompt": (asked.essay_style, ESSAY)}
    return {key: {style.name: dict(style.versions)} for key, (style, own) in used.items() if style is not own}


@dataclass(frozen=True)
class _Outcome:
    cells: list[dict[str, Any]]
    notes: list[str]
    spent: Spending


def _accuracy(asked: Downstream, search: TaskSearch) -> _Outcome:
    known = [n for n, q in enumerate(search.task.queries) if q.text.strip() in asked.accepted]
    total = len(search.task.queries)
    if not known:
        return _Outcome(
            [], [f"{search.task.name} is left out: none of its {total} questions has an accepted answer."], Spending()
        )
    places = _sample(known, asked.examples, asked.seed)
    queries = [search.task.queries[n] for n in places]
    accepted = [asked.accepted[q.text.strip()] for q in queries]
    notes = [f"{search.task.name}: {total - len(known)} of {total} questions are left out without an accepted answer."]
    cells, spent = [], Spending()
    sampling = asked.asker.sampling._replace(max_tokens=downstream.SHORT_ANSWER_TOKENS)
    for name, written in _by_retriever(asked, search, places, 1, asked.answer_style, sampling):
        spent = _sum(spent, written)
        for measure, matches in (("accuracy", downstream.exact_match), ("contains", downstream.contains)):
            hits = np.array([matches(w.text, a) for w, a in zip(written, accepted, strict=True)], dtype=np.float64)
            estimate = mean_with_interval(hits)
            value, low, high = (100 * v for v in estimate[:3])
            cells.append(
                _cell(name, _QUESTIONS, measure, value, low, high, estimate.n, "accepted answers", asked=len(places))
            )
    return _Outcome(cells, notes if total > len(known) else [], spent)


def _correlation(asked: Downstream, search: TaskSearch) -> _Outcome:
    """Compute Pearson's r of the query's stance (1 or -1) and the essay's polarity, with Fisher's 95% interval, times 100."""
    queries = search.task.queries
    sides = [[n for n, q in enumerate(queries) if _SIDES.get(q.label) == side] for side in _SIDES.values()]
    half = min(asked.essay_count // 2, *map(len, sides))
    if 2 * half < _FEWEST:
        note = f"{search.task.name} is left out: a correlation needs at least {_FEWEST // 2} queries of each stance."
        return _Outcome([], [note], Spending())
    places = [n for side in sides for n in _sample(side, half, asked.seed)]
    stances = np.array([_SIDES[queries[n].label] for n in places], dtype=np.float64)
    roots = [queries[n].root.strip() for n in places]
    cells, notes, spent = [], [], Spending()
    sampling = Sampling(essay_texts.ESSAY_TOKENS, asked.essay_temperature, asked.asker.sampling.seed)
    for name, written in _by_retriever(asked, search, places, 5, asked.essay_style, sampling):
        spent = _sum(spent, written)
        nonempty = [n for n, w in enumerate(written) if w.text]
        if len(nonempty) < len(places):
            notes.append(
                f"{name}: {len(places) - len(nonempty)} of {len(places)} essays are left out because they are empty."
            )
        polarity = asked.polarity([Pair(written[n].text, roots[n]) for n in nonempty])
        sided = np.flatnonzero(~np.isnan(polarity))
        if len(sided) < len(nonempty):
            notes.append(
                f"{name}: {len(nonempty) - len(sided)} of {len(nonempty)} essays are left out because {asked.judge} names no "
                "side."
            )
        r, low, high, p = _pearson(stances[nonempty][sided], polarity[sided])
        if np.isnan(r):
            notes.append(f"{name}: no correlation, because all essays take one side or too few essays take a side.")
        cell = _cell(
            name, _ESSAYS, "correlation", 100 * r, 100 * low, 100 * high, len(sided), asked.judge, asked=len(places)
        )
        cells.append({**cell, "p": p, "detector_version": asked.judge_version})
    return _Outcome(cells, notes, spent)


def _by_retriever(
    asked: Downstream, search: TaskSearch, places: Sequence[int], k: int, style: Style, sampling: Sampling
) -> Iterator[tuple[str, list[Written]]]:
    """Yield the texts written without passages, with the gold passages, and with the passages of each pipeline."""
    task = search.task
    asker = Asker(asked.asker.model, asked.asker.cache, style, sampling, asked.asker.window)
    texts = [task.queries[n].text for n in places]

    def write(rankings: Sequence[Sequence[int]]) -> list[Written]:
        chunks = [[Chunk(task.passages[i].text, passages=(i,)) for i in row if i >= 0] for row in rankings]
        return asker.answer(texts, chunks, progress=asked.progress)

    yield NONE, write([[] for _ in places])
    yield GOLD, write([_gold(task.queries[n], k) for n in places])
    for name in asked.pipelines:
        pipeline = asked.parse(name)
        pipeline = by_difference(pipeline) if search is asked.questions else pipeline
        ids = search.ranked(pipeline, search.asked(), k, asked.progress)
        yield name, write(ids[list(places)].tolist())


def _differs(pipeline: Pipeline) -> bool:
    return by_difference(pipeline) is not pipeline


def _gold(query: PirQuery, k: int) -> list[int]:
    return sorted(query.relevant)[:k]


def _sample(places: Sequence[int], count: int, seed: int) -> list[int]:
    drawn = np.random.default_rng(seed).permutation(len(places))[:count]
    return [places[n] for n in sorted(drawn.tolist())]


def _pearson(stances: npt.NDArray[np.float64], polarity: npt.NDArray[np.float64]) -> tuple[float, float, float, float]:
    """Return r, its 95% interval, and the p-value of no correlation; NaN if one of the arrays is constant."""
    if len(stances) < _FEWEST or np.ptp(stances) == 0 or np.ptp(polarity) == 0:
        return np.nan, np.nan, np.nan, np.nan
    result = pearsonr(stances, polarity)
    low, high = result.confidence_interval(0.95)
    return float(result.statistic), float(low), float(high), float(result.pvalue)


def _cell(
    name: str, task: str, measure: str, value: float, low: float, high: float, n: int, labels: str, *, asked: int
) -> dict[str, Any]:
    """Return a cell, with the paper's figure if as many texts were asked for as in the paper."""
    figure = _paper(paper_row(name), task, measure) if asked == _PAPERS_SIZES[task] else None
    return {
        "retriever": name, "task": task, "measure": measure, "value": value, "low": low, "high": high, "n": n,
        "p": np.nan, "labels": labels, "detector_version": "", "published": figure,
    }  # fmt: skip


def paper_row(name: str) -> str | None:
    """Return the paper's name of a retriever: none, gold, or supervised SimCSE alone or with a projection; otherwise None."""
    if name in (NONE, GOLD):
        return name
    match = _PROJECTED.fullmatch(name)
    if match is None or paper_retriever(match[1]) != "simcse-sup":
        return None
    return match[2] or "simcse"


def _paper(row: str | None, task: str, measure: str) -> float | None:
    rows = published("pir_downstream")
    rows = rows[(rows["retriever"] == row) & (rows["task"] == task) & (rows["measure"] == measure)]
    return None if rows.empty else float(rows["value"].iloc[0])


def _with_unrun(cells: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Append the paper's rows that are not beside a measured value."""
    run = {(paper_row(c["retriever"]), c["task"]) for c in cells if c["published"] is not None}
    tasks = {c["task"] for c in cells}
    unrun = []
    for row in published("pir_downstream").to_dict("records"):
        if row["task"] in tasks and (row["retriever"], row["task"]) not in run:
            cell = _cell(str(row["retriever"]), row["task"], row["measure"], np.nan, np.nan, np.nan, 0, "", asked=0)
            unrun.append({**cell, "retriever": f"{row['retriever']}{APART}", "published": float(row["value"])})
    return cells + unrun


def _first_measure(frame: pd.DataFrame, task: str) -> pd.DataFrame:
    rows = frame[frame["task"] == task]
    return rows[rows["measure"] == rows["measure"].iloc[0]] if len(rows) else rows


def _sum(spent: Spending, written: Sequence[Written]) -> Spending:
    for one in written:
        spent = spent.plus(one.spent)
    return spent
