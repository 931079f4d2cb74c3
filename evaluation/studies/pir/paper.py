"""The paper's own figures, where they are of the same retriever, and what makes them comparable or not.

What a PIR study is asked for, and what each of its parts gives.

p-Recall of pipelines over tasks as cells of a table, with the macro-average.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from berdseye.data.datasets.pir_tasks import PirFacts, known_task
from berdseye.data.language_models.cache import CompletionCache
from berdseye.data.language_models.protocol import LanguageModel
from berdseye.data.progress import Progress, silent
from berdseye.evaluation.pir.measures import root_values, successes
from berdseye.evaluation.pir.task_search import TaskSearch
from berdseye.evaluation.published import published
from berdseye.evaluation.statistics.intervals import Estimate, mean_of_means, mean_with_interval
from berdseye.evaluation.studies.result import Table
from berdseye.retrieval.encoders.known_models import find_known
from berdseye.retrieval.pipeline import Pipeline

AVERAGE = "average"


@dataclass(frozen=True)
class Setting:
    """Tasks to search, pipelines to compare and encoders to project with, by their names; `parse` makes pipelines of names.

    `model` and `cache` are for what a language model names in queries.
    """

    searches: Sequence[TaskSearch]
    pipelines: Sequence[str]
    encoders: Sequence[str]
    parse: Callable[[str], Pipeline]
    k: int = 5
    sample: int = 50
    seed: int = 0
    model: LanguageModel | None = None
    cache: CompletionCache | None = None
    progress: Progress = silent


@dataclass(frozen=True)
class StudyPart:
    """Tables, charts by name and notes of one part of the study."""

    tables: Sequence[Table] = ()
    charts: Mapping[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


_RETRIEVERS = {
    "facebook/dpr-question_encoder-single-nq-base": "dpr",
    "princeton-nlp/sup-simcse-bert-base-uncased": "simcse-sup",
    "princeton-nlp/unsup-simcse-bert-base-uncased": "simcse-unsup",
    "facebook/contriever": "contriever",
    "hkunlp/instructor-base": "instructor-base",
    "hkunlp/instructor-large": "instructor-large",
}
_BACKBONES = {
    "princeton-nlp/sup-simcse-bert-base-uncased": "simcse-base-sup",
    "princeton-nlp/unsup-simcse-bert-base-uncased": "simcse-base-unsup",
    "princeton-nlp/sup-simcse-bert-large-uncased": "simcse-large-sup",
    "princeton-nlp/unsup-simcse-bert-large-uncased": "simcse-large-unsup",
}
_DENSE = re.compile(r"dense\(([^(),>]+)\)")


def paper_retriever(pipeline: str) -> str | None:
    """The paper's name of a plain retriever; None for what it did not run. Its BM25 is that of the released notebook."""
    return "bm25" if pipeline == "bm25(okapi-notebook)" else _RETRIEVERS.get(_encoder(pipeline))


def paper_backbone(encoder: str) -> str | None:
    """The paper's name of a dense retriever that projections were tried on."""
    return _BACKBONES.get(_encoder(encoder))


def figure(table: str, column: str, **place: str | None) -> float | None:
    """A number of a published table at a place of it, or None where the paper has none."""
    rows = published(table)
    for name, value in place.items():
        rows = rows[rows[name] == value]
    return None if rows.empty else float(rows.iloc[0][column])


def paper_task(search: TaskSearch) -> str | None:
    """The paper's name of a task, or None for one's own."""
    facts = known_task(search.task.name)
    return None if facts is None else facts.paper


def paper_column(searches: list[TaskSearch], task: str) -> str | None:
    """The same for a column of a table: the average is comparable where all six tasks are there."""
    if task != AVERAGE:
        return next((paper_task(s) for s in searches if s.task.name == task), None)
    return AVERAGE if len({paper_task(s) for s in searches} - {None}) == 6 else None


def comparison_notes(searches: list[TaskSearch], frame: pd.DataFrame) -> tuple[str, ...]:
    """For each task beside whose cells in `frame` stand the paper's figures, but which is not of the size in its Table 1: that
    these are of another file. Means over tasks draw on all of them."""
    beside = frame[frame["published"].notna()]
    shown = set(beside["task"]) if "task" in frame.columns else {AVERAGE} if len(beside) else set()
    known = [(s, facts) for s in searches if (facts := known_task(s.task.name)) is not None]
    return tuple(_other_size(s, f) for s, f in known if not _whole(s, f) and shown & {s.task.name, AVERAGE})


def _whole(search: TaskSearch, facts: PirFacts) -> bool:
    return (len(search.task.queries), len(search.task.passages)) == (facts.queries, facts.passages)


def _other_size(search: TaskSearch, facts: PirFacts) -> str:
    return (
        f"{search.task.name}: {len(search.task.queries):,} queries over {len(search.task.passages):,} passages here, "
        f"{facts.queries:,} over {facts.passages:,} in the paper. Its figures, in brackets, are of another file and no target."
    )


def _encoder(pipeline: str) -> str:
    found = _DENSE.fullmatch(pipeline)
    known = find_known("dense", found.group(1)) if found else None
    return known.name if known else ""


LABELS = "task file"


def p_recall_estimate(setting: Setting, search: TaskSearch, pipeline: str) -> Estimate:
    """p-Recall@k with its interval over roots."""
    ids = search.ranked(setting.parse(pipeline), search.asked(), setting.k, setting.progress)
    return mean_with_interval(root_values([q.root for q in search.task.queries], successes(search.task, ids)))


def with_average(by_task: dict[str, Estimate]) -> dict[str, Estimate]:
    """The same with the unweighted mean over tasks, where there are several."""
    return {**by_task, AVERAGE: mean_of_means(list(by_task.values()))} if len(by_task) > 1 else by_task


def cell(estimate: Estimate, published: float | None = None, **place: str) -> dict[str, Any]:
    """A cell in percent."""
    value, low, high, n = estimate
    return {
        **place,
        "value": 100 * value,
        "low": 100 * low,
        "high": 100 * high,
        "n": n,
        "labels": LABELS,
        "published": published,
    }
