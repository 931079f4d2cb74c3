"""Tables as files for people's own tools: CSV that no spreadsheet takes for formulas, and Parquet."""

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd

from data.atomic import write_bytes
from data.errors import BadInputError

_FORMULA_STARTS = tuple("=+-@＝＋－＠\t\r\n")


def to_csv(frame: pd.DataFrame) -> bytes:
    """UTF-8 CSV (RFC 4180) with a header; a text, or a column's name, that starts like a formula gets a leading apostrophe."""
    safe = frame.copy()
    for column in safe.columns:
        if not pd.api.types.is_numeric_dtype(safe[column]):
            safe[column] = safe[column].map(_no_formula)
    safe.columns = pd.Index([_no_formula(column) for column in safe.columns])
    # With these line ends a lone carriage return is quoted too, and cannot begin a row of its own.
    return safe.to_csv(index=False, lineterminator="\r\n").encode("utf-8")


def _no_formula(value: Any) -> Any:
    return f"'{value}" if isinstance(value, str) and value.startswith(_FORMULA_STARTS) else value


def to_parquet(frame: pd.DataFrame) -> bytes:
    """The same table as Parquet, texts exactly as they are."""
    buffer = io.BytesIO()
    frame.to_parquet(buffer, index=False)
    return buffer.getvalue()


def to_jsonl(frame: pd.DataFrame) -> bytes:
    """A JSON object a row, UTF-8."""
    text: str = frame.to_json(orient="records", lines=True, force_ascii=False)
    return (text.rstrip("\n") + "\n").encode("utf-8") if text.strip() else b""


_FORMATS = {".csv": to_csv, ".parquet": to_parquet, ".jsonl": to_jsonl}


def table_form(path: Path) -> Callable[[pd.DataFrame], bytes]:
    """What makes the content of the table that a file name asks for; raises `BadInputError` for an ending that has none."""
    form = _FORMATS.get(path.suffix.lower())
    if form is None:
        raise BadInputError(f"Cannot write '{path.suffix}' files.", where=path, hint=f"Use {', '.join(_FORMATS)}.")
    return form


def write_table(frame: pd.DataFrame, path: Path) -> None:
    """Write a table in the format its file name asks for; raises `BadInputError` for an ending that has none."""
    write_bytes(path, table_form(path)(frame))
