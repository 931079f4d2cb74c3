"""The arrays an inverted index is made of, and reading them from disk without taking them into memory."""

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

Docs = npt.NDArray[np.int32]
Offsets = npt.NDArray[np.int64]
Values = npt.NDArray[Any]
"""Term frequencies, uint16, or learned weights, float32."""


def mapped(path: Path, dtype: npt.DTypeLike) -> Any:
    """The array in a file, memory-mapped; an empty file, which cannot be mapped, gives an empty array."""
    if not path.stat().st_size:
        return np.empty(0, dtype=dtype)
    return np.asarray(np.memmap(path, dtype=dtype, mode="r"))
