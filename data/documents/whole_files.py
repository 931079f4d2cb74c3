"""Files that are read into memory at once: JSON lists, web pages and plain texts."""

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
"""Largest size of a file that is read at once, in bytes after decompression."""


def read_json(stream: IO[bytes], name: str, start: Position) -> Iterator[Block]:
    """Yield blocks of a list of documents or texts, of a released PIR task (its `corpus`), or of debates.

    Debates are claims with arguments. Raises `BadInputError` for any other JSON.
    """
    try:
        value = parse_json(_read_at_once(stream, name).decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        reason = error if isinstance(error, json.JSONDecodeError) else json_fault(error)
        raise BadInputError(f"Not a valid JSON file: {reason}.", where=name, hint="Save it as UTF-8 JSON.") from error
    if isinstance(value, dict) and isinstance(value.get("corpus"), list):
        value = value["corpus"]
    if not isinstance(value, list):
        raise BadInputError(
            f"Expected a list of documents, got {type(value).__name__}.",
            where=name,
            hint="See `berdseye corpus add --help`.",
        )
    format_ = "JSON"
    if value and isinstance(value[0], dict) and "claim_title" in value[0]:
        value, format_ = list(debate_documents(value, PurePosixPath(name).stem)), "debates"
    for first in range(start.line, len(value), BLOCK_ROWS):
        part = value[first : first + BLOCK_ROWS]
        rows = [to_document(name, n, _as_object(item)) for n, item in enumerate(part, start=first + 1)]
        yield Block(rows, Position(start.member, 0, first + len(part)), format_)


def read_html(stream: IO[bytes], name: str, start: Position) -> Iterator[Block]:
    """Yield one document: the readable part of the web page."""
    if start.line:
        return
    try:
        page = read_page(_read_at_once(stream, name))
    except BadInputError as error:
        yield Block([BadRow(name, 1, error.what.rstrip("."))], Position(start.member, 0, 1), "HTML")
        return
    title = page.title or PurePosixPath(name).stem
    row = (
        Document(name, title, page.text, page.url, 1) if page.text else BadRow(name, 1, "no readable text in this page")
    )
    yield Block([row], Position(start.member, 0, 1), "HTML")


def read_text(stream: IO[bytes], name: str, start: Position) -> Iterator[Block]:
    """Yield one document, titled with the name of the file."""
    if start.line:
        return
    try:
        text = _read_at_once(stream, name).decode("utf-8-sig")
        row = to_document(name, 1, {"id": name, "title": PurePosixPath(name).stem, "text": text})
    except BadInputError as error:
        row = BadRow(name, 1, error.what.rstrip("."))
    except UnicodeDecodeError as error:
        row = BadRow(name, 1, encoding_reason(error))
    yield Block([row], Position(start.member, 0, 1), "text")


def _read_at_once(stream: IO[bytes], name: str) -> bytes:
    """All bytes of a stream; raises `BadInputError` above `LONGEST_FILE`, which a small compressed file may exceed."""
    content = stream.read(LONGEST_FILE + 1)
    if len(content) > LONGEST_FILE:
        raise BadInputError(
            f"The decompressed file is larger than {LONGEST_FILE >> 20} MiB.",
            where=name,
            hint="Split it, or store its documents as JSON Lines, which Berdseye reads line by line.",
        )
    return content


def _as_object(item: Any) -> Any:
    return {"text": item} if isinstance(item, str) else item
