"""Reading of JSON, JSON Lines and Parquet files as values and rows, and of text files as numbered lines.

Text files may be gzipped. Every error names the file and the line.
"""

import gzip
import json
import re
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from berdseye.data.errors import BadInputError

Line = tuple[int, str]
"""The number of a line, from 1, and its text."""
LONGEST_LINE = 100_000_000
"""Longest line in bytes; without a limit, a small compressed file with one huge line could fill the memory."""
Row = dict[str, Any]
_UNREADABLE = (ValueError, RecursionError)
_HALF = re.compile(r"\\u[dD][89a-fA-F]")


def read_lines(path: Path) -> Iterator[Line]:
    """Yield the lines that are not blank, with their numbers from 1, of a UTF-8 file with or without a byte order mark.

    A file whose name ends in `.gz` is decompressed. Raises `BadInputError` with the file, and with the line if one is invalid.
    """
    if path.is_dir() or not path.exists():
        raise BadInputError("The file does not exist.", where=path, hint="Check the path.")
    number = 0
    try:
        with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as file:
            while raw := file.readline(LONGEST_LINE + 1):
                number += 1
                if len(raw) > LONGEST_LINE:
                    raise BadInputError(
                        f"The line is longer than {LONGEST_LINE // 1_000_000} MB.",
                        where=path,
                        line=number,
                        hint="Split this line.",
                    )
                text = raw.decode("utf-8-sig" if number == 1 else "utf-8")
                if text.strip():
                    yield number, text
    except UnicodeDecodeError as error:
        raise BadInputError("Not UTF-8 text.", where=path, line=number, hint="Convert the file to UTF-8.") from error
    except (OSError, EOFError, zlib.error) as error:
        reason = getattr(error, "strerror", None) or error
        raise BadInputError(
            f"The file cannot be read: {reason}.", where=path, hint="Check that it is the right file."
        ) from error


def text_lines(text: str) -> Iterator[Line]:
    """The lines of a text that are not blank, with their numbers from 1."""
    return ((number, line) for number, line in enumerate(text.split("\n"), start=1) if line.strip())


def parse_json(text: str) -> Any:
    """Parse a JSON text; a lone surrogate, which no store or browser accepts, becomes a question mark."""
    value = json.loads(text)
    if _HALF.search(text):
        value = json.loads(json.dumps(value, ensure_ascii=False).encode("utf-8", "replace"))
    return value


def json_fault(error: Exception) -> str:
    """A few words on what is wrong with a text that is not valid JSON."""
    if isinstance(error, RecursionError):
        return "nested too deeply"
    if isinstance(error, json.JSONDecodeError):
        return error.msg
    if isinstance(error, OSError | UnicodeError):
        return str(error)
    return "a number with too many digits"


def read_json(source: Path) -> Any:
    """Read a JSON file, UTF-8 with or without a byte order mark; raises `BadInputError`."""
    try:
        return parse_json(source.read_bytes().decode("utf-8-sig"))
    except (OSError, *_UNREADABLE) as error:
        reason = error if isinstance(error, json.JSONDecodeError) else json_fault(error)
        raise BadInputError(
            f"Not a valid JSON file: {reason}.", where=source, hint="Give the path of a UTF-8 JSON file."
        ) from error


def read_rows(source: Path, faults: list[BadInputError] | None = None) -> Iterator[tuple[int, Row]]:
    """Yield the objects of a JSON Lines file, gzipped or not, or the rows of a Parquet file, with their numbers from 1.

    Blank lines are skipped. Raises `BadInputError` with file and line; with `faults`, errors of single lines are added to it
    instead, and the lines are skipped.
    """
    if source.suffix.lower() == ".parquet":
        return enumerate(_parquet_rows(source), start=1)
    return json_rows(read_lines(source), source, faults)


def json_rows(
    lines: Iterable[Line], where: str | Path, faults: list[BadInputError] | None = None
) -> Iterator[tuple[int, Row]]:
    """Yield the JSON object of each line with its number.

    Raises `BadInputError` for a line that is not an object, or adds the error to `faults` and goes on.
    """
    for number, text in lines:
        row = _json_object(text)
        if isinstance(row, str):
            fault = BadInputError(row, where=where, line=number, hint="Fix this line.")
            if faults is None:
                raise fault
            faults.append(fault)
        else:
            yield number, row


def _json_object(text: str) -> Row | str:
    """Return the object that a line contains, or what is wrong with the line."""
    try:
        row: Any = parse_json(text)
    except _UNREADABLE as error:
        return f"Not valid JSON ({json_fault(error)})."
    return row if isinstance(row, dict) else f"The line must be an object, got {type(row).__name__}."


def first_row(source: Path) -> Row:
    """The first object of a file of rows, which shows its layout; empty if the file has no row."""
    return next((row for _, row in read_rows(source)), {})


def _parquet_rows(source: Path) -> list[Row]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        rows: list[Row] = pq.read_table(source).to_pylist()
    except (OSError, pa.ArrowInvalid) as error:
        raise BadInputError(f"Not a valid Parquet file: {error}.", where=source, hint="Fetch it again.") from error
    return rows
