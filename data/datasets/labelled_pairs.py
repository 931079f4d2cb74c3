"""Files of labelled pairs, on which detectors are trained, tuned and evaluated.

A file is TSV, CSV, JSONL or Parquet with the columns document (or passage), perspective and label (0 or 1), and optionally
question, id, title, split (train, dev or test), dataset, corpus, retriever and stance; other columns are ignored. Berdseye's
own training data is such a file.
"""

import csv
import hashlib
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from io import StringIO
from pathlib import Path
from typing import Any, Literal, NamedTuple, cast

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from berdseye.data.errors import BadInputError
from berdseye.data.files.delimited import LONGEST_CELL, delimited_rows
from berdseye.data.files.json_files import read_rows
from berdseye.data.files.tables import to_jsonl, to_parquet
from berdseye.data.records import Pair
from berdseye.data.texts.counts import plural

Split = Literal["train", "dev", "test", ""]

_LABELS = {"0": False, "1": True, "0.0": False, "1.0": True, "false": False, "true": True}
_SPLITS = ("train", "dev", "test", "")
_QUOTED = re.compile(r'"(?:[^"]|"")*"')
_LINES_SHOWN = 5
Row = tuple[int, Mapping[str, Any]]
"""A row with its line number (in Parquet, its row number)."""


class LabelledPair(NamedTuple):
    """A pair with its label; other fields are empty if the file does not have them."""

    pair: Pair
    supports: bool
    question: str = ""
    id: str = ""
    split: Split = ""
    dataset: str = ""
    corpus: str = ""
    stance: str = ""
    file: str = ""
    retriever: str = ""


def read_labelled_pairs(path: Path, *, labelled: bool = True) -> list[LabelledPair]:
    """Read the pairs of a file in order; without `labelled`, a label column is ignored and may be missing.

    Raises `BadInputError` with the file and the line of the first invalid row and the lines of others: no passage or
    perspective, a label that is not 0 or 1, an unknown split, an unreadable row.
    """
    readers: dict[str, Callable[[Path, bool], Iterator[Row]]] = {
        ".tsv": _tsv,
        ".csv": _csv,
        ".jsonl": _jsonl,
        ".parquet": _parquet,
    }
    if path.suffix.lower() not in readers:
        raise BadInputError(
            f"Files ending in '{path.suffix}' are not supported.",
            where=path,
            hint="Convert it to .tsv, .csv, .jsonl or .parquet.",
        )
    if not path.is_file():
        raise BadInputError("The file does not exist.", where=path, hint="Check the path.")
    pairs: list[LabelledPair] = []
    bad: list[tuple[int, str]] = []
    for line, row in readers[path.suffix.lower()](path, labelled):
        try:
            pairs.append(_pair(row if labelled else {**row, "label": "0"})._replace(file=path.name))
        except ValueError as error:
            bad.append((line, str(error)))
    if bad:
        line, reason = bad[0]
        others = f" Also invalid: {', '.join(f'line {n}' for n, _ in bad[1:_LINES_SHOWN])}" if len(bad) > 1 else ""
        others += f" and {len(bad) - _LINES_SHOWN} more." if len(bad) > _LINES_SHOWN else "." if others else ""
        raise BadInputError(f"{reason}.{others}", where=path, line=line, hint="Fix or remove these rows.")
    if not pairs:
        raise BadInputError("The file contains no pair.", where=path, hint="Add at least one row.")
    return pairs


def labelled_pairs_writer(path: Path) -> Callable[[pd.DataFrame], bytes]:
    """Return the function that writes a table of labelled pairs in the format of a file name: .tsv, .jsonl or .parquet.

    `read_labelled_pairs` reads the same texts back. CSV is left out because Berdseye's CSV marks cells that a spreadsheet program
    may run as formulas, which would change the texts. Raises `BadInputError` for any other ending.
    """
    writer = _WRITERS.get(path.suffix.lower())
    if writer is None:
        raise BadInputError(
            f"Labelled pairs cannot be written as '{path.suffix}' files.",
            where=path,
            hint=f"Use {', '.join(_WRITERS)}.",
        )
    return writer


