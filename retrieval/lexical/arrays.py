"""The arrays an inverted index is made of, and reading them from disk without taking them into memory."""

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

Bytes = npt.NDArray[np.uint8]
Docs = npt.NDArray[np.int32]
Offsets = npt.NDArray[np.int64]
Values = npt.NDArray[Any]
"""Term frequencies, uint16, or learned weights, float32."""
Classes = npt.NDArray[np.uint8]
"""The class of the length of a document, from 0."""
Limits = npt.NDArray[np.uint16]

PIECE_BITS = 12
PIECE = 1 << PIECE_BITS
"""Document numbers in a piece of the postings."""
CLASSES = 255
"""The most classes of lengths; this number itself says that a piece has no posting of a kind."""
KINDS = 4
"""Postings are of a kind by their frequency: 1, 2, 3, or 4 and more."""


def mapped(path: Path, dtype: npt.DTypeLike) -> Any:
    """The array in a file, memory-mapped; an empty file, which cannot be mapped, gives an empty array."""
    if not path.stat().st_size:
        return np.empty(0, dtype=dtype)
    return np.asarray(np.memmap(path, dtype=dtype, mode="r"))
