"""What a PIR study is asked for, and what each of its parts gives."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from berdseye.data.language_models.cache import CompletionCache
from berdseye.data.language_models.protocol import LanguageModel
from berdseye.data.progress import Progress, silent
from berdseye.evaluation.pir.task_search import TaskSearch
from berdseye.evaluation.studies.result import Table
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
class Part:
    """Tables, charts by name and notes of one part of the study."""

    tables: Sequence[Table] = ()
    charts: Mapping[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
