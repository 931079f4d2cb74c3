"""The reports of a command that the app started as a job: its progress and its end.

Such a command finds its job's folder in BERDSEYE_JOB and writes two small files there. A command that was killed leaves no end,
which distinguishes it from one that failed.
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
_reported_at = 0.0
_since = ("", "", 0.0)
_folder: Path | None = None


class Reached(NamedTuple):
    """The progress of a job: the `work` it does, the `unit` it counts, the number `done`, the `total` if it is known, the time
    `at` of this report and the time `since` which it does this work, in seconds since 1970."""

    work: str
    unit: str
    done: int
    total: int | None
    at: float
    since: float

    @property
    def share(self) -> float | None:
        """The share done, between 0 and 1; None without a total."""
        return min(1.0, self.done / self.total) if self.total else None


class End(NamedTuple):
    """The end of a job: its exit status (None: it was stopped), the time (seconds since 1970), and the person who stopped
    it."""

    status: int | None
    at: float
    stopped_by: str = ""


@contextmanager
def reporting() -> Iterator[None]:
    """Let this process report as the job that BERDSEYE_JOB names, if any. Processes that it starts do not report."""
    global _folder
    job_folder = os.environ.pop(VARIABLE, "")
    _folder = Path(job_folder) if job_folder else None
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
    """Report the progress of this process if it is a job: at most twice a second, and always when the total is reached."""
    global _reported_at, _since
    if _folder is None:
        return
    if _since[:2] != (work, unit):
        _since = (work, unit, time.time())
    elif time.monotonic() - _reported_at < _EVERY and done != total:
        return
    _reported_at = time.monotonic()
    _write(_folder / _PROGRESS, Reached(work, unit, done, total, time.time(), _since[2])._asdict())


def reached(folder: Path) -> Reached | None:
    """Return the last progress report of the job in a folder, or None without one."""
    stored = _read(folder / _PROGRESS)
    return None if stored is None else Reached(**stored)


def ended(folder: Path) -> End | None:
    """Return the end of the job in a folder, or None if it is running or was killed."""
    stored = _read(folder / _END)
    return None if stored is None else End(**stored)


def write_end(folder: Path, end: End) -> None:
    """Record the end of a job."""
    _write(folder / _END, end._asdict())


def clear(folder: Path) -> None:
    """Delete the reports before a job is resumed."""
    for name in (_PROGRESS, _END):
        (folder / name).unlink(missing_ok=True)


def _write(path: Path, value: dict[str, Any]) -> None:
    # Not synced: a report lost in a crash does not matter, and work must neither wait for a report nor fail because of it.
    temporary = path.with_suffix(f".{os.getpid()}.tmp")
    with suppress(OSError):
        temporary.write_text(json.dumps(value), encoding="utf-8")
        temporary.replace(path)


def _read(path: Path) -> dict[str, Any] | None:
    try:
        return dict(json.loads(path.read_text(encoding="utf-8")))
    except (FileNotFoundError, ValueError):
        return None
