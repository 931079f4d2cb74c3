"""Exact search on GPUs: a copy of the vectors there, where the extra `gpu` has brought a FAISS that can use them."""

from threading import Lock
from typing import Any

import faiss
import numpy as np

from berdseye.retrieval.encoders.protocol import Vectors

FEWEST = 100_000
"""Fewer vectors are searched fast enough without a copy, for which FAISS reserves memory of the GPU."""
MOST_RESULTS = 2048
"""The largest number of results that FAISS finds on a GPU."""


class OnGpus:
    """An index whose vectors are divided among all GPUs. Scores may differ from a processor's in the last bits."""

    def __init__(self, index: Any) -> None:
        self._index, self._lock = index, Lock()  # FAISS allows one search of a GPU at a time

    def search(self, queries: Vectors, k: int) -> tuple[Any, Any]:
        """Return scores float32[n, k] and ids int64[n, k]; k is at most `MOST_RESULTS`."""
        with self._lock:
            return self._index.search(np.ascontiguousarray(queries), k)  # type: ignore[no-any-return]


def on_gpus(vectors: Any) -> OnGpus | None:
    """A copy of an index on the GPUs; None without one, for few vectors, or if they do not fit into their memory."""
    if vectors.ntotal < FEWEST or faiss.get_num_gpus() == 0:
        return None
    library: Any = faiss  # its type stubs lack what only the version for GPUs has
    options = library.GpuMultipleClonerOptions()
    options.shard = True
    try:
        return OnGpus(library.index_cpu_to_all_gpus(vectors, co=options))
    except RuntimeError:
        return None
