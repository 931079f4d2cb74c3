"""Where an unfinished load stands, so that it can go on after it was cut off."""

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
    """How far the reading has come; what was written after it is thrown away when the load goes on."""

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
    """The folder of an unfinished load: rows that wait for their ids, the keys that find duplicates, and `Reached`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.rows, self.keys, self.documents = folder / "rows", folder / "keys", folder / "documents"
        self.dropped = folder / "dropped.parquet"
        self.bad_rows, self.sources = Log(folder / "bad_rows.txt"), Log(folder / "sources.jsonl")

    def begin(
        self, source: Path, files: Sequence[InputFile], options: dict[str, Any], anew: bool
    ) -> tuple[Reached, str]:
        """Where to go on, and a word on why the load does not begin at the beginning, or why it does."""
        wanted = {"layout": _LAYOUT, "source": str(source.resolve()), **options}
        wanted["files"] = [[f.name, f.size, f.modified] for f in files]
        held, reached = _read(self.folder / "source.json"), _read(self.folder / "reached.json")
        said = ""
        if held is not None and reached is not None and not anew:
            if held == wanted:
                return self._taken_up(reached)
            changed = "The source has changed" if held.get("files") != wanted["files"] else "The options are others"
            said = f"{changed} since the unfinished load, which begins anew."
        self.remove()
        for folder in (self.rows, self.keys, self.documents):
            folder.mkdir(parents=True)
        write_json(self.folder / "source.json", wanted)
        start = Reached()
        self.save(start)
        return start, said

    def save(self, reached: Reached) -> None:
        """Note that all this is on disk."""
        reached.logs = {log.path.name: log.sync() for log in (self.bad_rows, self.sources)}
        write_json(self.folder / "reached.json", asdict(reached))

    def forget(self) -> None:
        """Mark the load as no more to be taken up."""
        (self.folder / "reached.json").unlink(missing_ok=True)

    def remove(self) -> None:
        """Give its room on disk back."""
        shutil.rmtree(self.folder, ignore_errors=True)

    def _taken_up(self, held: dict[str, Any]) -> tuple[Reached, str]:
        reached = Reached(**held | {"position": Position(*held["position"])})
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
        return reached, f"Going on after {reached.rows:,} passages." if reached.rows else ""


class Log:
    """A text file that grows line by line, and can be cut back to what it was."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._waiting: list[str] = []

    def add(self, line: str) -> None:
        self._waiting.append(" ".join(line.splitlines()))
        if len(self._waiting) >= _WAITING:
            self.sync()

    def sync(self) -> int:
        """Bring all lines to disk; returns the size of the file."""
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
        held: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return held
