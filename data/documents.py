"""Reading documents out of the files people have: JSONL, JSON, CSV, TSV, Parquet, HTML, text, or a folder of these.

A row that cannot be used becomes a `BadRow` with its file and line, and the reading goes on, so that one pass tells
everything that is wrong with a file.
"""

import csv
import json
from collections.abc import Callable, Iterator, Mapping
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow.parquet as pq

from data.debates import debate_documents
from data.errors import BadInputError
from data.web_page import read_page

LONGEST_LINE = 10_000_000
_ID = ("id", "_id", "docid", "source_id", "pid")
_TEXT = ("text", "contents", "passage", "document", "body")
_TITLE = ("title", "headline")
_URL = ("url", "link", "source")


class Document(NamedTuple):
    """A text to be cut into passages; `line` is where it stands in its file (1 for files that are one document)."""

    source_id: str
    title: str
    text: str
    url: str
    line: int


class BadRow(NamedTuple):
    """A row that was left out, and why."""

    where: str
    line: int
    reason: str

    def __str__(self) -> str:
        return f"{self.where} line {self.line}: {self.reason}"


Row = Document | BadRow


def read_documents(path: Path) -> Iterator[Row]:
    """Documents of a file or of all readable files below a folder; raises `BadInputError` for what cannot be read."""
    if path.is_dir():
        files = sorted(f for f in path.rglob("*") if f.is_file() and f.suffix.lower() in READERS)
        if not files:
            raise BadInputError("The folder holds no file that can be read.", where=path, hint=_KNOWN)
        return chain.from_iterable(_read_below(path, f) for f in files)
    if not path.exists():
        raise BadInputError("There is no such file.", where=path, hint="Check the path.")
    return _read_file(path)


def _read_file(path: Path) -> Iterator[Row]:
    reader = READERS.get(path.suffix.lower())
    if reader is None:
        raise BadInputError(f"Files ending in '{path.suffix}' cannot be read.", where=path, hint=_KNOWN)
    return reader(path)


def _read_below(folder: Path, path: Path) -> Iterator[Row]:
    """Rows of a file in a folder; files of the same name in different folders are told apart."""
    name = path.relative_to(folder).as_posix()
    for row in _read_file(path):
        if isinstance(row, BadRow):
            yield row._replace(where=name)
        elif row.source_id.startswith(path.name):
            yield row._replace(source_id=name + row.source_id.removeprefix(path.name))
        else:
            yield row


def _jsonl(path: Path) -> Iterator[Row]:
    for number, line in _lines(path):
        if isinstance(line, BadRow):
            yield line
        elif line.strip():
            try:
                value = json.loads(line)
            except (json.JSONDecodeError, RecursionError) as error:
                yield BadRow(path.name, number, f"not valid JSON ({getattr(error, 'msg', 'nested too deeply')})")
                continue
            yield _document(path, number, value)


def _delimited(path: Path, delimiter: str) -> Iterator[Row]:
    bad: list[BadRow] = []
    number = 0

    def good_lines() -> Iterator[str]:
        nonlocal number
        for number, line in _lines(path):  # noqa: B007 (csv's own line_num leaves out the bad lines)
            if isinstance(line, BadRow):
                bad.append(line)
            else:
                yield line.replace("\0", " ")

    csv.field_size_limit(LONGEST_LINE)
    rows = csv.DictReader(good_lines(), delimiter=delimiter)
    try:
        for row in rows:
            yield from bad
            bad.clear()
            if None in row:
                yield BadRow(path.name, number, "more cells than there are columns")
            else:
                yield _document(path, number, row)
    except csv.Error as error:
        yield BadRow(path.name, number, f"not readable as a table ({error}); the rest of the file was not read")
    yield from bad


def _parquet(path: Path) -> Iterator[Row]:
    try:
        table = pq.ParquetFile(path)
    except (OSError, ValueError) as error:
        raise BadInputError(f"Not a readable Parquet file: {error}.", where=path, hint="Export it again.") from error
    number = 0
    for batch in table.iter_batches():
        for row in batch.to_pylist():
            number += 1
            yield _document(path, number, row)


