"""Encoding a corpus with Ray Data: passages are read and encoded on different nodes, and vectors are written to files.

The files of vectors are named by their range of ids and written atomically; they need not be encoded again after an
interruption.
"""

import logging
from collections.abc import Iterable, Iterator, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from berdseye.data.files.atomic import write_with
from berdseye.data.progress import Progress
from berdseye.data.records import Ids, Passage
from berdseye.retrieval.cluster.connection import Connection, cause_of, interrupted, last_line, reporting_errors
from berdseye.retrieval.cluster.shards import Shard, ShardPlan
from berdseye.retrieval.dense.ranker import DenseIndexer
from berdseye.retrieval.encoders.endpoint import EndpointEncoder
from berdseye.retrieval.encoders.protocol import Vectors
from berdseye.retrieval.encoders.static import StaticEncoder
from berdseye.retrieval.passage_collections import unchanged

_BATCH = 4096
_PIECE = 32_768
_MOST_BLOCKS = 10_000
_BLOCK_BYTES = 16 << 20
# Together less than a core, so that one core is enough for reading and encoding.
_READING, _ENCODING = 0.05, 0.9


class VectorFiles:
    """The files of the vectors of a corpus encoded so far.

    With `half`, they have half precision, as do the buffered vectors of a single index whose layout has training.
    """

    def __init__(self, folder: Path, dimension: int, *, half: bool) -> None:
        self.folder, self.dimension = folder, dimension
        self.dtype: npt.DTypeLike = np.float16 if half else np.float32

    def write(self, start: int, vectors: Vectors) -> None:
        """Write the vectors float32[n, dimension] of the passages from id `start` on."""
        path = self.folder / f"{start:012d}-{start + len(vectors):012d}"
        write_with(path, lambda temporary: vectors.astype(self.dtype).tofile(temporary))

    def missing(self, start: int, end: int) -> Iterator[tuple[int, int]]:
        """Yield the ranges within [start, end) that are not encoded yet."""
        for begin, stop, _ in self._within(start, end):
            if begin > start:
                yield start, begin
            start = stop
        if start < end:
            yield start, end

    def read(self, start: int, end: int) -> Iterator[Vectors]:
        """Yield the vectors of the passages in [start, end), float32[n, dimension] per file, in order."""
        for begin, stop, path in self._within(start, end):
            vectors = np.fromfile(path, dtype=self.dtype).reshape(-1, self.dimension)
            first = begin - _range(path)[0]
            yield vectors[first : first + stop - begin].astype(np.float32)

    def rows(self, ids: Ids) -> Iterator[Vectors]:
        """Yield the vectors of passages with ascending `ids`, float32[n, dimension] per file, in order."""
        for path in self._files():
            begin, stop = _range(path)
            low, high = np.searchsorted(ids, [begin, stop])
            if high > low:
                vectors = np.memmap(path, dtype=self.dtype, mode="r", shape=(stop - begin, self.dimension))
                yield vectors[ids[low:high] - begin].astype(np.float32)

    def remove(self, start: int, end: int) -> None:
        """Delete the files of ranges within [start, end)."""
        for path in self._files():
            begin, stop = _range(path)
            if start <= begin and stop <= end:
                path.unlink(missing_ok=True)

    def _files(self) -> list[Path]:
        return sorted(path for path in self.folder.glob("[0-9]*-[0-9]*"))

    def _within(self, start: int, end: int) -> Iterator[tuple[int, int, Path]]:
        """Yield, for each file, the part of [start, end) that no earlier file covers."""
        for path in self._files():
            begin, stop = _range(path)
            begin, stop = max(begin, start), min(stop, end)
            if begin < stop:
                yield begin, stop, path
                start = stop


def _range(path: Path) -> tuple[int, int]:
    begin, _, stop = path.name.partition("-")
    return int(begin), int(stop)


