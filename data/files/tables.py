"""Tables as files for people's own tools: CSV that no spreadsheet takes for formulas, and Parquet."""

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
# At the start also behind white space, quotes and signs that nobody sees, which some programs drop. Behind a separator too: a
# spreadsheet that takes semicolons for separators, as in much of Europe, begins a cell there, quoted or not.
_FORMULA = re.compile(f"^(?=[\t\r\n]|[{_INVISIBLE}]*[{_SIGNS}])|(?<=[,;|\t\r\n])(?=[\"']*[{_SIGNS}])")


def to_csv(frame: pd.DataFrame) -> bytes:
    """UTF-8 CSV (RFC 4180) with a header. In texts and in the names of columns, an apostrophe stands before what a spreadsheet
    could take for a formula: at the start of a cell, and behind a separator within it.
    """
    safe = frame.copy()
    for column in safe.columns:
        if not pd.api.types.is_numeric_dtype(safe[column]):
            safe[column] = safe[column].map(_no_formula)
    safe.columns = pd.Index([_no_formula(column) for column in safe.columns])
    # With these line ends a lone carriage return is quoted too, and cannot begin a row of its own.
    return safe.to_csv(index=False, lineterminator="\r\n").encode("utf-8")


def _no_formula(value: Any) -> Any:
    return _FORMULA.sub("'", value) if isinstance(value, str) else value


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
