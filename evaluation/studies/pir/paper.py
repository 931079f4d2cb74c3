"""What the parts of the PIR study share: its setting and the form of their results, the paper's names and figures with notes on
their comparability, and p-Recall of pipelines as cells of tables.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd

from berdseye.data.datasets.pir_tasks import PirFacts, known_task
from berdseye.data.errors import BadInputError
from berdseye.data.grammar import parse
from berdseye.data.language_models.cache import CompletionCache
from berdseye.data.language_models.prompts import PromptTemplate
from berdseye.data.language_models.protocol import LanguageModel
from berdseye.data.progress import Progress, silent
from berdseye.evaluation.pir.measures import Variant, root_values, singletons, successes
from berdseye.evaluation.pir.task_search import TaskSearch
from berdseye.evaluation.published import published
from berdseye.evaluation.statistics.intervals import Estimate, mean_of_means, mean_with_interval
from berdseye.evaluation.studies.result import Table
from berdseye.retrieval.encoders.known_models import INSTRUCTED, find_known
from berdseye.retrieval.expansion.language_model import EXTRACTION
from berdseye.retrieval.pipeline import Pipeline
from berdseye.retrieval.projection.perspectives import DIFFERENCE, FromData
from berdseye.retrieval.projection.ranker import Projected

AVERAGE = "average"
MEAN = "mean over pipelines"
IN_CORPUS = "in the corpus"
_RETRIEVERS = {
    "facebook/dpr-question_encoder-single-nq-base": "dpr",
    "princeton-nlp/sup-simcse-bert-base-uncased": "simcse-sup",
    "princeton-nlp/unsup-simcse-bert-base-uncased": "simcse-unsup",
    "facebook/contriever-msmarco": "contriever",
    "hkunlp/instructor-base": "instructor-base",
    "hkunlp/instructor-large": "instructor-large",
}
_BACKBONES = {
    "princeton-nlp/sup-simcse-bert-base-uncased": "simcse-base-sup",
    "princeton-nlp/unsup-simcse-bert-base-uncased": "simcse-base-unsup",
    "princeton-nlp/sup-simcse-bert-large-uncased": "simcse-large-sup",
    "princeton-nlp/unsup-simcse-bert-large-uncased": "simcse-large-unsup",
}
_POOLINGS = ("mean", "pooler")
"""The pooling of SimCSE in the paper, and in its released notebook."""
BY_DIFFERENCE = ("pap", "pap+", "cast", "cast+")
DIFFERENCE_NOTE = (
    "AmbigQA: pap, pap+, cast and cast+ use q - r as the perspective's vector, as in the released notebook."
)
LABELS = "task file"


@dataclass(frozen=True)
class Setting:
    """Tasks to search, and the names of pipelines to compare and of encoders to project with; `parse` parses pipeline names.

    `model`, `cache` and `prompt` are for the perspectives that a language model names in queries. `variant` says whether recalls
    are those of the paper or of the released notebook.
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
    prompt: PromptTemplate = EXTRACTION
    progress: Progress = silent
    variant: Variant = "paper"


