"""An inverted index on disk, opened in milliseconds whatever its size: nothing is read before it is asked for.

Its files: `terms.bytes` and `terms.ends` (the sorted vocabulary, in UTF-8, and where each term ends), `postings.ends`
(where each term's postings end), `postings.docs` (int32, ascending for each term), `postings.values` (term frequencies,
uint16, or learned weights, float32), `documents.lengths` (int32, in tokens) and `totals.json`.
"""

import json
from bisect import bisect_left
from pathlib import Path

import numpy as np

from retrieval.lexical.arrays import Docs, Offsets, Values, mapped

FORMAT = 1  # of the files; raised whenever older indexes cannot be read any more


class Postings:
    """The postings of a folder."""

    def __init__(self, folder: Path) -> None:
        totals = json.loads((folder / "totals.json").read_text(encoding="utf-8"))
        self.documents: int = totals["documents"]
        self.tokens: int = totals["tokens"]
        self.mean_idf: float = totals["mean_idf"]
        self.ends: Offsets = mapped(folder / "postings.ends", np.int64)
        self.docs: Docs = mapped(folder / "postings.docs", np.int32)
        self.values: Values = mapped(folder / "postings.values", np.dtype(totals["values"]))
        self.lengths: Docs = mapped(folder / "documents.lengths", np.int32)
        self._terms = mapped(folder / "terms.bytes", np.uint8)
        self._term_ends: Offsets = mapped(folder / "terms.ends", np.int64)

    def find(self, term: str) -> int | None:
        """The number of a term; nothing where the collection does not hold it."""
        wanted = term.encode("utf-8", "surrogatepass")
        at = bisect_left(range(len(self._term_ends)), wanted, key=self._term)
        return at if at < len(self._term_ends) and self._term(at) == wanted else None

    def of(self, term: int) -> tuple[Docs, Values]:
        """The documents of a term, int32[n] ascending, and its values in them."""
        begin = int(self.ends[term - 1]) if term else 0
        return self.docs[begin : self.ends[term]], self.values[begin : self.ends[term]]

    def starting_with(self, beginning: str) -> range:
        """The numbers of the terms that start so."""
        begin = beginning.encode("utf-8", "surrogatepass")
        every = range(len(self._term_ends))
        # No byte of UTF-8 is as high as 255.
        return range(bisect_left(every, begin, key=self._term), bisect_left(every, begin + b"\xff", key=self._term))

    def term(self, number: int) -> str:
        """A term by its number."""
        return self._term(number).decode("utf-8", "surrogatepass")

    def _term(self, number: int) -> bytes:
        begin = int(self._term_ends[number - 1]) if number else 0
        return bytes(self._terms[begin : self._term_ends[number]])
