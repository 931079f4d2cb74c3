"""Perspectives that a language model names in queries, against those that the task states (PIR, table 6)."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from berdseye.data.errors import BadInputError
from berdseye.data.language_models.cache import CompletionCache
from berdseye.data.language_models.protocol import LanguageModel
from berdseye.data.pir_tasks import PirQuery, PirTask
from berdseye.data.progress import Progress, silent
from berdseye.retrieval.expansion.extraction import extract, qa_f1
from berdseye.retrieval.queries import Query


@dataclass(frozen=True)
class Extractions:
    """For the sampled queries, by their `places` in the task: what the model named, empty where it found nothing, and `overlap`
    float64[n], its QA-F1 with what the task states."""

    places: npt.NDArray[np.int64]
    named: list[str]
    overlap: npt.NDArray[np.float64]


def extractions(
    task: PirTask,
    model: LanguageModel,
    cache: CompletionCache,
    sample: int,
    *,
    seed: int = 0,
    progress: Progress = silent,
) -> Extractions:
    """What the model names in `sample` queries (all, where there are fewer), drawn without replacement and seeded."""
    if sample < 1:
        raise BadInputError(f"The sample holds {sample} queries.", hint="Ask for one or more.")
    drawn = np.random.default_rng(seed).permutation(len(task.queries))[:sample]
    places: npt.NDArray[np.int64] = np.sort(drawn).astype(np.int64)
    asked = [task.queries[place] for place in places]
    named = [e.perspective for e in extract(model, cache, [q.text for q in asked], progress=progress)]
    overlap = np.array([qa_f1(n, [q.perspective]) for n, q in zip(named, asked, strict=True)], dtype=np.float64)
    return Extractions(places, named, overlap)


def with_perspectives(queries: Sequence[PirQuery], perspectives: Sequence[str]) -> list[Query]:
    """The root queries with these perspectives written before them, q = p + r, whether people or a model named them."""
    return [Query(f"{p} {q.root}".strip(), q.root, p) for q, p in zip(queries, perspectives, strict=True)]
