"""An inverted index on disk, which opens in milliseconds whatever its size, since data is read only on demand.

Its files are `terms.bytes` and `terms.ends` (the sorted vocabulary in UTF-8, and the end of each term), `postings.ends` (the
end of each term's postings), `postings.docs` (int32, ascending for each term), `postings.values` (term frequencies, uint16, or
learned weights, float32), `documents.lengths` (int32, in tokens) and `totals.json`.

Every offset read from these files is checked before use: a file that is damaged while it is open raises an error, and never
causes a read out of bounds.
"""

import json
from bisect import bisect_left
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from berdseye.data.errors import DamagedError
from berdseye.retrieval.indexes import index_files
from berdseye.retrieval.lexical.arrays import Docs, Offsets, Values, mapped
from berdseye.retrieval.lexical.kernels import find, within

_VALUES = ("uint16", "float32")
FORMAT = 1  # version of the file format; increased whenever older indexes cannot be read any more


class Postings:
    """The inverted index in a folder; raises `DamagedError` if its files do not match."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        totals = self._read_totals(folder / "totals.json")
        self.documents: int = totals["documents"]
        self.tokens: int = totals["tokens"]
        self.mean_idf: float = totals["mean_idf"]
        self.ends: Offsets = self._mapped("postings.ends", np.int64)
        self.docs: Docs = self._mapped("postings.docs", np.int32)
        self.values: Values = self._mapped("postings.values", np.dtype(totals["values"]))
        self.lengths: Docs = self._mapped("documents.lengths", np.int32)
        self._terms = self._mapped("terms.bytes", np.uint8)
        self._term_ends: Offsets = self._mapped("terms.ends", np.int64)
        postings, terms = _last(self.ends), _last(self._term_ends)
        for name, present, expected in (
            ("documents.lengths", len(self.lengths), self.documents),
            ("postings.ends", len(self.ends), len(self._term_ends)),
            ("postings.docs", len(self.docs), postings),
            ("postings.values", len(self.values), postings),
            ("terms.bytes", len(self._terms), terms),
        ):
            if present != expected:
                raise self.damaged(name, f"it has {present:,} entries, but the index {expected:,}")

    def find(self, term: str) -> int | None:
        """The number of a term; None if the collection does not contain it."""
        wanted = np.frombuffer(term.encode("utf-8", "surrogatepass"), np.uint8)
        at = int(find(self._terms, self._term_ends, wanted))
        if at < -1:
            raise self._out_of_bounds(-2 - at)
        return at if at >= 0 else None

    def start(self, term: int) -> int:
        """The place in `docs` and `values` where the postings of a term begin."""
        return int(self.ends[term - 1]) if term else 0

    def of(self, term: int) -> tuple[Docs, Values]:
        """The documents of a term, int32[n] ascending, and its values in them."""
        begin, end = self.start(term), int(self.ends[term])
        if not 0 <= begin <= end <= len(self.docs):
            raise self.damaged("postings.ends", f"the postings of term {term:,} are out of bounds")
        return self.docs[begin:end], self.values[begin:end]

    def make_sure(self, docs: Docs) -> None:
        """Raise `DamagedError` unless `docs`, a range of a term's documents, are valid document numbers."""
        if not within(docs, self.documents):
            raise self.out_of_order()

    def out_of_order(self) -> DamagedError:
        """The error for documents of a term that do not ascend within the collection."""
        return self.damaged("postings.docs", "its documents are out of order or out of bounds")

    def damaged(self, name: str, how: str) -> DamagedError:
        """The error for invalid content of a file, with its path and the command that rebuilds the index."""
        return index_files(self.folder).unreadable(self.folder / name, how)

    def starting_with(self, beginning: str) -> range:
        """The numbers of the terms that start with `beginning`."""
        begin = beginning.encode("utf-8", "surrogatepass")
        every = range(len(self._term_ends))
        # 255 is greater than every byte of UTF-8.
        return range(bisect_left(every, begin, key=self._term), bisect_left(every, begin + b"\xff", key=self._term))

    def term(self, number: int) -> str:
        """The term with this number."""
        return self._term(number).decode("utf-8", "surrogatepass")

    def _term(self, number: int) -> bytes:
        begin, end = int(self._term_ends[number - 1]) if number else 0, int(self._term_ends[number])
        if not 0 <= begin <= end <= len(self._terms):
            raise self._out_of_bounds(number)
        return bytes(self._terms[begin:end])

    def _out_of_bounds(self, number: int) -> DamagedError:
        return self.damaged("terms.ends", f"term {number:,} is out of bounds")

    def _mapped(self, name: str, dtype: npt.DTypeLike) -> Any:
        try:
            return mapped(self.folder / name, dtype)
        except (OSError, ValueError) as error:  # missing, or its size is not a multiple of the entry size
            raise self.damaged(name, str(error)) from error

    def _read_totals(self, path: Path) -> dict[str, Any]:
        try:
            read = json.loads(path.read_text(encoding="utf-8"))
            kinds = {"documents": int, "tokens": int, "mean_idf": float, "values": str}
            totals = {name: kind(read[name]) for name, kind in kinds.items()}
            if totals["values"] not in _VALUES or not 0 <= totals["documents"] < 1 << 31:
                raise ValueError("it does not contain the totals of an index")
        except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
            raise self.damaged(path.name, str(error)) from error
        return totals


def _last(ends: Offsets) -> int:
    return int(ends[-1]) if len(ends) else 0
