"""Exact cosines of all pairs of texts in bounded memory, whatever the order of the texts and the number of threads.

Sums of floating-point numbers depend on their order, and so on the place of a text in a matrix: a pair just at a threshold
would be a duplicate in one order of the questions and none in another. Here, the coordinates of unit vectors are rounded to
multiples of 2^-24, the precision of float32 near 1. All products are then multiples of 2^-48, and all partial sums are at most
1, so every sum in float64 is exact. The rounding changes a cosine by less than 1e-6 at 256 dimensions.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from berdseye.data.records import Passage

Doubles = npt.NDArray[np.float64]
_STEP = 2.0**24
_CELLS = 1 << 22
_LONGEST_BLOCK = 1024


class Block(NamedTuple):
    """The cosines of the rows from `row` on with the columns from `column` on: float64[n_rows, n_columns]."""

    row: int
    column: int
    cosines: Doubles


def unit_vectors(texts: Sequence[str], encoder: str) -> Doubles:
    """Encode texts as passages: unit vectors float64[n_texts, dimension] whose inner products are exact cosines.

    A text without tokens gets the zero vector, whose cosine with every text is 0. Raises what `open_encoder` raises.
    """
    from berdseye.retrieval.encoders.encoder_registry import (
        open_encoder,
    )  # kinds of constructions are read by every command

    if not texts:
        return np.zeros((0, 1))
    return rounded(
        open_encoder(encoder).encode_passages([Passage(n, str(n), "", text) for n, text in enumerate(texts)])
    )


def rounded(vectors: npt.NDArray[np.floating]) -> Doubles:
    """Scale vectors float[n, dimension] to length 1 and round their coordinates, so that inner products are exact."""
    exact = vectors.astype(np.float64)
    lengths = np.linalg.norm(exact, axis=1, keepdims=True)
    exact /= np.where(lengths > 0, lengths, 1.0)
    return np.round(exact * _STEP) / _STEP


def blocks(vectors: Doubles) -> Iterator[Block]:
    """Yield the cosines of all pairs of unit vectors, each pair of different rows once and above the diagonal.

    A block has at most about 4 million cosines (32 MB). In blocks on the diagonal, the diagonal and what is below it is -inf.
    """
    side = min(_LONGEST_BLOCK, max(1, len(vectors)))
    width = max(side, _CELLS // side)
    for row in range(0, len(vectors), side):
        rows = vectors[row : row + side]
        for column in range(row, len(vectors), width):
            cosines = rows @ vectors[column : column + width].T
            if column == row:
                low = np.tril_indices(len(rows), m=cosines.shape[1])
                cosines[low] = -np.inf
            yield Block(row, column, cosines)