def encode_missing(
    cluster: Connection,
    plan: ShardPlan,
    indexer: DenseIndexer,
    files: VectorFiles,
    shards: Sequence[Shard],
    progress: Progress,
) -> None:
    """Encode the passages of these shards that are missing in `files`, on all GPUs.

    Without GPUs, or with an encoder that does not use them, all cores are used. Ray repeats work that is lost with a node.
    Raises `UnavailableError` with the shard if the encoder fails.
    """
    missing = [piece for shard in shards for piece in _pieces(files.missing(shard.start, shard.end))]
    if not missing:
        return
    corpus = {"folder": str(plan.corpus_folder), "hash": plan.corpus_hash}
    pieces = [{"start": start, "end": end} | corpus for start, end in missing]
    total = sum(shard.size for shard in shards)
    done = total - sum(end - start for start, end in missing)
    data: Any = import_module("ray.data")  # imported here, since that takes seconds
    logging.getLogger("ray.data").setLevel(logging.ERROR)
    try:
        with data.DataContext.current(_settings(data)):
            rows = (
                data.from_items(pieces, override_num_blocks=min(len(pieces), _MOST_BLOCKS))
                .map_batches(_read, batch_size=1, num_cpus=_READING)
                .map_batches(
                    _Encode,
                    batch_size=_BATCH,
                    batch_format="pyarrow",
                    fn_constructor_args=(plan, indexer, files),
                    **_where(cluster, indexer, data),
                )
            )
            for counts in rows.iter_batches(batch_size=None, prefetch_batches=0):
                done += int(counts["encoded"].sum())
                progress(done, f"passages encoded for {indexer.name}", total)
    except cluster.ray.exceptions.RayError as error:
        why = str(cause_of(error) or f"The corpus could not be encoded: {last_line(error)}.")
        raise interrupted(why.splitlines()[0]) from None  # Ray Data adds lines about its own settings


class _Encode:
    """Encodes passages and writes their vectors; created once on each encoding node."""

    def __init__(self, plan: ShardPlan, indexer: DenseIndexer, files: VectorFiles) -> None:
        self.plan, self.indexer, self.files = plan, indexer, files

    def __call__(self, batch: pa.Table) -> pa.Table:
        ids = batch.column("id").to_numpy()
        ends = [*(np.flatnonzero(np.diff(ids) != 1) + 1).tolist(), len(ids)]
        begin = 0
        for end in ends:
            shard = self.plan.holding(int(ids[begin]))
            with reporting_errors(f"The {shard} of {self.plan.shards} could not be encoded"):
                passages = _passages(batch.slice(begin, end - begin))
                vectors = self.indexer._shaped(self.indexer.open().encode_passages(passages))
                self.files.write(int(ids[begin]), vectors)
            begin = end
        return pa.table({"encoded": [len(ids)]})


def _pieces(missing: Iterable[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    for start, end in missing:
        for begin in range(start, end, _PIECE):
            yield begin, min(begin + _PIECE, end)


def _read(piece: dict[str, Any]) -> Iterator[pa.Table]:
    """Yield the passages of a piece, on any node."""
    start, end = int(piece["start"][0]), int(piece["end"][0])
    with reporting_errors(f"Passages {start:,} to {end - 1:,} could not be read"):
        for batch in unchanged(Path(piece["folder"][0]), str(piece["hash"][0])).columns(_BATCH, start):
            interrupted = batch.slice(0, end - start)
            yield pa.Table.from_batches([interrupted])
            start += interrupted.num_rows
            if start >= end:
                return


def _passages(batch: pa.Table) -> list[Passage]:
    columns = (batch.column(name).to_pylist() for name in ("id", "title", "text"))
    return [Passage(number, "", title, text) for number, title, text in zip(*columns, strict=True)]


def _where(cluster: Connection, indexer: DenseIndexer, data: Any) -> dict[str, Any]:
    gpus = 0 if isinstance(indexer.open(), StaticEncoder | EndpointEncoder) else cluster.gpus()
    if gpus:
        return {"num_gpus": 1, "compute": data.ActorPoolStrategy(size=gpus)}
    most = sum(cluster.workers())
    return {"num_cpus": _ENCODING, "compute": data.ActorPoolStrategy(min_size=1, max_size=most)}


def _settings(data: Any) -> Any:
    context = data.DataContext.get_current().copy()
    context.target_max_block_size = _BLOCK_BYTES
    context.enable_progress_bars = False
    context.print_on_execution_start = False
    return context
