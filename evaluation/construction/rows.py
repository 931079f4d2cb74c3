"""The rows of a construction, such as questions with their perspectives, and their files.

A row that is not used is not deleted: it carries the reason, and a person may overrule it.
"""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from berdseye.data.errors import DamagedError
from berdseye.data.files.atomic import replacing


class Row(NamedTuple):
    """One row: `id` is unique within its step, `fields` are JSON values that later steps read.

    `origin` says by step where the fields come from: source, prompt and its version, model, sampling and the raw text.
    `rejected` is the reason why the row is not used, or empty.
    """

    id: str
    fields: Mapping[str, Any]
    origin: Mapping[str, Any] = {}
    rejected: str = ""

    def with_fields(self, **fields: Any) -> "Row":
        """Return the row with more fields."""
        return self._replace(fields={**self.fields, **fields})

    def with_origin(self, step: str, **origin: Any) -> "Row":
        """Return the row with what a step says of its origin."""
        return self._replace(origin={**self.origin, step: origin})

    def reject(self, reason: str) -> "Row":
        """Return the row as rejected, for a reason that completes "rejected:"."""
        return self._replace(rejected=reason)


def write_rows(path: Path, rows: Iterable[Row]) -> None:
    """Write rows as JSON Lines, atomically; equal rows give equal bytes."""
    with replacing(path) as temporary, temporary.open("w", encoding="utf-8", errors="replace", newline="\n") as file:
        for row in rows:
            file.write(f"{json.dumps(row._asdict(), ensure_ascii=False, sort_keys=True)}\n")


def read_rows(path: Path) -> list[Row]:
    """Read rows that `write_rows` wrote; raises `DamagedError`."""
    try:
        with path.open(encoding="utf-8", newline="\n") as file:
            return [Row(**json.loads(line)) for line in file]
    except (OSError, ValueError, TypeError) as error:
        raise DamagedError(
            f"The rows of this step cannot be read: {error}.",
            where=path,
            hint="Delete the file, and run the construction again: stored completions are used again.",
        ) from error
