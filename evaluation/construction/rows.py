"""The rows of a construction, such as questions with their perspectives, and their files.

A row that is not used is not deleted: it carries the reason, and a person may overrule it.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from berdseye.data.errors import DamagedError
from berdseye.data.files.atomic import replacing

_KEPT_IN_MEMORY = 64 << 20
"""The largest file, in bytes, whose rows are kept in memory: a page reads those of every step several times."""


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


def read_rows(path: Path) -> Sequence[Row]:
    """Read rows that `write_rows` wrote; raises `DamagedError`. Files up to 64 MiB are read again only if they have changed."""
    try:
        stat = path.stat()
        if stat.st_size <= _KEPT_IN_MEMORY:
            return _unchanged_rows(path, stat.st_size, stat.st_mtime_ns, stat.st_ino)
        return _rows(path)
    except (OSError, ValueError, TypeError) as error:
        raise DamagedError(
            f"The rows of this step cannot be read: {error}.",
            where=path,
            hint="Delete the file, and run the construction again: stored completions are used again.",
        ) from error


@lru_cache(maxsize=16)
def _unchanged_rows(path: Path, *_: int) -> Sequence[Row]:
    return _rows(path)


def _rows(path: Path) -> Sequence[Row]:
    with path.open(encoding="utf-8", newline="\n") as file:
        return tuple(Row(**json.loads(line)) for line in file)
