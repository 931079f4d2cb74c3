"""The state of an unfinished load of a corpus, from which an interrupted load resumes."""

import json
import os
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from berdseye.data.documents import InputFile, Position
from berdseye.data.files.atomic import write_json

_LAYOUT = 1
_WAITING = 10_000


@dataclass
class Reached:
    """How far reading has come; anything written later is discarded when the load resumes."""

    file: int = 0
    position: Position = field(default_factory=Position)
    complete: bool = False
    documents: int = 0
    rows: int = 0
    whole: int = 0
    bytes: int = 0
    formats: list[str] = field(default_factory=list)
    logs: dict[str, int] = field(default_factory=dict)


class Loading:
    """The folder of an unfinished load: rows without final ids, the keys that find duplicates, and `Reached`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.rows, self.keys, self.documents = folder / "rows", folder / "keys", folder / "documents"
        self.dropped = folder / "dropped.parquet"
        self.bad_rows, self.sources = Log(folder / "bad_rows.txt"), Log(folder / "sources.jsonl")

    def begin(
        self, source: Path, files: Sequence[InputFile], options: dict[str, Any], restart: bool
    ) -> tuple[Reached, str]:
        """Where to start reading, and a message if the load resumes or if an unfinished one is discarded."""
        description = {"layout": _LAYOUT, "source": str(source.resolve()), **options}
        description["files"] = [[f.name, f.size, f.modified] for f in files]
        stored, reached = _read(self.folder / "source.json"), _read(self.folder / "reached.json")
        message = ""
        if stored is not None and reached is not None and not restart:
            if stored == description:
                return self._resume(reached)
            changed = "The source has" if stored.get("files") != description["files"] else "The options have"
            message = f"{changed} changed since the unfinished load; starting from the beginning."
        self.remove()
        for folder in (self.rows, self.keys, self.documents):
            folder.mkdir(parents=True)
        write_json(self.folder / "source.json", description)
        start = Reached()
        self.save(start)
        return start, message

    def save(self, reached: Reached) -> None:
        """Record that everything up to `reached` is on disk."""
        reached.logs = {log.path.name: log.sync() for log in (self.bad_rows, self.sources)}
        write_json(self.folder / "reached.json", asdict(reached))

    def forget(self) -> None:
        """Mark the load as finished, so that it is not resumed."""
        (self.folder / "reached.json").unlink(missing_ok=True)

    def remove(self) -> None:
        """Delete the folder."""
        shutil.rmtree(self.folder, ignore_errors=True)

    def _resume(self, stored: dict[str, Any]) -> tuple[Reached, str]:
        reached = Reached(**stored | {"position": Position(*stored["position"])})
        for log in (self.bad_rows, self.sources):
            log.cut_back(reached.logs[log.path.name])
        for folder, limit in (
            (self.rows, reached.rows),
            (self.keys, reached.rows),
            (self.documents, reached.documents),
        ):
            for path in folder.iterdir():
                if not path.stem.isdigit() or int(path.stem) >= limit:
                    path.unlink()
        return reached, f"Resuming after {reached.rows:,} passages." if reached.rows else ""


class Log:
    """A text file that grows line by line and can be truncated to an earlier size."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._waiting: list[str] = []

    def add(self, line: str) -> None:
        self._waiting.append(" ".join(line.splitlines()))
        if len(self._waiting) >= _WAITING:
            self.sync()

    def sync(self) -> int:
        """Write all buffered lines to disk; returns the size of the file in bytes."""
        with self.path.open("a", encoding="utf-8", errors="replace") as file:
            file.writelines(f"{line}\n" for line in self._waiting)
            file.flush()
            os.fsync(file.fileno())
            self._waiting = []
            return file.tell()

    def cut_back(self, size: int) -> None:
        os.truncate(self.path, size)

    def lines(self) -> Iterator[str]:
        """The lines on disk."""
        with self.path.open(encoding="utf-8") as file:
            yield from (line.rstrip("\n") for line in file)


def _read(path: Path) -> dict[str, Any] | None:
    try:
        content: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return content
