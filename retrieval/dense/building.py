"""Vectors to a FAISS index, in memory bounded by the index itself."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import faiss
import numpy as np

from berdseye.retrieval.dense.index import finite
from berdseye.retrieval.dense.layouts import Layout
from berdseye.retrieval.encoders.protocol import Vectors

_ADDED = 65_536
_SEED = 0


def build_vectors(
    blocks: Iterable[Vectors], dimension: int, metric: int, layout: Layout, scratch: Path, *, gpu: bool = False
) -> Any:
    """A FAISS index of the vectors in `blocks`, each float32[n, dimension].

    A layout that must be trained learns from a sample of all vectors, so they wait in half precision in the file `scratch`
    (2 * dimension bytes each), which is removed. A vector that is not finite raises `BadInputError`.
    """
    blocks = (finite(block) for block in blocks)
    if not layout.trained:
        index = faiss.index_factory(dimension, layout.description(0, dimension), metric)
        for block in blocks:
            index.add(block)
        return index
    count = 0
    try:
        with scratch.open("wb") as file:
            for block in blocks:
                block.astype(np.float16).tofile(file)
                count += len(block)
        held = np.memmap(scratch, dtype=np.float16, mode="r", shape=(count, dimension)) if count else None
        return _trained(held, count, dimension, metric, layout, gpu=gpu)
    finally:
        scratch.unlink(missing_ok=True)


def _trained(held: Any, count: int, dimension: int, metric: int, layout: Layout, *, gpu: bool) -> Any:
    index = faiss.index_factory(dimension, layout.description(count, dimension), metric)
    if count == 0:
        return faiss.index_factory(dimension, "Flat", metric)
    sample = np.random.default_rng(_SEED).permutation(count)[: layout.training(count)]
    training = held[np.sort(sample)].astype(np.float32)
    trained = faiss.index_cpu_to_all_gpus(index) if gpu else index
    trained.train(training)
    for start in range(0, count, _ADDED):
        trained.add(held[start : start + _ADDED].astype(np.float32))
    return faiss.index_gpu_to_cpu(trained) if gpu else trained
