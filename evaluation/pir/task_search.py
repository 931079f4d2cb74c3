"""Search over the passages of a PIR task; rankings are cached in the workspace, so re-running an interrupted study resumes."""

import hashlib
import json
from collections.abc import Sequence

from berdseye.data.datasets.pir_tasks import PirTask
from berdseye.data.progress import Progress, silent
from berdseye.data.records import Ids
from berdseye.data.workspace import Workspace
from berdseye.evaluation.studies.gathering import cached_ranking
from berdseye.retrieval.passage_collections import InMemoryPassages
from berdseye.retrieval.pipeline import Pipeline, search_passages
from berdseye.retrieval.protocol import Query


class TaskSearch:
    """A task with its indexes and rankings so far, which pipelines share."""

    def __init__(self, task: PirTask, workspace: Workspace | None = None) -> None:
        self.task = task
        self._workspace = workspace
        self._passages = InMemoryPassages(task.passages)
        self._rankings: dict[str, Ids] = {}
        self.digest = _digest([p.text for p in task.passages], [[*q[:4], sorted(q.relevant)] for q in task.queries])

    def asked(self) -> list[Query]:
        """Return the queries with their perspectives."""
        return [Query(q.text, q.root, q.perspective) for q in self.task.queries]

    def bare(self) -> list[Query]:
        """Return the queries with the text of the root query instead of their own, without a perspective."""
        return [q._replace(text=q.root) for q in self.asked()]

    def ranked(self, pipeline: Pipeline, queries: Sequence[Query], k: int, progress: Progress = silent) -> Ids:
        """Return the places of the best k passages, int64[n_queries, k], padded with -1; cached in the workspace."""
        key = _digest(str(pipeline), sorted(pipeline.versions.items()), list(map(list, queries)), k)
        if key not in self._rankings:
            self._rankings[key] = self._search(pipeline, queries, k, progress)
        return self._rankings[key]

    def _search(self, pipeline: Pipeline, queries: Sequence[Query], k: int, progress: Progress) -> Ids:
        def find() -> Ids:
            return search_passages(self._passages, pipeline, queries, k, progress=progress)[0]

        if self._workspace is None:
            return find()
        return cached_ranking(self._workspace, pipeline, queries, k, self.digest, find)


def _digest(*parts: object) -> str:
    return hashlib.blake2b(json.dumps(parts).encode(), digest_size=16).hexdigest()
