"""p-Recall@k over the tasks of PIR: does the ranking follow the perspective that is asked for?"""

from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from berdseye.data.pir_tasks import PirTask
from berdseye.data.records import Ids
from berdseye.evaluation.pir.task_search import TaskSearch
from berdseye.retrieval.pipeline import Pipeline

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
