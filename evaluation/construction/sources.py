"""The sources of a construction: JSON Lines and tables, whose invalid lines are rejected rows with their file and line."""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from berdseye.data.datasets.layouts.table import ENDINGS as TABLES
from berdseye.data.datasets.layouts.table import table_rows
from berdseye.data.errors import BadInputError
from berdseye.data.files.json_files import read_rows
from berdseye.data.texts.passages import clean
from berdseye.evaluation.construction.rows import Row
from berdseye.evaluation.construction.working import Working


def read_sources(working: Working, read: Callable[[Mapping[str, Any]], Mapping[str, Any]]) -> list[Row]:
    """Return a row for each object of the sources, JSON Lines or tables (CSV, TSV); `read` returns its fields, or
    raises `ValueError` with the fault.

    Invalid lines and repeated ids are rejected with their file and line, and valid ones are numbered unless they have an `id`.
    """
    rows: dict[str, Row] = {}
    for source, path in working.sources.items():
        faults: list[BadInputError] = []
        for line, found in _objects(path, faults):
            origin = {"source": source, "line": line}
            row_id = clean(str(line if found.get("id") is None else found["id"]))
            row_id = row_id if len(working.sources) == 1 else f"{source}/{row_id}"
            if row_id in rows:
                row = Row(f"{source}/line {line}", {}).reject(f"repeats an id: '{row_id}'")
            else:
                try:
                    row = Row(row_id, read(found))
                except ValueError as error:
                    row = Row(row_id, {"text": str(found)[:300]}).reject(f"cannot be read: {error}")
            rows[row.id] = row.with_origin("sources", **origin)
        for fault in faults:
            row = Row(f"{source}/line {fault.line}", {}).reject(f"cannot be read: {fault.what}")
            rows[row.id] = row.with_origin("sources", source=source, line=fault.line)
    return list(rows.values())


def _objects(path: Path, faults: list[BadInputError]) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """Yield the objects of a source with their lines; an empty cell of a table is a missing field."""
    if path.suffix.lower() in TABLES:
        return ((line, {name: cell for name, cell in row.items() if cell.strip()}) for line, row in table_rows(path))
    return read_rows(path, faults)


def source_text(found: Mapping[str, Any], *names: str) -> str:
    """Return the first of these fields that is a text; raises `ValueError` if there is none."""
    for name in names:
        if isinstance(found.get(name), str) and found[name].strip():
            return clean(found[name])
    raise ValueError(f"the field '{names[0]}' is missing")


def only_source(working: Working) -> Path:
    """Return the only source; raises `BadInputError` if there are several."""
    if len(working.sources) != 1:
        raise BadInputError("This kind of construction reads one source.", hint="Give --source once.")
    return next(iter(working.sources.values()))
