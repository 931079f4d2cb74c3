"""Output of the command line: progress and notes on standard error, results on standard output."""

import io
import json
import logging
import math
import re
import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from types import FrameType
from typing import TYPE_CHECKING, Any

from rich.console import Console

from berdseye.app.jobs.reports import report
from berdseye.data.progress import Progress
from berdseye.data.texts.truncation import cut_note

if TYPE_CHECKING:
    from rich.progress import Progress as Bars
    from rich.progress import Task

notes = Console(stderr=True, highlight=False, soft_wrap=True, force_jupyter=False, emoji=False)
_LOGGED_EVERY = 60.0


# Control characters except tab and line feed, marks that change the direction of text, and lone surrogates.
_UNSEEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def escaped_for_terminal(text: str) -> str:
    """`text` with every character that a terminal would execute rather than show escaped as in Python, such as `\\x1b`."""
    return _UNSEEN.sub(lambda match: ascii(match[0])[1:-1], text)


def note(text: str) -> None:
    """Print a line for the person on standard error, apart from the results that scripts read."""
    notes.print(escaped_for_terminal(text), markup=False)


def note_truncated(reader: str, truncated: int | None, of: int | None = None, what: str = "pairs") -> None:
    """Print a note if `truncated` of `of` pairs have a text that a detector or another model cut; none for an unknown number."""
    if text := cut_note(reader, truncated, of, what):
        note(text)


class _Notes(logging.Handler):
    def emit(self, record: logging.LogRecord) -> None:
        note(record.getMessage())


@contextmanager
def noted_warnings(logger: str) -> Iterator[None]:
    """Also print the warnings and errors of a logger, given by name, and of those below it as notes."""
    handler = _Notes(logging.WARNING)
    logging.getLogger(logger).addHandler(handler)
    try:
        yield
    finally:
        logging.getLogger(logger).removeHandler(handler)


class _Visible(io.TextIOWrapper):
    def write(self, text: str, /) -> int:
        super().write(escaped_for_terminal(text))
        return len(text)


@contextmanager
def escaped_output() -> Iterator[None]:
    """Escape control characters in what is printed to a terminal, so that stored texts cannot control it.

    Output to a pipe or file stays unchanged. Text that is not valid UTF-8 is always written with escapes, instead of ending the
    command with an error.
    """
    before = sys.stdout
    if isinstance(before, io.TextIOWrapper):
        before.reconfigure(errors="backslashreplace")
    if not before.isatty():
        yield
        return
    before.flush()
    shown = _Visible(before.buffer, before.encoding, line_buffering=True)
    sys.stdout = shown
    try:
        yield
    finally:
        shown.flush()
        shown.detach()  # so that closing it does not close the terminal
        sys.stdout = before


def print_json(value: Any) -> None:
    """Print one JSON value on standard output; NaN and infinite numbers become null."""
    print(json.dumps(_finite(value), ensure_ascii=False, indent=2))


@contextmanager
def counting(what: str) -> Iterator[Progress]:
    """Show the progress of long work called `what`: a count and the time taken or, for a known total, a bar and the time left.

    Where standard error is not a terminal, one line per minute is written instead. A job of the app also reports the progress
    to the app.
    """
    from rich.progress import BarColumn, TextColumn
    from rich.progress import Progress as Bars

    columns = (TextColumn("{task.description}", markup=False), BarColumn(20), TextColumn("{task.fields[pace]}"))
    with Bars(*columns, console=notes, transient=True, disable=not notes.is_terminal) as bars:
        yield _Counting(what, bars)


class _Counting:
    """Passes progress to a bar, which counts in shares of the total, because an estimated total changes all the time."""

    def __init__(self, what: str, bars: "Bars") -> None:
        self._what, self._bars, self._unit = what, bars, ""
        self._task = bars.add_task(what, total=None, pace="")
        self._logged = time.monotonic()

    def __call__(self, done: int, what: str, total: int | None = None, /) -> None:
        if what != self._unit:
            self._unit = what
            self._bars.remove_task(self._task)
            self._task = self._bars.add_task(f"{self._what}: {what}", total=None, pace="")
        if total:
            self._bars.update(self._task, completed=done / total, total=1.0)
        else:
            self._bars.update(self._task, completed=done)
        report(self._what, what, done, total)
        (task,) = self._bars.tasks
        status = pace(task, done, total)
        self._bars.update(self._task, pace=status)
        if self._bars.disable and time.monotonic() - self._logged > _LOGGED_EVERY:
            self._logged = time.monotonic()
            note(f"{self._what}: {what}, {status}")


def pace(task: "Task", done: int, total: int | None) -> str:
    """How many are done, how many a second, a minute or an hour (at least one), and the time taken or, where the total is known,
    the time left."""
    speed = (task.speed or 0) * (total or 1)
    paces = ((speed, "s"), (60 * speed, "min"), (3600 * speed, "h"))
    rate = next((f", {many:,.0f}/{unit}" for many, unit in paces if many >= 1), "")
    if not total:
        return f"{done:,}{rate}, {_clock(task.elapsed or 0)}"
    left = f", {_clock(task.time_remaining)} left" if task.time_remaining is not None else ""
    return f"{min(1.0, done / total):.0%} of {total:,} ({done:,}){rate}{left}"


def _clock(seconds: float) -> str:
    return str(timedelta(seconds=round(seconds)))


def _finite(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {k: _finite(v) for k, v in value.items()}
    return [_finite(v) for v in value] if isinstance(value, list | tuple) else value


def end_cleanly() -> None:
    """Let the command end like an error when it is stopped, so that it deletes its incomplete files and ends what it started."""

    def end(number: int, _frame: FrameType | None) -> None:
        raise SystemExit(128 + number)

    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGTERM, end)