@dataclass(frozen=True)
class StudyPart:
    """Tables, charts by name, and notes of one part of the study."""

    tables: Sequence[Table] = ()
    charts: Mapping[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


def paper_retriever(pipeline: str) -> str | None:
    """Return the paper's name of a plain retriever, None if the paper did not run it. Its BM25 is that of the released
    notebook."""
    return "bm25" if pipeline == "bm25(okapi-notebook)" else _RETRIEVERS.get(_encoder(pipeline))


def paper_backbone(encoder: str) -> str | None:
    """Return the paper's name of a dense retriever on which it tried projections, or None."""
    return _BACKBONES.get(_encoder(encoder))


def figure(table: str, column: str, **place: str | None) -> float | None:
    """Return the figure of a published table at a place (values by column), or None if the paper has none."""
    rows = published(table)
    for name, value in place.items():
        rows = rows[rows[name] == value]
    return None if rows.empty else float(rows.iloc[0][column])


def paper_task(search: TaskSearch) -> str | None:
    """Return the paper's name of a task, None for a task of your own."""
    facts = known_task(search.task.name)
    return None if facts is None else facts.paper


def paper_column(searches: list[TaskSearch], task: str) -> str | None:
    """Return the paper's name of a column of tasks, or None; the average is comparable only if all six tasks are included."""
    if task != AVERAGE:
        return next((paper_task(s) for s in searches if s.task.name == task), None)
    return AVERAGE if len({paper_task(s) for s in searches} - {None}) == 6 else None


APART = " (paper)"
"""The end of a row's name that holds only published figures."""


def set_apart(searches: Sequence[TaskSearch], frame: pd.DataFrame, row: str) -> tuple[pd.DataFrame, tuple[str, ...]]:
    """Move the published figures of tasks whose size is not that of the paper's table 1 from beside the measured values into rows
    of their own, whose names in the column `row` end in `APART`. Returns the cells, and a note for each such task.

    The average over tasks (a frame without the column `task` holds only averages) is comparable only if every task is.
    """
    known = [(s, facts) for s in searches if (facts := known_task(s.task.name)) is not None]
    others = {s.task.name: _other_size(s, facts) for s, facts in known if not _same_size(s, facts)}
    tasks = frame["task"] if "task" in frame else pd.Series(AVERAGE, index=frame.index)
    moved = frame["published"].notna() & tasks.isin([*others, AVERAGE] if others else [])
    if not moved.any():
        return frame, ()
    alone = frame[moved].copy()
    alone[row] = alone[row].astype(str) + APART
    alone[[name for name in ("value", "low", "high", "n") if name in alone]] = np.nan
    stays = frame.assign(published=frame["published"].where(~moved))
    shown = set(tasks[moved])
    notes = tuple(note for name, note in others.items() if shown & {name, AVERAGE})
    return pd.concat([stays.astype({"n": float}), alone], ignore_index=True), notes


def _same_size(search: TaskSearch, facts: PirFacts) -> bool:
    return (len(search.task.queries), len(search.task.passages)) == (facts.queries, facts.passages)


def _other_size(search: TaskSearch, facts: PirFacts) -> str:
    return (
        f"{search.task.name} has {len(search.task.queries):,} queries over {len(search.task.passages):,} passages here, but "
        f"{facts.queries:,} over {facts.passages:,} in the paper. The paper's figures are in rows of their own."
    )


def _encoder(pipeline: str) -> str:
    """Return the name on the Hub of a dense retriever's encoder, if it is used as the paper or its notebook use it.

    SimCSE has one of their poolings, and INSTRUCTOR reads the perspective as its instruction.
    """
    try:
        call, *more = parse(pipeline)
    except BadInputError:
        return ""
    if more or call.name != "dense" or len(call.args) != 1 or call.keep is not None:
        return ""
    known = find_known("dense", str(call.args[0]))
    if known is None:
        return ""
    settings = {key: str(value) for key, value in call.kwargs.items()}
    if known.name in INSTRUCTED:
        fitting = settings == {"instruction": "perspective"}
    elif "-simcse-" in known.name:
        fitting = set(settings) <= {"pooling"} and settings.get("pooling", known.pooling) in _POOLINGS
    else:
        fitting = not settings
    return known.name if fitting else ""


def by_difference(pipeline: Pipeline) -> Pipeline:
    """Return a pipeline as it is used for AmbigQA: pap, pap+, cast and cast+ use q - r as the perspective's vector by default."""
    ranker = pipeline.ranker
    if isinstance(ranker, Projected) and ranker.form in BY_DIFFERENCE and not ranker.source.name:
        return replace(pipeline, ranker=replace(ranker, source=FromData(DIFFERENCE, ("root",))))
    return pipeline


def p_recall_estimate(setting: Setting, search: TaskSearch, pipeline: str) -> Estimate:
    """Compute p-Recall@k of a pipeline on a task, with its interval over root queries."""
    ids = search.ranked(setting.parse(pipeline), search.asked(), setting.k, setting.progress)
    roots, hits = [q.root for q in search.task.queries], successes(search.task, ids, setting.variant)
    return mean_with_interval(root_values(roots, hits, singleton=singletons(setting.variant)))


def with_average(by_task: dict[str, Estimate]) -> dict[str, Estimate]:
    """Add the unweighted mean over tasks if there are several."""
    return {**by_task, AVERAGE: mean_of_means(list(by_task.values()))} if len(by_task) > 1 else by_task


def cell(estimate: Estimate, published: float | None = None, **place: str) -> dict[str, Any]:
    """Return a cell of a table with its value in percent."""
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
