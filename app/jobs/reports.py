"""What a command tells about itself when the app started it as a job: how far it is, and how it ended.

Such a command finds the folder of its job in BERDSEYE_JOB, and writes two small files there. A command that was killed leaves
no end, which tells it from one that failed.
"""

import json
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

VARIABLE = "BERDSEYE_JOB"
_PROGRESS = "progress.json"
_END = "end.json"
_EVERY = 0.5
_told_at = 0.0
_since = ("", "", 0.0)
_folder: Path | None = None


class Reached(NamedTuple):
    """How far a job is: what it works on, how many of what are done, and of how many, where that is known; the seconds since
    1970 when it said so, and when it began with this."""

    work: str
    unit: str
    done: int
    total: int | None
    at: float
    since: float

    @property
    def share(self) -> float | None:
        """Between 0 and 1; None where there is no total."""
        return min(1.0, self.done / self.total) if self.total else None


class End(NamedTuple):
    """How a job ended: its exit status (None: it was stopped), when (seconds since 1970), and who stopped it."""

    status: int | None
    at: float
    stopped_by: str = ""


@contextmanager
def reporting() -> Iterator[None]:
    """Let this process report as the job that BERDSEYE_JOB names, if any; what it starts itself does not."""
    global _folder
    named = os.environ.pop(VARIABLE, "")
    _folder = Path(named) if named else None
    status = 1
    try:
        yield
        status = 0
    except SystemExit as error:
        status = error.code if isinstance(error.code, int) else int(error.code is not None)
        raise
    finally:
        if _folder is not None:
            write_end(_folder, End(status, time.time()))
        _folder = None


def report(work: str, unit: str, done: int, total: int | None) -> None:
    """Say how far this process is, where it is a job: twice a second at most, and whenever something is complete."""
    global _told_at, _since
    if _folder is None:
        return
    if _since[:2] != (work, unit):
        _since = (work, unit, time.time())
    elif time.monotonic() - _told_at < _EVERY and done != total:
        return
    _told_at = time.monotonic()
    _write(_folder / _PROGRESS, Reached(work, unit, done, total, time.time(), _since[2])._asdict())


def reached(folder: Path) -> Reached | None:
    """What the job of a folder said last; None where it has not said anything."""
    held = _read(folder / _PROGRESS)
    return None if held is None else Reached(**held)


def ended(folder: Path) -> End | None:
    """How the job of a folder ended; None where it runs, or was killed."""
    held = _read(folder / _END)
    return None if held is None else End(**held)


def write_end(folder: Path, end: End) -> None:
    """Write down how a job ended."""
    _write(folder / _END, end._asdict())


def clear(folder: Path) -> None:
    """Forget what was reported, before a job begins again."""
    for name in (_PROGRESS, _END):
        (folder / name).unlink(missing_ok=True)


def _write(path: Path, value: dict[str, Any]) -> None:
    # Not synced: a report lost with the machine is no loss, and work must not wait for it nor fail with it.
    temporary = path.with_suffix(f".{os.getpid()}.tmp")
    with suppress(OSError):
        temporary.write_text(json.dumps(value), encoding="utf-8")
        temporary.replace(path)


def _read(path: Path) -> dict[str, Any] | None:
    try:
        return dict(json.loads(path.read_text(encoding="utf-8")))
    except (FileNotFoundError, ValueError):
        return None
