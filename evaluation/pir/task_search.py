"""Searching a PIR task's passages; rankings stay in the workspace, so that a study that stopped goes on where it was."""

import hashlib
import json
from collections.abc import Sequence

from berdseye.data.datasets.pir_tasks import PirTask
from berdseye.data.progress import Progress, silent
from berdseye.data.records import Ids
from berdseye.data.workspace import Workspace
from berdseye.evaluation.studies.gathering import kept_ranking
from berdseye.retrieval.passage_collections import Loose
from berdseye.retrieval.pipeline import Pipeline, search_passages
from berdseye.retrieval.protocol import Query


class TaskSearch:
    """A task with the indexes and rankings made for it so far; several pipelines share what they can."""

    def __init__(self, task: PirTask, workspace: Workspace | None = None) -> None:
        self.task = task
        self._workspace = workspace
        self._passages = Loose(task.passages)
        self._held: dict[str, Ids] = {}
        self.digest = _digest([p.text for p in task.passages], [[*q[:4], sorted(q.relevant)] for q in task.queries])

    def asked(self) -> list[Query]:
        """The queries with the perspectives they ask for."""
        return [Query(q.text, q.root, q.perspective) for q in self.task.queries]

    def bare(self) -> list[Query]:
        """The same with the root query's text in place of their own: what is asked when no perspective is named."""
        return [q._replace(text=q.root) for q in self.asked()]

    def ranked(self, pipeline: Pipeline, queries: Sequence[Query], k: int, progress: Progress = silent) -> Ids:
        """Places of the best k passages, int64[n_queries, k], -1 pads; taken from the workspace where they were found before."""
        made_by = _digest(str(pipeline), sorted(pipeline.versions.items()), list(map(list, queries)), k)
        if made_by not in self._held:
            self._held[made_by] = self._found(pipeline, queries, k, progress)
        return self._held[made_by]

    def _found(self, pipeline: Pipeline, queries: Sequence[Query], k: int, progress: Progress) -> Ids:
        def find() -> Ids:
            return search_passages(self._passages, pipeline, queries, k, progress=progress)[0]

        if self._workspace is None:
            return find()
        return kept_ranking(self._workspace, pipeline, queries, k, self.digest, find)


def _digest(*parts: object) -> str:
    return hashlib.blake2b(json.dumps(parts).encode(), digest_size=16).hexdigest()