def file_hash(path: Path) -> str:
    """The first 12 hex digits of the file's SHA-256, which a detector's card records for its data."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()[:12]


def _pair(row: Mapping[str, Any]) -> LabelledPair:
    def text(*names: str) -> str:
        value = next((row[name] for name in names if row.get(name) is not None), "")
        return value if isinstance(value, str) else str(value)

    passage, perspective = text("document", "passage"), text("perspective")
    label, split = text("label").strip().lower(), text("split").strip().lower()
    for name, value in (("document", passage), ("perspective", perspective)):
        if not value.strip():
            raise ValueError(f"The row has no {name}")
    if label not in _LABELS:
        raise ValueError(f"The label must be 0 or 1, got '{label[:40]}'")
    if split not in _SPLITS:
        raise ValueError(f"The split must be train, dev or test, got '{split[:40]}'")
    pair = Pair(passage, perspective, text("title"))
    named = {name: text(name).strip() for name in ("dataset", "corpus", "stance", "retriever")}
    return LabelledPair(pair, _LABELS[label], text("question"), text("id"), cast(Split, split), **named)


def _header(path: Path, names: Sequence[str], labelled: bool) -> list[str]:
    """The column names in lower case; raises `BadInputError` if a required one is missing."""
    columns = [name.strip().lower() for name in names]
    missing = [
        required
        for required, choices in (
            ("document", {"document", "passage"}),
            ("perspective", {"perspective"}),
            ("label", {"label"}),
        )
        if not choices & set(columns) and (labelled or required != "label")
    ]
    if missing:
        raise BadInputError(
            f"Missing {plural(len(missing), 'column')} {' and '.join(missing)}.",
            where=path,
            line=1,
            hint="Required are document, perspective and label; question, id, title and split are optional.",
        )
    return columns


def _text(path: Path) -> str:
    try:
        return path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = path.read_bytes()[: error.start].count(b"\n") + 1
        raise BadInputError(
            "The line is not UTF-8.", where=path, line=line, hint="Convert the file to UTF-8."
        ) from error


def _csv(path: Path, labelled: bool, delimiter: str = ",") -> Iterator[Row]:
    csv.field_size_limit(LONGEST_CELL)
    header: list[str] | None = None
    for row in delimited_rows(StringIO(_text(path), newline=""), delimiter):
        if row.fault:
            raise BadInputError(f"The row cannot be read: {row.fault}.", where=path, line=row.first, hint=row.hint)
        if header is None:
            header = _header(path, row.cells, labelled)
        elif row.cells:
            yield row.first, _cells(path, row.first, header, row.cells)
    if header is None:
        _header(path, [], labelled)


def _tsv(path: Path, labelled: bool) -> Iterator[Row]:
    """Read TSV: if all lines have as many cells, each line is a row and quotes are literal; otherwise read it as CSV."""
    lines = re.split(r"\r?\n", _text(path).rstrip("\r\n"))
    if len({line.count("\t") for line in lines if line}) > 1:
        yield from _csv(path, labelled, "\t")
        return
    header = _header(path, lines[0].split("\t"), labelled)
    for number, line in enumerate(lines[1:], start=2):
        if line:
            yield number, _cells(path, number, header, [_unquoted(cell) for cell in line.split("\t")])


def _unquoted(cell: str) -> str:
    """The cell without the quotes around all of it, which some writers of tables add."""
    return cell[1:-1].replace('""', '"') if len(cell) > 1 and _QUOTED.fullmatch(cell) else cell


def _cells(path: Path, line: int, header: Sequence[str], cells: Sequence[str]) -> Mapping[str, Any]:
    if len(cells) != len(header):
        raise BadInputError(
            f"The row has {len(cells)} cells, but the header has {len(header)} columns.",
            where=path,
            line=line,
            hint="Quote texts that contain the separator or a line break.",
        )
    return dict(zip(header, cells, strict=True))


def _to_tsv(table: pd.DataFrame) -> bytes:
    """Return TSV with every cell quoted, so that a cell may contain any character, and a plain header."""
    cells = table.to_csv(sep="\t", index=False, header=False, quoting=csv.QUOTE_ALL, lineterminator="\n")
    return ("\t".join(table.columns) + "\n" + cells).encode()


_WRITERS: Mapping[str, Callable[[pd.DataFrame], bytes]] = {".tsv": _to_tsv, ".jsonl": to_jsonl, ".parquet": to_parquet}


def _jsonl(path: Path, labelled: bool) -> Iterator[Row]:
    for place, (line, row) in enumerate(read_rows(path)):
        if place == 0:
            _header(path, list(row), labelled)
        yield line, {str(key).strip().lower(): value for key, value in row.items()}


def _parquet(path: Path, labelled: bool) -> Iterator[Row]:
    try:
        table = pq.read_table(path)
    except (OSError, pa.ArrowException) as error:
        raise BadInputError("Not a valid Parquet file.", where=path, hint="Export it again.") from error
    header = _header(path, table.column_names, labelled)
    yield from enumerate(table.rename_columns(header).to_pylist(), start=1)
