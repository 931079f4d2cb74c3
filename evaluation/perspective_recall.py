"""p-Recall@k over the released tasks of PIR: does the ranking follow the perspective that is asked for?"""

from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from data.pir_tasks import PirTask
from retrieval.passage_collections import Loose
from retrieval.pipeline import Pipeline
from retrieval.queries import Query
from retrieval.search import search_passages

Singleton = Literal["mean", "zero"]


class PerspectiveRecall(NamedTuple):
    """Shares in [0, 1]: p-Recall@k over roots, Recall@k over queries, and Recall@k of the root queries asked instead."""

    p_recall: float
    recall: float
    root_recall: float
    roots: int


def perspective_recalls(
    task: PirTask, pipelines: Sequence[Pipeline], k: int, *, singleton: Singleton = "mean"
) -> Iterator[PerspectiveRecall]:
    """For each pipeline (PIR, section 3): per root the mean over its queries of success@k, a relevant passage in the top k,
    then the mean over roots.

    The released notebook counts a root that has one query alone as 0, which `singleton="zero"` does as well.
    """
    passages = Loose(task.passages)
    roots = [q.root for q in task.queries]
    asked = [Query(q.text, q.root, q.perspective) for q in task.queries]
    for pipeline in pipelines:
        hits, root_hits = (
            _successes(task, search_passages(passages, pipeline, queries, k)[0])
            for queries in (asked, [q._replace(text=q.root) for q in asked])
        )
        yield PerspectiveRecall(
            p_recall(roots, hits, singleton=singleton), float(hits.mean()), float(root_hits.mean()), len(set(roots))
        )


def p_recall(roots: Sequence[str], hits: npt.NDArray[np.bool_], *, singleton: Singleton = "mean") -> float:
    """Mean over roots of the mean over each root's queries of `hits` bool[n_queries]."""
    by_root: dict[str, list[bool]] = {}
    for root, hit in zip(roots, hits.tolist(), strict=True):
        by_root.setdefault(root, []).append(hit)
    values = [0.0 if len(v) == 1 and singleton == "zero" else float(np.mean(v)) for v in by_root.values()]
    return float(np.mean(values)) if values else float("nan")


def _successes(task: PirTask, ids: npt.NDArray[np.int64]) -> npt.NDArray[np.bool_]:
    return np.array([bool(q.relevant & set(row)) for q, row in zip(task.queries, ids.tolist(), strict=True)])
