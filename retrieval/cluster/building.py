"""Building the shards of a corpus over a cluster. What was finished before an interruption is kept."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from berdseye.data.atomic import write_json
from berdseye.data.corpora import Corpus
from berdseye.data.errors import BerdseyeError
from berdseye.data.locks import locked
from berdseye.data.progress import Progress, silent
from berdseye.data.records import Passage
from berdseye.retrieval.cluster.connection import Connection
from berdseye.retrieval.cluster.dense_shards import build_dense
from berdseye.retrieval.cluster.shards import Plan, Shard
from berdseye.retrieval.cluster.tasks import LEFTOVER, Tell, building, run_tasks
from berdseye.retrieval.dense.ranker import DenseIndexer
from berdseye.retrieval.learned_sparse import SparseIndexer
from berdseye.retrieval.passage_collections import unchanged
from berdseye.retrieval.protocol import Indexer

_KEPT = "encoded"


def build_shards(
    corpus: Corpus,
    indexer: Indexer[Any],
    cluster: Connection,
    shards: int | None = None,
    *,
    rebuild: bool = False,
    progress: Progress = silent,
) -> Plan:
    """Build the shards of an index that do not stand yet, by default one for each node that lends cores.

    The workspace must lie on storage that every node sees under the same path. Raises `UnavailableError` that names the
    shard which cannot be built, and a `BerdseyeError` where another process builds them.
    """
    plan = Plan.of(corpus, indexer, shards if shards is not None else len(cluster.workers()))
    busy = BerdseyeError(
        f"The shards of {plan.indexer} are being built by another process.", hint="Wait until it has finished."
    )
    plan.folder.mkdir(parents=True, exist_ok=True)
    with locked(plan.folder.parent / f".{plan.shards}.lock", busy=busy):
        if rebuild:
            for path in plan.folder.iterdir():
                shutil.rmtree(path, ignore_errors=True)
        for path in plan.folder.glob(f".*{LEFTOVER}"):
            shutil.rmtree(path, ignore_errors=True)
        missing = [shard for shard in plan.all() if not plan.stands(shard)]
        if not missing:
            return plan
        if isinstance(indexer, DenseIndexer):
            build_dense(cluster, plan, indexer, missing, _kept(plan), progress)
        else:
            gpus = min(1, cluster.gpus()) if isinstance(indexer, SparseIndexer) else 0
            run_tasks(cluster, plan, missing, _build, indexer, cores=1, gpus=gpus, progress=progress)
    return plan


def _build(plan: Plan, shard: Shard, tell: Tell, indexer: Indexer[Any]) -> None:
    with building(plan, shard) as folder:
        indexer.build(_batches(unchanged(plan.corpus_folder, plan.corpus_hash), shard, tell), folder)


def _batches(corpus: Corpus, shard: Shard, tell: Tell) -> Iterator[list[Passage]]:
    left = shard.size
    batches = corpus.batches(start=shard.start)
    while left:
        batch = next(batches)[:left]
        yield batch
        left -= len(batch)
        tell(shard.size - left)


def _kept(plan: Plan) -> Path:
    """A folder for what has been encoded, emptied where that was from another corpus or by another version."""
    folder = plan.folder / _KEPT
    note, made_from = folder / "made_from.json", {"engine": plan.engine, "corpus_hash": plan.corpus_hash}
    try:
        fits = json.loads(note.read_text(encoding="utf-8")) == made_from
    except (OSError, ValueError):
        fits = False
    if not fits:
        shutil.rmtree(folder, ignore_errors=True)
        write_json(note, made_from)
    return folder
