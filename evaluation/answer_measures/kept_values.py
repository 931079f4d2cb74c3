"""Values that took long to compute, kept in the workspace the moment each is known."""

import hashlib
import json
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from typing import NamedTuple

from berdseye.data.errors import UnavailableError
from berdseye.data.workspace import Workspace

_BUSY_SECONDS = 30
_SCHEMA = """CREATE TABLE IF NOT EXISTS answer_values (
    key TEXT PRIMARY KEY, measure TEXT NOT NULL, version TEXT NOT NULL, value REAL NOT NULL, cut INTEGER NOT NULL
) STRICT"""


class Kept(NamedTuple):
    """A value, and whether its text was too long and lost its end."""

    value: float
    cut: bool


class KeptValues:
    """Values of one measure and version by the texts that they are of."""

    def __init__(self, workspace: Workspace, measure: str, version: str) -> None:
        self.path = workspace.folder / "answers" / "values.db"
        self.measure, self.version = measure, version

    def key(self, *texts: str | Sequence[str]) -> str:
        """The name that a value is kept under."""
        return hashlib.sha256(json.dumps([self.measure, self.version, *texts]).encode()).hexdigest()

    def get(self, keys: Sequence[str]) -> dict[str, Kept]:
        """Those that are known."""
        if not self.path.exists():
            return {}
        with self._open() as database:
            asked = "SELECT key, value, cut FROM answer_values WHERE key IN (SELECT value FROM json_each(?))"
            return {k: Kept(v, bool(c)) for k, v, c in database.execute(asked, (json.dumps(list(keys)),))}

    def put(self, key: str, kept: Kept) -> None:
        """Keep one; the first that was kept stays."""
        with self._open() as database:
            row = (key, self.measure, self.version, kept.value, int(kept.cut))
            database.execute("INSERT OR IGNORE INTO answer_values VALUES (?, ?, ?, ?, ?)", row)

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        """One transaction; what it wrote is on disk when it ends."""
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with closing(sqlite3.connect(self.path, timeout=_BUSY_SECONDS)) as database:
                database.execute(_SCHEMA)
                with database:
                    yield database
        except (sqlite3.Error, OSError) as error:
            raise UnavailableError(
                f"The values of answers cannot be read or written: {error}.",
                where=self.path,
                hint="Check the space and the rights of the folder. A damaged file can be moved away; values are then made anew.",
            ) from error
