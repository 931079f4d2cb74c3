"""Rows of delimited text (CSV, TSV), of which none is lost in silence.

A quotation mark that opens a cell and is never closed makes the rest of a file one cell. `csv` returns this cell as if it were
meant; here it is an error.
"""

import csv
from collections.abc import Iterable, Iterator
from itertools import chain

_END = "\ue000end of the table\ue000"
_OPEN = "a quotation mark opens a cell in this row and is never closed"
_CLOSE = "Close it; a text with quotation marks of its own needs each of them twice, and one more at both ends."


class UnreadableRowError(Exception):
    """A row that cannot be read: it begins on line `first`, and `lines` lines were read of it; `hint` says what to do, if that is
    known."""

    def __init__(self, reason: str, first: int, lines: int, hint: str = "") -> None:
        super().__init__(reason)
        self.first, self.lines, self.hint = first, lines, hint


def delimited_rows(lines: Iterable[str], delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the rows of a text, each with the number of the line on which it begins, from 1; an empty line is an empty row.

    The lines keep their ends, and are read one by one, as the rows are taken. Raises `UnreadableRowError` for a row that cannot
    be read or does not end, after the rows before it.
    """
    reader = csv.reader(chain(lines, [_END]), delimiter=delimiter)
    read = 0
    while True:
        try:
            cells = next(reader)
        except csv.Error as error:
            raise UnreadableRowError(str(error), read + 1, reader.line_num - read) from error
        if cells == [_END] and reader.line_num == read + 1:
            return
        if cells and cells[-1].endswith(_END):
            raise UnreadableRowError(_OPEN, read + 1, reader.line_num - 1 - read, _CLOSE)
        yield read + 1, cells
        read = reader.line_num
