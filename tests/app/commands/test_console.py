"""The line that tells how far long work is."""

import io
import time
from types import SimpleNamespace
from typing import Any, cast

import pytest
from rich.console import Console

from berdseye.app.commands import console


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> io.StringIO:
    written = io.StringIO()
    monkeypatch.setattr(console, "notes", Console(file=written, force_terminal=True, width=120, color_system=None))
    return written


def wait_for(terminal: io.StringIO, text: str) -> None:
    """Return when the line, which is drawn ten times a second, has shown a text; a busy machine may take longer."""
    end = time.monotonic() + 20
    while text not in terminal.getvalue() and time.monotonic() < end:
        time.sleep(0.02)


def test_with_a_known_total_it_shows_the_share_the_rate_and_the_time_left(terminal: io.StringIO) -> None:
    with console.counting("wikipedia") as progress:
        for done in (100, 200, 300, 500):
            progress(done, "passages", 1000 + done // 10)  # the total is an estimate, and changes
            wait_for(terminal, f"({done})")
    said = terminal.getvalue()
    assert "wikipedia: passages" in said
    assert "48% of 1,050 (500)" in said
    assert "/s" in said
    assert "0:00:0" in said
    assert " left" in said


def test_where_none_is_known_it_counts(terminal: io.StringIO) -> None:
    with console.counting("web") as progress:
        progress(1234, "passages")
        wait_for(terminal, "1,234")
        progress(5, "passages put in place", 10)
        wait_for(terminal, "50% of 10 (5)")
    said = terminal.getvalue()
    assert "web: passages" in said
    assert "1,234" in said
    assert "50% of 10 (5)" in said


def test_away_from_a_terminal_it_writes_a_line_now_and_then(monkeypatch: pytest.MonkeyPatch) -> None:
    written = io.StringIO()
    monkeypatch.setattr(console, "notes", Console(file=written, width=200))
    monkeypatch.setattr(console, "_LOGGED_EVERY", 0.0)
    with console.counting("web") as progress:
        progress(20, "passages", 100)
    assert written.getvalue().startswith("web: passages, 20% of 100 (20)")


@pytest.mark.parametrize(
    ("speed", "said"),
    [(None, ""), (0.1, ", 30/s"), (0.001, ", 18/min"), (5e-5, ", 54/h"), (5e-7, "")],
)
def test_less_than_one_a_second_is_counted_by_the_minute_or_hour(speed: float | None, said: str) -> None:
    task = cast(Any, SimpleNamespace(speed=speed, time_remaining=None, elapsed=1.0))
    assert console.pace(task, 60, 300) == f"20% of 300 (60){said}"
