"""How the command line speaks: progress and notes to standard error, results to standard output."""

import io
import json
import math
import re
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, Task, TextColumn
from rich.progress import Progress as Bars

from berdseye.app.jobs.reports import report
from berdseye.data.progress import Progress

notes = Console(stderr=True, highlight=False, soft_wrap=True, force_jupyter=False, emoji=False)
_LOGGED_EVERY = 60.0


# Control characters but tab and line feed, the marks that turn the direction of text, and surrogates without a partner.
_UNSEEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def visible(text: str) -> str:
    """`text` with each sign that a terminal would obey rather than show written as Python does, such as `\\x1b`."""
    return _UNSEEN.sub(lambda found: ascii(found[0])[1:-1], text)


def note(text: str) -> None:
    """A line for the person, kept out of what scripts read."""
    notes.print(visible(text), markup=False)


class _Visible(io.TextIOWrapper):
    def write(self, text: str, /) -> int:
        super().write(visible(text))
        return len(text)


@contextmanager
def harmless_output() -> Iterator[None]:
    """Keep names and texts that others wrote from commanding the terminal; what is piped elsewhere stays as it is.

    A text that is no UTF-8 is written with escapes in either case, rather than ending the command.
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
        shown.detach()  # so that its end does not close the terminal
        sys.stdout = before


def print_json(value: Any) -> None:
    """One JSON value on standard output; numbers that are not numbers become null."""
    print(json.dumps(_finite(value), ensure_ascii=False, indent=2))


@contextmanager
def counting(what: str) -> Iterator[Progress]:
    """A line while long work goes on: a count and the time taken; where a total is known, a bar and the time left.

    Where standard error is no terminal, a line a minute is written instead; a job of the app reports it too.
    """
    columns = (TextColumn("{task.description}", markup=False), BarColumn(20), TextColumn("{task.fields[pace]}"))
    with Bars(*columns, console=notes, transient=True, disable=not notes.is_terminal) as bars:
        yield _Counting(what, bars)


class _Counting:
    """Tells a bar; the bar counts in shares of the whole, since a total that is an estimate changes all the time."""

    def __init__(self, what: str, bars: Bars) -> None:
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
        said = pace(task, done, total)
        self._bars.update(self._task, pace=said)
        if self._bars.disable and time.monotonic() - self._logged > _LOGGED_EVERY:
            self._logged = time.monotonic()
            note(f"{self._what}: {what}, {said}")


def pace(task: Task, done: int, total: int | None) -> str:
    """How many are done, how many a second, and the time taken or, where the total is known, the time left."""
    speed = (task.speed or 0) * (total or 1)
    rate = f", {speed:,.0f}/s" if speed else ""
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
