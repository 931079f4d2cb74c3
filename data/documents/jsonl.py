"""JSON Lines: one document a line, among them BEIR's corpora and Sphere's shards."""

from collections.abc import Iterator
from typing import IO

from berdseye.data.documents.lines import Lines
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
from berdseye.data.json_files import json_fault, parse_json


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
