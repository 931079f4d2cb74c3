"""Perspectives that a language model names in queries, against those that the task states (PIR, table 6).

p-Recall@k over the tasks of PIR: does the ranking follow the perspective that is asked for?

Which perspectives a ranking favours when none is asked for (PIR, tables 3 and 10).

Where retrieved news happened, against where it was asked for (PIR, location bias).
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from berdseye.data.datasets.pir_tasks import PirQuery, PirTask
from berdseye.data.errors import BadInputError
from berdseye.data.language_models.cache import CompletionCache
from berdseye.data.language_models.protocol import LanguageModel
from berdseye.data.progress import Progress, silent
from berdseye.data.records import Ids
from berdseye.data.statistics import bootstrap_interval
from berdseye.evaluation.pir.task_search import TaskSearch
from berdseye.evaluation.statistics.intervals import Estimate, resampled_means
from berdseye.retrieval.expansion.language_model import extract, qa_f1
from berdseye.retrieval.pipeline import Pipeline
from berdseye.retrieval.protocol import Query

Singleton = Literal["mean", "zero"]
Hits = npt.NDArray[np.bool_]


class PerspectiveRecall(NamedTuple):
    """Shares in [0, 1]: p-Recall@k over roots, the same with roots of one query at 0 as the released notebook has it, Recall@k
    over queries, and Recall@k of the root queries asked instead."""

    p_recall: float
    p_recall_singleton_zero: float
    recall: float
    root_recall: float
    n_roots: int
    n_queries: int


def perspective_recalls(task: PirTask, pipelines: Sequence[Pipeline], k: int) -> Iterator[PerspectiveRecall]:
    """For each pipeline (PIR, section 3): per root the mean over its queries of success@k, a relevant passage in the top k,
    then the mean over roots."""
    search = TaskSearch(task)
    roots = [q.root for q in task.queries]
    for pipeline in pipelines:
        hits, root_hits = (
            successes(task, search.ranked(pipeline, queries, k)) for queries in (search.asked(), search.bare())
        )
        yield PerspectiveRecall(
            p_recall(roots, hits),
            p_recall(roots, hits, singleton="zero"),
            float(hits.mean()),
            float(root_hits.mean()),
            len(set(roots)),
            len(hits),
        )


def p_recall(roots: Sequence[str], hits: Hits, *, singleton: Singleton = "mean") -> float:
    """Mean over roots of the mean over each root's queries of `hits` bool[n_queries]; NaN without queries."""
    values = root_values(roots, hits, singleton=singleton)
    return float(values.mean()) if len(values) else float("nan")


def root_values(roots: Sequence[str], hits: Hits, *, singleton: Singleton = "mean") -> npt.NDArray[np.float64]:
    """Each root's mean, float64[n_roots], roots in the order of their first query.

    The released notebook counts a root that has one query alone as 0, which `singleton="zero"` does as well.
    """
    places = {root: n for n, root in enumerate(dict.fromkeys(roots))}
    codes = np.fromiter((places[root] for root in roots), dtype=np.int64, count=len(roots))
    counts = np.bincount(codes, minlength=len(places))
    values: npt.NDArray[np.float64] = np.bincount(codes, weights=hits, minlength=len(places)) / counts
    return np.where(counts == 1, 0.0, values) if singleton == "zero" else values


def successes(task: PirTask, ids: Ids) -> Hits:
    """Whether each query's ranking in `ids` int64[n_queries, k] holds a relevant passage."""
    return np.array([bool(q.relevant & set(row)) for q, row in zip(task.queries, ids.tolist(), strict=True)])


_UMBRELLA = "general"
"""Perspectrum's label of queries for which every passage of the root is relevant, whatever its side."""
_RESAMPLES = 2000


class Share(NamedTuple):
    """Of the relevant passages that root queries found, the share with this label, beside its share of all relevant ones."""

    label: str
    found: Estimate
    corpus: float


