"""Building FAISS indexes of vectors: they are buffered on disk, so that an interrupted build can continue.

Building an index takes no more memory than the index itself.
"""

import json
import os
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import faiss
import numpy as np

from berdseye.data.files.atomic import write_json
from berdseye.data.records import Ids
from berdseye.retrieval.dense.index import finite
from berdseye.retrieval.dense.layouts import Layout
from berdseye.retrieval.encoders.protocol import Vectors

_ADDED = 65_536
_SEED = 0
_SETTLED_EVERY = 10.0  # seconds


class VectorBuffer:
    """Vectors of `dimension` numbers in a file, in half precision or, for an exact `layout`, as they are.

    What `count` tells is on the disk, also after a power cut; a file beside it, which ends in `.count`, has that number.
    """

    def __init__(self, path: Path, dimension: int, layout: Layout) -> None:
        self.path, self.dimension = path, dimension
        self.dtype: np.dtype[Any] = np.dtype(np.float32 if layout.exact else np.float16)
        self._note = path.with_name(f"{path.name}.count")
        self.count = self._stored()

    def extend(self, blocks: Iterable[Vectors]) -> None:
        """Append blocks float32[n, dimension]; raises `BadInputError` for a vector that is not finite."""
        with self.path.open("r+b" if self.count else "wb") as file:
            file.truncate(self.count * self._bytes)
            file.seek(0, os.SEEK_END)
            count, settled = self.count, time.monotonic()
            try:
                for block in blocks:
                    finite(block).astype(self.dtype).tofile(file)
                    count += len(block)
                    if time.monotonic() - settled >= _SETTLED_EVERY:
                        self._settle(file, count)
                        settled = time.monotonic()
            finally:
                self._settle(file, count)

    def vectors(self) -> Any:
        """The vectors [count, dimension], mapped from the disk."""
        if self.count == 0:
            return np.empty((0, self.dimension), self.dtype)
        return np.memmap(self.path, self.dtype, mode="r", shape=(self.count, self.dimension))

    def delete(self) -> None:
        """Delete the files."""
        self.path.unlink(missing_ok=True)
        self._note.unlink(missing_ok=True)
        self.count = 0

    @property
    def _bytes(self) -> int:
        return self.dimension * self.dtype.itemsize

    def _settle(self, file: Any, count: int) -> None:
        file.flush()
        os.fsync(file.fileno())
        write_json(self._note, {"vectors": count})
        self.count = count

    def _stored(self) -> int:
        try:
            count = int(json.loads(self._note.read_text(encoding="utf-8"))["vectors"])
            return count if 0 <= count * self._bytes <= self.path.stat().st_size else 0
        except (OSError, ValueError, KeyError, TypeError):
            return 0


def build_vectors(blocks: Iterable[Vectors], dimension: int, metric: int, layout: Layout, scratch: Path) -> Any:
    """Build a FAISS index of the vectors in `blocks`, each float32[n, dimension].

    They are buffered in the file `scratch` (2 * dimension bytes each, or 4 for an exact layout), since a layout with training
    needs a sample of all of them. If an interrupted build has left the file there, its vectors come first. It is deleted at
    the end. Raises `BadInputError` for a vector that is not finite.
    """
    buffer = VectorBuffer(scratch, dimension, layout)
    buffer.extend(blocks)
    index = _of(buffer.vectors(), dimension, metric, layout)
    buffer.delete()
    return index


def _of(vectors: Any, dimension: int, metric: int, layout: Layout) -> Any:
    count = len(vectors)
    if count == 0 and layout.trained:
        return faiss.index_factory(dimension, "Flat", metric)
    if layout.trained:
        sample = np.sort(np.random.default_rng(_SEED).permutation(count)[: layout.training(count)])
        return train_and_add(vectors, sample, dimension, metric, layout)
    return _with_all(faiss.index_factory(dimension, layout.description(0, dimension), metric), vectors)


def train_and_add(vectors: Any, sample: Ids, dimension: int, metric: int, layout: Layout) -> Any:
    """A FAISS index trained on the rows `sample` int64[n], ascending, of `vectors` [count, dimension], and holding all of them.

    `vectors` may lie on disk: they are read and added in blocks. A GPU is used where there is one.
    """
    index = faiss.index_factory(dimension, layout.description(len(vectors), dimension), metric)
    on_gpu = _on_gpus(index)
    trained = index if on_gpu is None else on_gpu
    trained.train(vectors[sample].astype(np.float32))
    _with_all(trained, vectors)
    return index if on_gpu is None else faiss.index_gpu_to_cpu(on_gpu)


def _on_gpus(index: Any) -> Any:
    """The empty index on all GPUs; None if there is none, or if FAISS has no version of this index for them."""
    if faiss.get_num_gpus() == 0:
        return None
    try:
        return faiss.index_cpu_to_all_gpus(index)
    except RuntimeError:
        return None


def _with_all(index: Any, vectors: Any) -> Any:
    for start in range(0, len(vectors), _ADDED):
        index.add(vectors[start : start + _ADDED].astype(np.float32))
    return index
