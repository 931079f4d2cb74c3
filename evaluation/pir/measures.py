"""Measures of PIR: p-Recall@k (does the ranking follow the requested perspective?), shares of perspectives in rankings of queries
without a perspective (tables 3 and 10), places of retrieved news by requested place (location bias), and perspectives named by a
language model against the stated ones (table 6).
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
from berdseye.data.language_models.prompts import PromptTemplate
from berdseye.data.language_models.protocol import LanguageModel
from berdseye.data.progress import Progress, silent
from berdseye.data.records import Ids
from berdseye.data.statistics import bootstrap_interval
from berdseye.evaluation.pir.task_search import TaskSearch
from berdseye.evaluation.statistics.intervals import Estimate, resampled_means
from berdseye.retrieval.expansion.language_model import EXTRACTION, extract, qa_f1
from berdseye.retrieval.pipeline import Pipeline
from berdseye.retrieval.protocol import Query

Singleton = Literal["mean", "zero"]
Variant = Literal["paper", "released"]
"""p-Recall@k as the paper defines it, or as the released notebook computes it."""
Hits = npt.NDArray[np.bool_]
_UMBRELLA = "general"
"""Perspectrum's label of queries for which all passages of the root are relevant, whatever their side."""
_RESAMPLES = 2000
_PLACE = re.compile(r"\bhappened in\s+(.+?)\s*(?:and similar to\b.*)?$", re.DOTALL)
ELSEWHERE = "elsewhere"


class PerspectiveRecall(NamedTuple):
    """Shares in [0, 1]: p-Recall@k over root queries; p-Recall@k with roots of a single query counted as 0, as in the released
    notebook; Recall@k over queries; and Recall@k with the root queries instead of the queries."""

    p_recall: float
    p_recall_singleton_zero: float
    recall: float
    root_recall: float
    n_roots: int
    n_queries: int


def perspective_recalls(
    task: PirTask, pipelines: Sequence[Pipeline], k: int, variant: Variant = "paper"
) -> Iterator[PerspectiveRecall]:
    """Yield the recalls of each pipeline (PIR, section 3).

    p-Recall@k is the mean over roots of the mean over the root's queries of success@k (a relevant passage in the top k). As
    released, the relevant passages are those of `relevant_passages`, and roots of a single query count as 0.
    """
    search = TaskSearch(task)
    roots = [q.root for q in task.queries]
    for pipeline in pipelines:
        hits, root_hits = (
            successes(task, search.ranked(pipeline, queries, k), variant) for queries in (search.asked(), search.bare())
        )
        yield PerspectiveRecall(
            p_recall(roots, hits, singleton=singletons(variant)),
            p_recall(roots, hits, singleton="zero"),
            float(hits.mean()),
            float(root_hits.mean()),
            len(set(roots)),
            len(hits),
        )


def p_recall(roots: Sequence[str], hits: Hits, *, singleton: Singleton = "mean") -> float:
    """Return the mean over roots of the mean over each root's queries of `hits` bool[n_queries]; NaN without queries."""
    values = root_values(roots, hits, singleton=singleton)
    return float(values.mean()) if len(values) else float("nan")


def root_values(roots: Sequence[str], hits: Hits, *, singleton: Singleton = "mean") -> npt.NDArray[np.float64]:
    """Return the mean of each root, float64[n_roots], with roots in the order of their first query.

    The released notebook counts a root with a single query as 0; so does `singleton="zero"`.
    """
    places = {root: n for n, root in enumerate(dict.fromkeys(roots))}
    codes = np.fromiter((places[root] for root in roots), dtype=np.int64, count=len(roots))
    counts = np.bincount(codes, minlength=len(places))
    values: npt.NDArray[np.float64] = np.bincount(codes, weights=hits, minlength=len(places)) / counts
    return np.where(counts == 1, 0.0, values) if singleton == "zero" else values