def _json(path: Path) -> Iterator[Row]:
    """A list of documents or texts, a released PIR task (its `corpus`), or debates (claims with arguments)."""
    try:
        value = json.loads(path.read_bytes().decode("utf-8-sig"))
    except (json.JSONDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise BadInputError(f"Not a readable JSON file: {error}.", where=path, hint="Save it as UTF-8 JSON.") from error
    if isinstance(value, dict) and isinstance(value.get("corpus"), list):
        value = value["corpus"]
    if not isinstance(value, list):
        raise BadInputError("Expected a list of documents.", where=path, hint="See `berdseye corpus add --help`.")
    if value and isinstance(value[0], dict) and "claim_title" in value[0]:
        value = list(debate_documents(value, path.stem))
    for number, item in enumerate(value, start=1):
        yield _document(path, number, {"text": item} if isinstance(item, str) else item)


def _html(path: Path) -> Iterator[Row]:
    page = read_page(path.read_bytes())
    if not page.text:
        yield BadRow(path.name, 1, "no readable text in this page")
    else:
        yield Document(path.name, page.title or path.stem, page.text, page.url, 1)


def _text(path: Path) -> Iterator[Row]:
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        yield BadRow(path.name, 1, _encoding_reason(error))
        return
    yield _document(path, 1, {"id": path.name, "title": path.stem, "text": text})


READERS: Mapping[str, Callable[[Path], Iterator[Row]]] = {
    ".jsonl": _jsonl,
    ".ndjson": _jsonl,
    ".json": _json,
    ".csv": lambda path: _delimited(path, ","),
    ".tsv": lambda path: _delimited(path, "\t"),
    ".parquet": _parquet,
    ".html": _html,
    ".htm": _html,
    ".txt": _text,
    ".md": _text,
}
_KNOWN = f"Readable are {', '.join(READERS)}, and folders of these."


def _lines(path: Path) -> Iterator[tuple[int, str | BadRow]]:
    """Numbered lines as UTF-8; a line that is too long or wrongly encoded is told, and costs no memory."""
    with path.open("rb") as file:
        number = 0
        while raw := file.readline(LONGEST_LINE):
            number += 1
            if len(raw) == LONGEST_LINE and not raw.endswith(b"\n"):
                while (rest := file.readline(LONGEST_LINE)) and not rest.endswith(b"\n"):
                    pass
                yield number, BadRow(path.name, number, f"longer than {LONGEST_LINE // 1_000_000} MB")
                continue
            try:
                yield number, raw.decode("utf-8-sig" if number == 1 else "utf-8")
            except UnicodeDecodeError as error:
                yield number, BadRow(path.name, number, _encoding_reason(error))


def _encoding_reason(error: UnicodeDecodeError) -> str:
    return f"not UTF-8 (byte {error.start} of the line); convert the file, for example with iconv"


def _document(path: Path, number: int, row: Any) -> Row:
    if not isinstance(row, dict):
        return BadRow(path.name, number, f"expected an object, found {type(row).__name__}")
    found = {key: _first(row, names) for key, names in (("id", _ID), ("text", _TEXT), ("title", _TITLE), ("url", _URL))}
    if found["text"] is None:
        held = ", ".join(map(str, list(row)[:8])) or "nothing"
        return BadRow(path.name, number, f"no text (a column named {' or '.join(_TEXT)}); it has {held}")
    if not found["text"].strip():
        return BadRow(path.name, number, "the text is empty")
    source_id = found["id"] if found["id"] is not None else f"{path.name}:{number}"
    return Document(source_id, found["title"] or "", found["text"], found["url"] or "", number)


def _first(row: Mapping[Any, Any], names: tuple[str, ...]) -> str | None:
    for name in names:
        value = row.get(name)
        if isinstance(value, str | int | float):
            return str(value)
    return None
