"""Vectors that have been encoded and wait for their index: files named by the ids they hold, each written at once.

What is there need not be encoded again after an interruption.
"""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import numpy.typing as npt

from berdseye.data.atomic import write_with
from berdseye.data.records import Ids
from berdseye.retrieval.encoders.protocol import Vectors


class VectorFiles:
    """The vectors of a corpus, or of what has been encoded of it.

    With `half` they are kept in half precision, as those that a layout is trained on are in an index of one piece.
    """

    def __init__(self, folder: Path, dimension: int, *, half: bool) -> None:
        self.folder, self.dimension = folder, dimension
        self.dtype: npt.DTypeLike = np.float16 if half else np.float32

    def write(self, start: int, vectors: Vectors) -> None:
        """Keep the vectors float32[n, dimension] of the passages from id `start` on."""
        path = self.folder / f"{start:012d}-{start + len(vectors):012d}"
        write_with(path, lambda temporary: vectors.astype(self.dtype).tofile(temporary))

    def missing(self, start: int, end: int) -> Iterator[tuple[int, int]]:
        """Ranges within [start, end) that have not been encoded."""
        for begin, stop, _ in self._within(start, end):
            if begin > start:
                yield start, begin
            start = stop
        if start < end:
            yield start, end

    def read(self, start: int, end: int) -> Iterator[Vectors]:
        """Those of the passages in [start, end), float32[n, dimension] a file at a time, in order."""
        for begin, stop, path in self._within(start, end):
            held = np.fromfile(path, dtype=self.dtype).reshape(-1, self.dimension)
            first = begin - _range(path)[0]
            yield held[first : first + stop - begin].astype(np.float32)

    def rows(self, ids: Ids) -> Iterator[Vectors]:
        """Those of some passages, `ids` ascending, float32[n, dimension] a file at a time, in order."""
        for path in self._files():
            begin, stop = _range(path)
            low, high = np.searchsorted(ids, [begin, stop])
            if high > low:
                held = np.memmap(path, dtype=self.dtype, mode="r", shape=(stop - begin, self.dimension))
                yield held[ids[low:high] - begin].astype(np.float32)

    def remove(self, start: int, end: int) -> None:
        """Delete the files that lie within [start, end)."""
        for path in self._files():
            begin, stop = _range(path)
            if start <= begin and stop <= end:
                path.unlink(missing_ok=True)

    def _files(self) -> list[Path]:
        return sorted(path for path in self.folder.glob("[0-9]*-[0-9]*"))

    def _within(self, start: int, end: int) -> Iterator[tuple[int, int, Path]]:
        """Of each file the part in [start, end) that no earlier file holds."""
        for path in self._files():
            begin, stop = _range(path)
            begin, stop = max(begin, start), min(stop, end)
            if begin < stop:
                yield begin, stop, path
                start = stop


def _range(path: Path) -> tuple[int, int]:
    begin, _, stop = path.name.partition("-")
    return int(begin), int(stop)
