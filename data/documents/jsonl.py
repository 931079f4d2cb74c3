"""JSON Lines: one document per line, including BEIR corpora and Sphere shards; and numbered lines of any text stream."""

from collections.abc import Iterator
from typing import IO

from berdseye.data.documents.records import (
    BLOCK_BYTES,
    BLOCK_ROWS,
    BadRow,
    Block,
    Position,
    Row,
    is_sphere,
    to_document,
)
from berdseye.data.files.json_files import json_fault, parse_json

LONGEST_LINE = 10_000_000
_STEP = 1 << 20


class Lines:
    """Iterate over the numbered UTF-8 lines of a stream; a line that is too long or not UTF-8 is yielded as a `BadRow`.

    A line over `LONGEST_LINE` bytes is not kept in memory. `number` is the number of the last line, `offset` the byte at
    which it ends.
    """

    def __init__(self, stream: IO[bytes], name: str) -> None:
        self.stream, self.name = stream, name
        self.number = self.offset = 0

    def skip_to(self, position: Position) -> None:
        """Skip forward to a later line end."""
        left = position.offset - self.offset
        while left > 0 and (got := len(self.stream.read(min(left, _STEP)))):
            left -= got
        self.number, self.offset = max(self.number, position.line), max(self.offset, position.offset)

    def __iter__(self) -> Iterator[str | BadRow]:
        readline = self.stream.readline
        while raw := self._count(readline(LONGEST_LINE)):
            if len(raw) == LONGEST_LINE and not raw.endswith(b"\n"):
                while (rest := readline(LONGEST_LINE)) and not rest.endswith(b"\n"):
                    self.offset += len(rest)
                self.offset += len(rest)
                yield BadRow(self.name, self.number, f"longer than {LONGEST_LINE // 1_000_000} MB")
                continue
            try:
                yield raw.decode("utf-8-sig" if self.number == 1 else "utf-8")
            except UnicodeDecodeError as error:
                yield BadRow(self.name, self.number, encoding_reason(error))

    def _count(self, raw: bytes) -> bytes:
        self.number += bool(raw)
        self.offset += len(raw)
        return raw

    def position(self, start: Position) -> Position:
        """The current position in the archive member that `start` names."""
        return Position(start.member, self.offset, self.number)


def encoding_reason(error: UnicodeDecodeError) -> str:
    """The reason to report for bytes that are not UTF-8."""
    return f"not UTF-8 (byte {error.start} of the line); convert the file, for example with iconv"


def read_jsonl(stream: IO[bytes], name: str, start: Position) -> Iterator[Block]:
    """Yield blocks of documents of a JSON Lines stream from `start` on."""
    lines = Lines(stream, name)
    lines.skip_to(start)
    rows: list[Row] = []
    block_start, format_ = lines.offset, ""
    for line in lines:
        if isinstance(line, BadRow):
            rows.append(line)
        elif not line.isspace():
            try:
                value = parse_json(line)
            except (ValueError, RecursionError) as error:  # ValueError covers numbers with thousands of digits too
                rows.append(BadRow(name, lines.number, f"not valid JSON ({json_fault(error)})"))
            else:
                format_ = format_ or _format(value)
                rows.append(to_document(name, lines.number, value))
        if len(rows) >= BLOCK_ROWS or lines.offset - block_start >= BLOCK_BYTES:
            yield Block(rows, lines.position(start), format_ or "JSONL")
            rows, block_start = [], lines.offset
    yield Block(rows, lines.position(start), format_ or "JSONL")


def _format(value: object) -> str:
    if not isinstance(value, dict):
        return "JSONL"
    if is_sphere(value):
        return "Sphere JSONL"
    return "BEIR JSONL" if "_id" in value and "text" in value else "JSONL"
