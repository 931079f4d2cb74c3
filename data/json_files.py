"""JSON, JSON Lines and Parquet files as values and rows, every fault told with its file and line."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from data.errors import BadInputError

Row = dict[str, Any]
_UNREADABLE = (json.JSONDecodeError, UnicodeDecodeError, RecursionError)


def read_json(source: Path) -> Any:
    """The value in a JSON file, UTF-8 with or without a byte order mark; raises `BadInputError`."""
    try:
        return json.loads(source.read_bytes().decode("utf-8-sig"))
    except (OSError, *_UNREADABLE) as error:
        raise BadInputError(
            f"Not a readable JSON file: {error}.", where=source, hint="Give the path of a UTF-8 JSON file."
        ) from error


def read_rows(source: Path) -> Iterator[tuple[int, Row]]:
    """The objects of a JSON Lines file (or rows of a Parquet file) with their numbers from 1; blank lines are skipped.

    Raises `BadInputError` with file and line.
    """
    if source.suffix.lower() == ".parquet":
        yield from enumerate(_parquet_rows(source), start=1)
        return
    try:
        file = source.open("rb")
    except OSError as error:
        raise BadInputError(f"Cannot be read: {error.strerror}.", where=source, hint="Check the path.") from error
    with file:
        for line, raw in enumerate(file, start=1):
            if not raw.strip():
                continue
            try:
                row = json.loads(raw.decode("utf-8-sig"))
            except _UNREADABLE as error:
                raise BadInputError(f"Not valid JSON: {error}.", where=source, line=line, hint="Correct it.") from error
            if not isinstance(row, dict):
                raise BadInputError("Expected an object.", where=source, line=line, hint="Correct this line.")
            yield line, row


def first_row(source: Path) -> Row:
    """The first object of a file of rows, by which its layout is recognised; empty where there is none."""
    return next((row for _, row in read_rows(source)), {})


def _parquet_rows(source: Path) -> list[Row]:
    try:
        rows: list[Row] = pq.read_table(source).to_pylist()
    except (OSError, pa.ArrowInvalid) as error:
        raise BadInputError(f"Not a readable Parquet file: {error}.", where=source, hint="Fetch it again.") from error
    return rows
