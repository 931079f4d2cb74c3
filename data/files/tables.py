"""Export of tables to files: CSV in which no spreadsheet program finds a formula, Parquet and JSON Lines."""

import io
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd

from berdseye.data.errors import BadInputError
from berdseye.data.files.atomic import write_bytes

_SIGNS = "=+@＝＋－＠﹦﹢﹣﹫-"
_INVISIBLE = "\\x00-\\x20\"'\u00a0\u200b-\u200f\u2060\ufeff"
# At the start of a cell, also after white space, quotes and invisible characters, which some programs drop. After a separator
# too: a spreadsheet program with semicolons as separators, as in much of Europe, begins a cell there, quoted or not.
_FORMULA = re.compile(f"^(?=[\t\r\n]|[{_INVISIBLE}]*[{_SIGNS}])|(?<=[,;|\t\r\n])(?=[\"']*[{_SIGNS}])")


def to_csv(frame: pd.DataFrame) -> bytes:
    """The table as UTF-8 CSV (RFC 4180) with a header.

    In texts and column names, an apostrophe is inserted before anything that a spreadsheet program could read as a formula:
    at the start of a cell, and after a separator within it.
    """
    safe = frame.copy()
    for column in safe.columns:
        if not pd.api.types.is_numeric_dtype(safe[column]):
            safe[column] = safe[column].map(_no_formula)
    safe.columns = pd.Index([_no_formula(column) for column in safe.columns])
    # With these line ends, pandas quotes a lone carriage return as well, so that it cannot begin a new row.
    return safe.to_csv(index=False, lineterminator="\r\n").encode("utf-8")


def _no_formula(value: Any) -> Any:
    return _FORMULA.sub("'", value) if isinstance(value, str) else value


def to_parquet(frame: pd.DataFrame) -> bytes:
    """The table as Parquet, with all texts unchanged."""
    buffer = io.BytesIO()
    frame.to_parquet(buffer, index=False)
    return buffer.getvalue()


def to_jsonl(frame: pd.DataFrame) -> bytes:
    """The table as UTF-8 JSON Lines, one object per row."""
    text: str = frame.to_json(orient="records", lines=True, force_ascii=False)
    return (text.rstrip("\n") + "\n").encode("utf-8") if text.strip() else b""


_FORMATS = {".csv": to_csv, ".parquet": to_parquet, ".jsonl": to_jsonl}


def table_form(path: Path) -> Callable[[pd.DataFrame], bytes]:
    """The function that converts a table to the format of a file name; raises `BadInputError` for an unknown ending."""
    convert = _FORMATS.get(path.suffix.lower())
    if convert is None:
        raise BadInputError(
            f"Tables cannot be written as '{path.suffix}' files.", where=path, hint=f"Use {', '.join(_FORMATS)}."
        )
    return convert


def write_table(frame: pd.DataFrame, path: Path) -> None:
    """Write a table in the format of the file name; raises `BadInputError` for an unknown ending."""
    write_bytes(path, table_form(path)(frame))
