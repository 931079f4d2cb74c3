"""Building the shards of a corpus on a cluster; work finished before an interruption is kept.

For shards of vectors, all passages are encoded, a layout with training is trained once, and each shard gets its vectors. The
codes and inverted lists are therefore equal in all shards, and equal to those of a single index of the corpus.
"""

import json
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import faiss
import numpy as np

from berdseye.data.corpora import Corpus
from berdseye.data.errors import BerdseyeError, StaleError
from berdseye.data.files.atomic import write_json, write_with
from berdseye.data.files.locks import locked
from berdseye.data.progress import Progress, silent
from berdseye.data.records import Passage
from berdseye.retrieval.cluster.connection import Connection
from berdseye.retrieval.cluster.encoding import VectorFiles, encode_missing
from berdseye.retrieval.cluster.shards import Shard, ShardPlan
from berdseye.retrieval.cluster.tasks import LEFTOVER, ReportDone, building, run_one, run_tasks
from berdseye.retrieval.dense.building import build_vectors
from berdseye.retrieval.dense.index import save
from berdseye.retrieval.dense.layouts import LAYOUTS, METRICS, Layout
from berdseye.retrieval.dense.ranker import DenseIndexer
from berdseye.retrieval.encoders.protocol import Vectors
from berdseye.retrieval.learned_sparse import SparseIndexer
from berdseye.retrieval.passage_collections import unchanged
from berdseye.retrieval.protocol import Indexer

_SEED = 0
_KEPT = "encoded"


def build_dense(
    cluster: Connection,
    plan: ShardPlan,
    indexer: DenseIndexer,
    shards: Sequence[Shard],
    encoded_folder: Path,
    progress: Progress,
) -> None:
    """Build these shards of vectors; `encoded_folder` is a folder for finished work, from which a later call resumes."""
    source, trained = Source.of(indexer, encoded_folder), encoded_folder / "trained.faiss"
    learns = source.layout.trained and plan.count > 0 and not trained.exists()
    shards = list(plan.all()) if learns else shards
    encode_missing(cluster, plan, indexer, source.files, shards, progress)
    cores_by_node = cluster.workers()
    if learns:
        run_one(
            cluster,
            "The layout could not be trained",
            train,
            source,
            plan.count,
            trained,
            cores_by_node[0],
            cores=cores_by_node[0],
        )
    cores = max(1, min(cores_by_node[-1], sum(cores_by_node) // len(shards)))
    run_tasks(cluster, plan, shards, build_shard, source, trained, cores, cores=cores, progress=progress)
    source.files.remove(0, plan.count)


@dataclass(frozen=True)
class Source:
    """Encoded vectors, with the metric and the layout of their index."""

    files: VectorFiles
    metric: int
    layout: Layout

    @classmethod
    def of(cls, indexer: DenseIndexer, folder: Path) -> "Source":
        """The vectors of an indexer's encoder, stored in a folder."""
        encoder, layout = indexer.open(), LAYOUTS[indexer.layout]
        files = VectorFiles(folder, encoder.dimension, half=layout.trained)
        return cls(files, METRICS[indexer.similarity or encoder.similarity], layout)

    def laid_out(self, blocks: Iterator[Vectors], layout: Layout, scratch: Path) -> Any:
        return build_vectors(blocks, self.files.dimension, self.metric, layout, scratch)


@dataclass(frozen=True)
class _LearntFromAll(Layout):
    """A layout for `of` vectors that is trained with every vector it gets."""

    of: int = 0

    def description(self, count: int, dimension: int) -> str:
        del count
        return super().description(self.of, dimension)

    def training(self, count: int) -> int:
        return count


def train(source: Source, count: int, path: Path, cores: int) -> None:
    """Write an empty index trained with the sample that a single index of the corpus would use."""
    faiss.omp_set_num_threads(cores)
    sample = np.sort(np.random.default_rng(_SEED).permutation(count)[: source.layout.training(count)])
    layout = _LearntFromAll(**asdict(source.layout), of=count)
    index = source.laid_out(source.files.rows(sample), layout, path.with_suffix(".f16"))
    index.reset()
    write_with(path, lambda temporary: faiss.write_index(index, str(temporary)))


def build_shard(
    plan: ShardPlan, shard: Shard, report_done: ReportDone, source: Source, trained: Path, cores: int
) -> None:
    """Build the index of one shard from its vectors, then delete their files."""
    faiss.omp_set_num_threads(cores)
    with building(plan, shard) as folder:
        blocks = _with_progress(source.files.read(shard.start, shard.end), report_done)
        if source.layout.trained and plan.count:
            index = faiss.read_index(str(trained))
            for block in blocks:
                index.add(block)
        else:
            index = source.laid_out(blocks, source.layout, folder / "vectors.f16")
        if index.ntotal != shard.size:
            raise StaleError(
                f"Only {index.ntotal:,} of its {shard.size:,} vectors exist.", hint="Build it again with --rebuild."
            )
        save(index, folder)
    source.files.remove(shard.start, shard.end)


def _with_progress(blocks: Iterator[Vectors], report_done: ReportDone) -> Iterator[Vectors]:
    done = 0
    for block in blocks:
        yield block
        done += len(block)
        report_done(done)


def build_shards(
    corpus: Corpus,
    indexer: Indexer[Any],
    cluster: Connection,
    shards: int | None = None,
    *,
    rebuild: bool = False,
    progress: Progress = silent,
) -> ShardPlan:
    """Build the missing shards of an index, by default one for each node that offers cores.

    The workspace must be on storage that every node can read under one path. Raises `UnavailableError` with the shard that
    cannot be built, and `BerdseyeError` if another process is building them.
    """
    plan = ShardPlan.of(corpus, indexer, shards if shards is not None else len(cluster.workers()))
    busy = BerdseyeError(
        f"Another process is building the shards of {plan.indexer}.", hint="Wait until it has finished, then try again."
    )
    plan.folder.mkdir(parents=True, exist_ok=True)
    with locked(plan.folder.parent / f".{plan.shards}.lock", busy=busy):
        if rebuild:
            for path in plan.folder.iterdir():
                shutil.rmtree(path, ignore_errors=True)
        for path in plan.folder.glob(f".*{LEFTOVER}"):
            shutil.rmtree(path, ignore_errors=True)
        missing = [shard for shard in plan.all() if not plan.is_built(shard)]
        if not missing:
            return plan
        if isinstance(indexer, DenseIndexer):
            build_dense(cluster, plan, indexer, missing, _encoded_folder(plan), progress)
        else:
            gpus = min(1, cluster.gpus()) if isinstance(indexer, SparseIndexer) else 0
            run_tasks(cluster, plan, missing, _build, indexer, cores=1, gpus=gpus, progress=progress)
    return plan


def _build(plan: ShardPlan, shard: Shard, report_done: ReportDone, indexer: Indexer[Any]) -> None:
    with building(plan, shard) as folder:
        indexer.build(_batches(unchanged(plan.corpus_folder, plan.corpus_hash), shard, report_done), folder)


def _batches(corpus: Corpus, shard: Shard, report_done: ReportDone) -> Iterator[list[Passage]]:
    remaining = shard.size
    batches = corpus.batches(start=shard.start)
    while remaining:
        batch = next(batches)[:remaining]
        yield batch
        remaining -= len(batch)
        report_done(shard.size - remaining)


def _encoded_folder(plan: ShardPlan) -> Path:
    """The folder of encoded vectors; it is emptied if they are from another corpus or another version."""
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
