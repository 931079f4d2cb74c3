"""Rows of delimited text (CSV, TSV), with the faults that would swallow the rows after them.

If a quotation mark opens a cell and is not closed, `csv` returns everything up to the next one, or up to the end of the file, as
one cell. Here such a row has a fault.
"""

import csv
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

LONGEST_CELL = 10_000_000
"""The limit of characters in a cell for readers that hold a whole file in memory (`csv.field_size_limit`)."""
_HINT = "Close it; a text with quotation marks of its own needs each of them twice, and one more at both ends."
_NEVER = "a quotation mark opens a cell in this row and is never closed"
_LATE = "a quotation mark opens a cell in this row, and what closes it, on a later line, is followed by more text"


class DelimitedRow(NamedTuple):
    """The cells of a row, and the numbers of its first and last line, from 1.

    If there is a `fault`, the cells cannot be trusted, and `hint` says what to do, if that is known.
    """

    first: int
    last: int
    cells: Sequence[str]
    fault: str = ""
    hint: str = ""


def delimited_rows(lines: Iterable[str], delimiter: str) -> Iterator[DelimitedRow]:
    """Yield the rows of a text, whose lines keep their ends; an empty line is a row without cells.

    Lines are read one by one, as the rows are taken. A row of several lines has a fault if text follows the quotation mark that
    closes one of its cells; within one line, this is read as `csv` reads it. The last row has one if it does not end, or if a
    cell is larger than `csv.field_size_limit`; what follows that is not read.
    """
    read: list[str] = []
    ended = False

    def given() -> Iterator[str]:
        nonlocal ended
        for line in lines:
            read.append(line)
            yield line
        ended = True

    reader, last = csv.reader(given(), delimiter=delimiter), 0
    while True:
        read.clear()
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            several = len(read) > 1
            guess = "; perhaps a quotation mark is not closed" if several else ""
            fault = f"{error}{guess}; the rows after it cannot be read"
            yield DelimitedRow(last + 1, last + len(read), (), fault, _HINT if several else "")
            return
        first, last = last + 1, last + len(read)
        fault = _fault(read, delimiter, ended) if len(read) > 1 or ended else ""
        yield DelimitedRow(first, last, cells, fault, _HINT if fault else "")


def _fault(lines: Sequence[str], delimiter: str, ended: bool) -> str:
    """Return what is wrong with a row of several lines, or with one after which the text ended."""
    try:
        list(csv.reader(lines, delimiter=delimiter, strict=True))
    except csv.Error:
        return _NEVER if ended else _LATE
    return ""
