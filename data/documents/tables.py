"""Tables of documents: CSV, TSV (including DPR's Wikipedia) and Parquet."""

import csv
from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import IO, Any

import pyarrow as pa
import pyarrow.parquet as pq

from berdseye.data.documents.jsonl import LONGEST_LINE, Lines
from berdseye.data.documents.records import (
    BLOCK_BYTES,
    BLOCK_ROWS,
    ID,
    TEXT,
    TITLE,
    URL,
    BadRow,
    Block,
    Document,
    Position,
    Row,
    to_document,
)
from berdseye.data.errors import BadInputError
from berdseye.data.files.delimited import DelimitedRow, delimited_rows

_DPR = ["id", "text", "title"]


def read_csv(stream: IO[bytes], name: str, start: Position) -> Iterator[Block]:
    """Yield blocks of rows of a comma-separated table."""
    return _Delimited(stream, name, ",").blocks(start)


def read_tsv(stream: IO[bytes], name: str, start: Position) -> Iterator[Block]:
    """Yield blocks of rows of a tab-separated table; DPR's passages are recognised by their header."""
    return _Delimited(stream, name, "\t").blocks(start)


class _Delimited:
    """A delimited text table; a quoted cell may contain line breaks, so a row may span several lines."""

    def __init__(self, stream: IO[bytes], name: str, delimiter: str) -> None:
        csv.field_size_limit(LONGEST_LINE)
        self.lines, self.name, self.delimiter = Lines(stream, name), name, delimiter
        self.bad: list[BadRow] = []

    def blocks(self, start: Position) -> Iterator[Block]:
        numbered = delimited_rows(self._good_lines(), self.delimiter)
        first = next((row for row in numbered if row.cells or row.fault), DelimitedRow(0, 0, ()))
        header = list(first.cells)
        dpr = header == _DPR and self.delimiter == "\t"
        format_ = "DPR TSV" if dpr else "CSV" if self.delimiter == "," else "TSV"
        rows: list[Row] = []
        if first.fault:
            yield Block([self._faulty(first, 0), *self._take_bad()], self.lines.position(start), format_)
            return
        if start.offset:
            self._take_bad()  # reported when the file was read from its beginning
        self.lines.skip_to(start)
        skipped, block_start = self.lines.number - first.last, self.lines.offset
        for row in numbered:
            rows += self._take_bad()
            if row.fault:
                rows.append(self._faulty(row, skipped))
            elif row.cells:
                rows.append(self._passage(header, row.cells) if dpr else self._row(header, row.cells))
            if len(rows) >= BLOCK_ROWS or self.lines.offset - block_start >= BLOCK_BYTES:
                yield Block(rows, self.lines.position(start), format_)
                rows, block_start = [], self.lines.offset
        yield Block([*rows, *self._take_bad()], self.lines.position(start), format_)

    def _faulty(self, row: DelimitedRow, skipped: int) -> BadRow:
        return BadRow(self.name, row.first + skipped, " ".join(filter(None, (f"{row.fault}.", row.hint))))

    def _passage(self, header: Sequence[str], cells: Sequence[str]) -> Row:
        if len(cells) == len(_DPR) and cells[1] and not cells[1].isspace():
            return Document(cells[0], cells[2], cells[1], "", self.lines.number, True)
        return self._row(header, cells)

    def _row(self, header: Sequence[str], cells: Sequence[str]) -> Row:
        if len(cells) > len(header):
            return BadRow(self.name, self.lines.number, f"{len(cells)} cells, but the header has {len(header)} columns")
        return to_document(self.name, self.lines.number, dict(zip(header, cells, strict=False)))

    def _good_lines(self) -> Iterator[str]:
        for line in self.lines:
            if isinstance(line, BadRow):
                self.bad.append(line)
                yield "\n"  # lines keep their numbers
            else:
                yield line.replace("\0", " ")

    def _take_bad(self) -> list[BadRow]:
        bad, self.bad = self.bad, []
        return bad


def read_parquet(path: Path, name: str, start: Position) -> Iterator[Block]:
    """Yield blocks of rows of a Parquet file; only the columns that a document uses are read."""
    try:
        with pq.ParquetFile(path) as file:
            names = file.schema_arrow.names
            columns = [n for n in names if n in {*ID, *TEXT, *TITLE, *URL}]
            if not set(columns) & set(TEXT):
                columns = names
            number = start.line
            for batch in _batches_from(file, start.line, columns):
                rows = [to_document(name, number + n, row) for n, row in enumerate(batch.to_pylist(), start=1)]
                number += len(rows)
                yield Block(rows, Position(start.member, number, number), "Parquet")
    except (OSError, ValueError) as error:
        raise BadInputError(f"Not a valid Parquet file: {error}.", where=path, hint="Export it again.") from error


def _batches_from(file: pq.ParquetFile, row: int, columns: Sequence[Any]) -> Iterator[pa.RecordBatch]:
    groups = range(file.metadata.num_row_groups)
    ends = list(chain([0], (file.metadata.row_group(g).num_rows for g in groups)))
    first = 0
    while first < len(groups) and row >= ends[first + 1]:
        row -= ends[first + 1]
        first += 1
    for batch in file.iter_batches(BLOCK_ROWS, row_groups=list(groups[first:]), columns=columns):
        if row < batch.num_rows:
            yield batch.slice(row)
        row = max(0, row - batch.num_rows)
