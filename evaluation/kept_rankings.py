"""Rankings that studies ask for and no run holds, kept in the workspace: a study that stopped goes on where it was."""

import hashlib
import json
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from datetime import UTC, datetime

import numpy as np

from berdseye.data.atomic import replacing
from berdseye.data.checksums import RECORD, FileSet
from berdseye.data.corpora import Corpus
from berdseye.data.errors import DamagedError
from berdseye.data.progress import Progress, silent
from berdseye.data.records import Ids, Passage
from berdseye.data.workspace import Workspace
from berdseye.retrieval.pipeline import Pipeline
from berdseye.retrieval.queries import Query
from berdseye.retrieval.search import search


def kept_ranking(
    workspace: Workspace, pipeline: Pipeline, queries: Sequence[Query], k: int, passages: str, find: Callable[[], Ids]
) -> Ids:
    """What `find` gives, int64[n_queries, k], -1 pads, or what it gave when it was asked the same before.

    The same is: the pipeline with its versions, the queries in their order, k, and `passages`, a digest of what is searched.
    """
    asked = json.dumps([str(pipeline), sorted(pipeline.versions.items()), list(map(list, queries)), k, passages])
    name = hashlib.blake2b(asked.encode(), digest_size=16).hexdigest()
    path = workspace.studies_folder / ".rankings" / f"{name}.npy"
    files = FileSet(path.with_suffix(RECORD), (path.name,), lambda: "It is made again by itself.")
    with suppress(OSError, ValueError, EOFError, DamagedError):  # not there, or damaged: it is made again
        files.check()
        kept: Ids = np.load(path)
        return kept
    ids = find()
    with files.writing():
        with replacing(path) as temporary, temporary.open("wb") as file:
            np.save(file, ids)
        files.seal()
    return ids


def passages_digest(passages: Iterable[Passage]) -> str:
    """Of titles and texts in their order."""
    digest = hashlib.blake2b(digest_size=16)
    for passage in passages:
        digest.update(f"{passage.title}\n{passage.text}\n".encode())
    return digest.hexdigest()


def corpus_ranking(
    workspace: Workspace,
    corpus: Corpus,
    pipeline: Pipeline,
    queries: Sequence[Query],
    k: int,
    *,
    progress: Progress = silent,
) -> Ids:
    """The passages of a corpus that `berdseye.retrieval.search.search` finds, int64[n_queries, k]; on the web, those of today."""
    tuned = pipeline.tuned(corpus)
    day = datetime.now(UTC).date().isoformat() if corpus.manifest.kind == "web" else None
    return kept_ranking(
        workspace, tuned, queries, k, f"{corpus.manifest.hash} {day or ''}",
        lambda: search(corpus, tuned, queries, k, day=day, progress=progress)[0],
    )  # fmt: skip