def singletons(variant: Variant) -> Singleton:
    """Return how roots of a single query count."""
    return "zero" if variant == "released" else "mean"


def relevant_passages(task: PirTask, variant: Variant = "paper") -> list[frozenset[int]]:
    """Return the relevant passages of each query: its own, or as the released notebook has them.

    The notebook collects the relevant passages of a root's queries in the list of the root's first query, which it does not
    copy, so that any passage of the root answers the first query. The figures of the paper's tables have this fault
    (docs/papers.md).
    """
    relevant = [query.relevant for query in task.queries]
    if variant == "released":
        first: dict[str, int] = {}
        for number, query in enumerate(task.queries):
            start = first.setdefault(query.root, number)
            relevant[start] |= query.relevant
    return relevant


def successes(task: PirTask, ids: Ids, variant: Variant = "paper") -> Hits:
    """Return whether the ranking of each query in `ids` int64[n_queries, k] has a relevant passage, bool[n_queries]."""
    lists = relevant_passages(task, variant)
    return np.array([bool(own & set(row)) for own, row in zip(lists, ids.tolist(), strict=True)])


class Share(NamedTuple):
    """The share of a label among the relevant passages that root queries retrieve, and its share among all relevant passages; or
    the share of a place among all passages that they retrieve, and its share in the corpus."""

    label: str
    retrieved: Estimate
    corpus: float


def perspective_shares(task: PirTask, roots: list[str], ids: Ids, *, seed: int = 0) -> list[Share]:
    """Return one share per label; `ids` int64[n_roots, k] are the passages retrieved for the text of each root.

    A passage of the top k counts for the label of the root's query to which it is relevant. Shares are of all relevant retrieved
    passages, with a 95% percentile bootstrap over roots (2,000 resamples, seeded); `n` counts the roots with a relevant retrieved
    passage. All values are NaN if there is none.
    """
    labels = labels_with_sides(task)
    retrieved, existing = np.zeros((len(roots), len(labels))), np.zeros(len(labels))
    relevant = _relevant(task, labels)
    for row, (root, places) in enumerate(zip(roots, ids.tolist(), strict=True)):
        for column in range(len(labels)):
            gold = relevant.get((root, column), set())
            retrieved[row, column] = len(gold.intersection(places))
            existing[column] += len(gold)
    return [
        Share(label, share, float(existing[i] / existing.sum()))
        for i, (label, share) in enumerate(zip(labels, shares_over_roots(retrieved, seed=seed), strict=True))
    ]


def shares_over_roots(counts: npt.NDArray[np.float64], *, seed: int = 0) -> list[Estimate]:
    """Compute the share of each label from counts float64[n_roots, n_labels], with a 95% percentile bootstrap over roots.

    2,000 seeded resamples (`data.statistics`); `n` counts the roots with a count above 0. All values are NaN if there is none.
    """
    n, labels = int(counts.any(axis=1).sum()), counts.shape[1]
    if not n:
        return [Estimate(np.nan, np.nan, np.nan, 0)] * labels
    overall = _shares(counts.sum(axis=0)[None, :])[0]
    drawn = _shares(resampled_means(counts, _RESAMPLES, np.random.default_rng(seed)))
    return [Estimate(float(overall[i]), *bootstrap_interval(drawn[:, i], n), n) for i in range(labels)]


def labels_with_sides(task: PirTask) -> list[str]:
    """Return the labels that passages can favour, in the order of the file."""
    return [label for label in dict.fromkeys(q.label for q in task.queries) if label != _UMBRELLA]


def _relevant(task: PirTask, labels: list[str]) -> dict[tuple[str, int], set[int]]:
    columns, relevant = {label: n for n, label in enumerate(labels)}, dict[tuple[str, int], set[int]]()
    for query in task.queries:
        if query.label in columns:
            relevant.setdefault((query.root, columns[query.label]), set()).update(query.relevant)
    return relevant


