"""Encoders whose vectors a test chooses."""

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt
import pytest
from scipy.sparse import csr_array

from berdseye.data.records import Passage, Scores
from berdseye.retrieval.encoders.protocol import Similarity, Vectors

Rows = npt.ArrayLike


class TableEncoder:
    """Gives each text its row of a table; a passage has the row of its text, whatever its title."""

    name = "table"

    def __init__(
        self, table: Mapping[str, Sequence[float]], similarity: Similarity = "cosine", version: str = "1"
    ) -> None:
        self.table = {text: np.array(row, dtype=np.float32) for text, row in table.items()}
        self.similarity: Similarity = similarity
        self.version = version
        self.dimension = len(next(iter(self.table.values())))

    def encode_queries(self, texts: Sequence[str]) -> Vectors:
        return np.array([self.table[t] for t in texts], dtype=np.float32).reshape(len(texts), self.dimension)

    def encode_passages(self, passages: Sequence[Passage]) -> Vectors:
        return self.encode_queries([p.text for p in passages])


class TableSparseEncoder:
    """The same for weights of terms."""

    name = "table"

    def __init__(self, table: Mapping[str, Sequence[float]], version: str = "1") -> None:
        self.table, self.version = dict(table), version
        self.terms = len(next(iter(self.table.values())))

    def encode_queries(self, texts: Sequence[str]) -> "csr_array[np.float32]":
        return csr_array(np.array([self.table[t] for t in texts], dtype=np.float32).reshape(len(texts), self.terms))

    def encode_passages(self, passages: Sequence[Passage]) -> "csr_array[np.float32]":
        return self.encode_queries([p.text for p in passages])


class TableTokenEncoder:
    """The same for the vectors of tokens."""

    name = "table"

    def __init__(self, table: Mapping[str, Rows], dimension: int, version: str = "1") -> None:
        self.table = {t: np.array(rows, np.float32).reshape(-1, dimension) for t, rows in table.items()}
        self.dimension, self.version = dimension, version

    def encode_queries(self, texts: Sequence[str]) -> list[Vectors]:
        return [self.table[t] for t in texts]

    def encode_passages(self, passages: Sequence[Passage]) -> list[Vectors]:
        return self.encode_queries([p.text for p in passages])


class TableCrossEncoder:
    """Gives a query and a passage the score that the passage's text says."""

    name, version = "table", "1"

    def score(self, query: str, passages: Sequence[Passage]) -> Scores:
        del query
        return np.array([float(p.text) for p in passages], dtype=np.float32)

    def cut(self, query: str, passages: Sequence[Passage]) -> npt.NDArray[np.bool_]:
        """A text of more than two characters is too long."""
        del query
        return np.array([len(p.text) > 2 for p in passages], dtype=np.bool_)


def rows(prefix: str, vectors: Rows) -> dict[str, Sequence[float]]:
    """A table of the vectors under the texts `prefix0`, `prefix1`, …"""
    return {f"{prefix}{n}": row for n, row in enumerate(np.asarray(vectors, dtype=np.float32).tolist())}


def passages_of(texts: Sequence[str]) -> list[Passage]:
    return [Passage(n, str(n), "", text) for n, text in enumerate(texts)]


def use_encoder(monkeypatch: pytest.MonkeyPatch, encoder: TableEncoder) -> None:
    """Every name of an encoder stands for this one."""
    for place in ("dense.ranker", "rerank.mmr"):
        monkeypatch.setattr(f"berdseye.retrieval.{place}.open_encoder", lambda _: encoder)
