"""JSON Lines: one document a line, among them BEIR's corpora and Sphere's shards.

Lines of a stream, with their numbers and where they end.
"""

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
    """Numbered lines as UTF-8; a line that is too long or wrongly encoded is told, and costs no memory.

    `number` and `offset` are the last line's number and end.
    """

    def __init__(self, stream: IO[bytes], name: str) -> None:
        self.stream, self.name = stream, name
        self.number = self.offset = 0

    def skip_to(self, position: Position) -> None:
        """Go on from a line end further down."""
        left = position.offset - self.offset
        while left > 0 and (got := len(self.stream.read(min(left, _STEP)))):
            left -= got
        self.number, self.offset = max(self.number, position.line), max(self.offset, position.offset)

    def __iter__(self) -> Iterator[str | BadRow]:
        readline = self.stream.readline
        while raw := self._next(readline(LONGEST_LINE)):
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

    def _next(self, raw: bytes) -> bytes:
        self.number += bool(raw)
        self.offset += len(raw)
        return raw

    def position(self, start: Position) -> Position:
        """Where the reading of the member that `start` names stands."""
        return Position(start.member, self.offset, self.number)


def encoding_reason(error: UnicodeDecodeError) -> str:
    """Why a text is none."""
    return f"not UTF-8 (byte {error.start} of the line); convert the file, for example with iconv"


def read_jsonl(stream: IO[bytes], name: str, start: Position) -> Iterator[Block]:
    """Blocks of documents from `start` on."""
    lines = Lines(stream, name)
    lines.skip_to(start)
    rows: list[Row] = []
    begun, format_ = lines.offset, ""
    for line in lines:
        if isinstance(line, BadRow):
            rows.append(line)
        elif not line.isspace():
            try:
                value = parse_json(line)
            except (ValueError, RecursionError) as error:  # ValueError: also of a number of thousands of digits
                rows.append(BadRow(name, lines.number, f"not valid JSON ({json_fault(error)})"))
            else:
                format_ = format_ or _format(value)
                rows.append(to_document(name, lines.number, value))
        if len(rows) >= BLOCK_ROWS or lines.offset - begun >= BLOCK_BYTES:
            yield Block(rows, lines.position(start), format_ or "JSONL")
            rows, begun = [], lines.offset
    yield Block(rows, lines.position(start), format_ or "JSONL")


def _format(value: object) -> str:
    if not isinstance(value, dict):
        return "JSONL"
    if is_sphere(value):
        return "Sphere JSONL"
    return "BEIR JSONL" if "_id" in value and "text" in value else "JSONL"
