"""Files that are read at once: JSON lists, web pages and plain texts."""

import json
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import IO, Any

from berdseye.data.datasets.debates import debate_documents
from berdseye.data.documents.jsonl import encoding_reason
from berdseye.data.documents.records import BLOCK_ROWS, BadRow, Block, Document, Position, to_document
from berdseye.data.errors import BadInputError
from berdseye.data.files.json_files import json_fault, parse_json
from berdseye.data.web.html import read_page

LONGEST_FILE = 1 << 30
"""Bytes of a file that is read whole, once it is unpacked."""


def read_json(stream: IO[bytes], name: str, start: Position) -> Iterator[Block]:
    """A list of documents or texts, a released PIR task (its `corpus`), or debates (claims with arguments)."""
    try:
        value = parse_json(_whole(stream, name).decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        said = error if isinstance(error, json.JSONDecodeError) else json_fault(error)
        raise BadInputError(f"Not a readable JSON file: {said}.", where=name, hint="Save it as UTF-8 JSON.") from error
    if isinstance(value, dict) and isinstance(value.get("corpus"), list):
        value = value["corpus"]
    if not isinstance(value, list):
        raise BadInputError("Expected a list of documents.", where=name, hint="See `berdseye corpus add --help`.")
    format_ = "JSON"
    if value and isinstance(value[0], dict) and "claim_title" in value[0]:
        value, format_ = list(debate_documents(value, PurePosixPath(name).stem)), "debates"
    for begun in range(start.line, len(value), BLOCK_ROWS):
        part = value[begun : begun + BLOCK_ROWS]
        rows = [to_document(name, n, _as_object(item)) for n, item in enumerate(part, start=begun + 1)]
        yield Block(rows, Position(start.member, 0, begun + len(part)), format_)


def read_html(stream: IO[bytes], name: str, start: Position) -> Iterator[Block]:
    """One document: the readable part of the page."""
    if start.line:
        return
    try:
        page = read_page(_whole(stream, name))
    except BadInputError as error:
        yield Block([BadRow(name, 1, error.what)], Position(start.member, 0, 1), "HTML")
        return
    title = page.title or PurePosixPath(name).stem
    row = (
        Document(name, title, page.text, page.url, 1) if page.text else BadRow(name, 1, "no readable text in this page")
    )
    yield Block([row], Position(start.member, 0, 1), "HTML")


def read_text(stream: IO[bytes], name: str, start: Position) -> Iterator[Block]:
    """One document, titled by the file's name."""
    if start.line:
        return
    try:
        text = _whole(stream, name).decode("utf-8-sig")
        row = to_document(name, 1, {"id": name, "title": PurePosixPath(name).stem, "text": text})
    except BadInputError as error:
        row = BadRow(name, 1, error.what)
    except UnicodeDecodeError as error:
        row = BadRow(name, 1, encoding_reason(error))
    yield Block([row], Position(start.member, 0, 1), "text")


def _whole(stream: IO[bytes], name: str) -> bytes:
    """All of a stream; raises `BadInputError` for one that is longer than can be held, as a small packed file may be."""
    content = stream.read(LONGEST_FILE + 1)
    if len(content) > LONGEST_FILE:
        raise BadInputError(
            f"Unpacked it is longer than {LONGEST_FILE >> 20} MB",
            where=name,
            hint="Split it, or give its documents as JSON Lines, which are read one by one.",
        )
    return content


def _as_object(item: Any) -> Any:
    return {"text": item} if isinstance(item, str) else item