def _shares(counts: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    totals = counts.sum(axis=1, keepdims=True)
    shares: npt.NDArray[np.float64] = np.divide(counts, totals, out=np.full(counts.shape, np.nan), where=totals > 0)
    return shares


def requested_places(task: PirTask) -> list[str]:
    """Return the place that each query requests; empty if it requests something else."""
    return [match.group(1) if (match := _PLACE.search(q.perspective)) else "" for q in task.queries]


def location_matrix(task: PirTask, ids: Ids) -> pd.DataFrame:
    """Return the share of passages from each place among the top k of the queries that request a place: columns `asked`,
    `retrieved`, `share`, `queries`. `ids` int64[n_queries, k].

    A passage is from the place for which it is relevant; otherwise from the first requested place that its text names; otherwise
    from elsewhere. Padding does not count. Empty for a task without requested places.
    """
    asked = requested_places(task)
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


def root_places(task: PirTask, ids: Ids) -> list[Share]:
    """Return the share of passages from each place, and from elsewhere, among the top k of the root queries.

    `ids` int64[n_roots, k] are the passages retrieved for the text of each root; padding does not count. The place of a passage
    is that of `location_matrix`. Intervals are as in `shares_over_roots`. Empty for a task without requested places.
    """
    asked = requested_places(task)
    places = sorted(set(asked) - {""})
    if not places:
        return []
    columns = {place: n for n, place in enumerate([*places, ELSEWHERE])}
    home = np.array([columns[place] for place in _homes(task, asked, places)])
    counts = np.zeros((len(ids), len(columns)))
    rows, ranks = np.nonzero(ids >= 0)
    np.add.at(counts, (rows, home[ids[rows, ranks]]), 1)
    existing = np.bincount(home, minlength=len(columns)) / len(home)
    return [
        Share(place, share, float(existing[columns[place]]))
        for place, share in zip(columns, shares_over_roots(counts), strict=True)
    ]


def _homes(task: PirTask, asked: list[str], places: list[str]) -> list[str]:
    longest_first = sorted(places, key=len, reverse=True)
    pattern = re.compile(rf"\b(?:{'|'.join(map(re.escape, longest_first))})\b") if places else None
    homes = [match.group() if pattern and (match := pattern.search(p.text)) else ELSEWHERE for p in task.passages]
    for place, query in zip(asked, task.queries, strict=True):
        for passage in query.relevant if place else ():
            homes[passage] = place
    return homes


@dataclass(frozen=True)
class Extractions:
    """Perspectives named by a model for sampled queries, given by their `places` in the task.

    `named`: the perspective named for each query, empty if there is none; `overlap` float64[n]: its QA-F1 with the stated
    perspective.
    """

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
    prompt: PromptTemplate = EXTRACTION,
    progress: Progress = silent,
) -> Extractions:
    """Let the model name the perspectives of `sample` queries (all if there are fewer), drawn without replacement with a seed.

    Raises `BadInputError` for a sample of less than one query.
    """
    if sample < 1:
        raise BadInputError(f"The sample must have at least 1 query, got {sample}.")
    drawn = np.random.default_rng(seed).permutation(len(task.queries))[:sample]
    places: npt.NDArray[np.int64] = np.sort(drawn).astype(np.int64)
    queries = [task.queries[place] for place in places]
    named = [e.perspective for e in extract(model, cache, [q.text for q in queries], prompt=prompt, progress=progress)]
    overlap = np.array([qa_f1(n, [q.perspective]) for n, q in zip(named, queries, strict=True)], dtype=np.float64)
    return Extractions(places, named, overlap)


def with_perspectives(queries: Sequence[PirQuery], perspectives: Sequence[str]) -> list[Query]:
    """Return the root queries preceded by the perspectives, q = p + r, for stated as well as named perspectives."""
    return [Query(f"{p} {q.root}".strip(), q.root, p) for q, p in zip(queries, perspectives, strict=True)]
