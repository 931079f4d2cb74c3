"""JSON, JSON Lines and Parquet files as values and rows, every fault told with its file and line."""

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from data.errors import BadInputError
from data.text_lines import Line, read_lines

Row = dict[str, Any]
_UNREADABLE = (ValueError, RecursionError)


def read_json(source: Path) -> Any:
    """The value in a JSON file, UTF-8 with or without a byte order mark; raises `BadInputError`."""
    try:
        return json.loads(source.read_bytes().decode("utf-8-sig"))
    except (OSError, *_UNREADABLE) as error:
        raise BadInputError(
            f"Not a readable JSON file: {error}.", where=source, hint="Give the path of a UTF-8 JSON file."
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
            row = json.loads(text)
        except _UNREADABLE as error:
            said = getattr(error, "msg", None) or ("nested too deeply" if isinstance(error, RecursionError) else error)
            raise BadInputError(
                f"Not valid JSON ({said}).", where=where, line=number, hint="Correct this line."
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
