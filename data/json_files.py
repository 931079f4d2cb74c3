"""JSON, JSON Lines and Parquet files as values and rows, every fault told with its file and line."""

import json
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from berdseye.data.errors import BadInputError
from berdseye.data.text_lines import Line, read_lines

Row = dict[str, Any]
_UNREADABLE = (ValueError, RecursionError)


_HALF = re.compile(r"\\u[dD][89a-fA-F]")


def parse_json(text: str) -> Any:
    """The value of a JSON text. A surrogate without its partner, which no store or browser takes, becomes a question mark."""
    value = json.loads(text)
    if _HALF.search(text):
        value = json.loads(json.dumps(value, ensure_ascii=False).encode("utf-8", "replace"))
    return value


def json_fault(error: Exception) -> str:
    """What is wrong with a text that is not JSON, in a few words."""
    if isinstance(error, RecursionError):
        return "nested too deeply"
    if isinstance(error, json.JSONDecodeError):
        return error.msg
    if isinstance(error, OSError | UnicodeError):
        return str(error)
    return "a number of too many digits"


def read_json(source: Path) -> Any:
    """The value in a JSON file, UTF-8 with or without a byte order mark; raises `BadInputError`."""
    try:
        return parse_json(source.read_bytes().decode("utf-8-sig"))
    except (OSError, *_UNREADABLE) as error:
        said = error if isinstance(error, json.JSONDecodeError) else json_fault(error)
        raise BadInputError(
            f"Not a readable JSON file: {said}.", where=source, hint="Give the path of a UTF-8 JSON file."
        ) from error


def read_rows(source: Path) -> Iterator[tuple[int, Row]]:
    """The objects of a JSON Lines file, gzipped or not (or rows of a Parquet file), with their numbers from 1.

    Blank lines are skipped. Raises `BadInputError` with file and line.
    """
    if source.suffix.lower() == ".parquet":
        return enumerate(_parquet_rows(source), start=1)
    return json_rows(read_lines(source), source)


def json_rows(lines: Iterable[Line], where: str | Path) -> Iterator[tuple[int, Row]]:
    """The object that each line is, with its number; raises `BadInputError` for a line that is none."""
    for number, text in lines:
        try:
            row = parse_json(text)
        except _UNREADABLE as error:
            raise BadInputError(
                f"Not valid JSON ({json_fault(error)}).", where=where, line=number, hint="Correct this line."
            ) from error
        if not isinstance(row, dict):
            raise BadInputError("A line must be an object.", where=where, line=number, hint="Correct this line.")
        yield number, row


def first_row(source: Path) -> Row:
    """The first object of a file of rows, by which its layout is recognised; empty where there is none."""
    return next((row for _, row in read_rows(source)), {})


def _parquet_rows(source: Path) -> list[Row]:
    try:
        rows: list[Row] = pq.read_table(source).to_pylist()
    except (OSError, pa.ArrowInvalid) as error:
        raise BadInputError(f"Not a readable Parquet file: {error}.", where=source, hint="Fetch it again.") from error
    return rows