def perspective_shares(task: PirTask, roots: list[str], ids: Ids, *, seed: int = 0) -> list[Share]:
    """One share a label; `ids` int64[n_roots, k] are the passages found for the text of each root.

    A passage of the top k counts for the label of the query of this root that it is relevant to. Shares are of all passages
    so found, with a 95% percentile bootstrap over roots (2,000 resamples, seeded); `n` counts the roots that found any. All
    values are NaN where none did.
    """
    labels = labels_with_sides(task)
    found, held = np.zeros((len(roots), len(labels))), np.zeros(len(labels))
    relevant = _relevant(task, labels)
    for row, (root, places) in enumerate(zip(roots, ids.tolist(), strict=True)):
        for column in range(len(labels)):
            gold = relevant.get((root, column), set())
            found[row, column] = len(gold.intersection(places))
            held[column] += len(gold)
    return [
        Share(label, share, float(held[i] / held.sum()))
        for i, (label, share) in enumerate(zip(labels, shares_over_roots(found, seed=seed), strict=True))
    ]


def shares_over_roots(found: npt.NDArray[np.float64], *, seed: int = 0) -> list[Estimate]:
    """The share of each label in all that was found, from counts float64[n_roots, n_labels], with a 95% percentile bootstrap over
    roots (2,000 resamples, seeded; `data.statistics`); `n` counts the roots that found any. NaN throughout where none did."""
    n, labels = int(found.any(axis=1).sum()), found.shape[1]
    if not n:
        return [Estimate(np.nan, np.nan, np.nan, 0)] * labels
    whole = _shares(found.sum(axis=0)[None, :])[0]
    drawn = _shares(resampled_means(found, _RESAMPLES, np.random.default_rng(seed)))
    return [Estimate(float(whole[i]), *bootstrap_interval(drawn[:, i], n), n) for i in range(labels)]


def labels_with_sides(task: PirTask) -> list[str]:
    """The labels a passage can favour, in the order of the file."""
    return [label for label in dict.fromkeys(q.label for q in task.queries) if label != _UMBRELLA]


def _relevant(task: PirTask, labels: list[str]) -> dict[tuple[str, int], set[int]]:
    columns, held = {label: n for n, label in enumerate(labels)}, dict[tuple[str, int], set[int]]()
    for query in task.queries:
        if query.label in columns:
            held.setdefault((query.root, columns[query.label]), set()).update(query.relevant)
    return held


def _shares(counts: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    totals = counts.sum(axis=1, keepdims=True)
    shares: npt.NDArray[np.float64] = np.divide(counts, totals, out=np.full(counts.shape, np.nan), where=totals > 0)
    return shares


_PLACE = re.compile(r"\bhappened in\s+(.+?)\s*(?:and similar to\b.*)?$", re.DOTALL)
ELSEWHERE = "elsewhere"


def asked_places(task: PirTask) -> list[str]:
    """The place that each query asks for; empty where it asks for something else."""
    return [found.group(1) if (found := _PLACE.search(q.perspective)) else "" for q in task.queries]


def location_matrix(task: PirTask, ids: Ids) -> pd.DataFrame:
    """Columns `asked`, `retrieved`, `share`, `queries`: of the top k passages of the queries that ask for a place, the share
    from each place. `ids` int64[n_queries, k].

    A passage is from the place it is relevant for; else from the place, of those asked for, that its text names first; else
    from elsewhere. Padding does not count. Empty for a task that asks for no places.
    """
    asked = asked_places(task)
    places = sorted(set(asked) - {""})
    home = _homes(task, asked, places)
    counts: dict[str, Counter[str]] = {place: Counter() for place in places}
    for place, row in zip(asked, ids.tolist(), strict=True):
        if place:
            counts[place].update(home[i] for i in row if i >= 0)
    numbers = Counter(asked)
    rows = []
    for place in places:
        total = max(counts[place].total(), 1)
        rows += [
            {"asked": place, "retrieved": other, "share": counts[place][other] / total, "queries": numbers[place]}
            for other in [*places, ELSEWHERE]
        ]
    return pd.DataFrame(rows, columns=["asked", "retrieved", "share", "queries"])


def _homes(task: PirTask, asked: list[str], places: list[str]) -> list[str]:
    longest_first = sorted(places, key=len, reverse=True)
    named = re.compile(rf"\b(?:{'|'.join(map(re.escape, longest_first))})\b") if places else None
    homes = [found.group() if named and (found := named.search(p.text)) else ELSEWHERE for p in task.passages]
    for place, query in zip(asked, task.queries, strict=True):
        for passage in query.relevant if place else ():
            homes[passage] = place
    return homes


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
