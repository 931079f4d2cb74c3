"""Vectors in any number, of passages put together from real sentences: for measuring indexes where no large corpus is at hand.

Made-up passages have no meaning, so that their vectors hardly form clusters and the best hundred of a million lie close
together. Here each vector is a weighted sum of the static vectors of four sentences: three of one topic (an argument's,
an article's or a claim's), one of any, as a passage stays with its topic but for an aside. Weights are drawn from a Dirichlet
distribution (2, 1, 1, 0.5), so that no two vectors are the same. Topics are as uneven as in the data: a few have hundreds of
sentences, and those with one sentence alone gather around it.
"""

from collections.abc import Iterator
from pathlib import Path

import duckdb
import numpy as np
import numpy.typing as npt

from berdseye.data.models.static_embedding import static_embedding
from berdseye.retrieval.encoders.protocol import Vectors

_BLOCK = 100_000
_WEIGHTS = (2.0, 1.0, 1.0, 0.5)


class Sentences:
    """The sentences of a Parquet file with columns `group` and `passage`, by group, as sums of their token vectors."""

    def __init__(self, path: Path) -> None:
        rows = duckdb.sql(
            f"""SELECT "group", passage FROM '{path}' GROUP BY "group", passage ORDER BY "group", hash(passage)"""
        ).fetchall()
        groups = np.unique([group for group, _ in rows], return_inverse=True)[1]
        starts = np.searchsorted(groups, np.arange(groups.max() + 2))
        self.first, self.size = starts[groups], np.diff(starts)[groups]
        self.sums = static_embedding().sums([text for _, text in rows])

    def mixed(self, count: int, seed: int = 0) -> Iterator[Vectors]:
        """Yield unit vectors float32[n, 256], `count` in all; the same `seed` gives the same vectors."""
        rng = np.random.default_rng(seed)
        for start in range(0, count, _BLOCK):
            n = min(_BLOCK, count - start)
            weights = rng.dirichlet(_WEIGHTS, n).astype(np.float32)
            own = rng.integers(0, len(self.sums), n)
            chosen = [own, self._beside(own, rng), self._beside(own, rng), rng.integers(0, len(self.sums), n)]
            total = np.zeros((n, self.sums.shape[1]), np.float32)
            for place, sentences in enumerate(chosen):
                total += weights[:, place : place + 1] * self.sums[sentences]
            yield total / np.maximum(np.linalg.norm(total, axis=1, keepdims=True), 1e-12)

    def _beside(self, sentences: npt.NDArray[np.int64], rng: np.random.Generator) -> npt.NDArray[np.int64]:
        """A sentence of the same topic for each."""
        chosen: npt.NDArray[np.int64] = self.first[sentences] + rng.integers(0, self.size[sentences])
        return chosen
