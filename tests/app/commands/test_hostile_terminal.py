"""Words of strangers on a terminal: they are shown, and command nothing."""

import io
import sys

import pytest
import typer
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from berdseye.app.cli import main
from berdseye.app.commands import console
from berdseye.app.commands.console import escaped_for_terminal, escaped_output, note
from berdseye.app.commands.guarding import guard
from berdseye.data.errors import BadInputError

ATTACKS = (
    "\x1b[2J\x1b[31mred",  # clear the screen
    "\x1b]8;;http://evil.example\x1b\\link\x1b]8;;\x1b\\",  # a link
    "\x1b]0;title\x07",
    "\x9b31m",  # one-character form of the same
    "kept\rforged",
    "a\u202etxt.exe\u202c",
    "\u2066a\u2069",
    "\x08\x08\x08gone",
    "\x00",
    "[red]markup[/red] [link=http://evil.example]x[/link] :smile:",
    "\ud800",
)


class Terminal(io.TextIOWrapper):
    """A standard output that says it is a terminal."""

    def __init__(self, *, tty: bool = True) -> None:
        self.held = io.BytesIO()
        self.tty = tty
        super().__init__(self.held, "utf-8")

    def isatty(self) -> bool:
        return self.tty

    @property
    def shown(self) -> str:
        self.flush()
        return self.held.getvalue().decode("utf-8")


def obeyed(text: str) -> list[str]:
    """Signs in it that a terminal obeys."""
    return [
        c
        for c in text
        if c not in "\t\n" and (ord(c) < 32 or 0x7F <= ord(c) < 0xA0 or c in "\u202a\u202b\u202c\u202d\u202e")
    ]


@given(st.text())
def test_what_is_visible_commands_nothing_and_loses_nothing(text: str) -> None:
    shown = escaped_for_terminal(text)
    assert obeyed(shown) == []
    if not obeyed(text):
        assert shown == escaped_for_terminal(shown)
    shown.encode("utf-8")


@pytest.mark.parametrize("text", ["Ä 漢字 العربية 👩‍🏫", "tab\tand\nlines", "[1] a:b"])
def test_ordinary_words_stay_as_they_are(text: str) -> None:
    assert escaped_for_terminal(text) == text


@pytest.mark.parametrize("attack", ATTACKS)
def test_a_command_prints_names_that_command_nothing(attack: str, monkeypatch: pytest.MonkeyPatch) -> None:
    group = typer.Typer()

    @group.command("restore")  # one that asks for nobody
    def restore() -> None:
        print(f"name\t{attack}")
        typer.echo(attack)
        sys.stdout.write(attack)

    guard(group)
    monkeypatch.setattr(sys, "stdout", terminal := Terminal())
    group(standalone_mode=False, args=[])
    assert sys.stdout is terminal
    assert obeyed(terminal.shown) == []
    assert terminal.shown.startswith(f"name\t{escaped_for_terminal(attack)}\n")
    assert not terminal.closed


def test_what_is_piped_stays_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdout", pipe := Terminal(tty=False))
    with escaped_output():
        print("a\x1b[31m\rb")
        print("half \ud800")
    assert pipe.shown == "a\x1b[31m\rb\nhalf \\ud800\n"


@pytest.mark.parametrize("attack", ATTACKS)
def test_notes_and_errors_command_nothing(
    attack: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    terminal = io.StringIO()
    monkeypatch.setattr(
        console, "notes", Console(file=terminal, force_terminal=True, highlight=False, soft_wrap=True, emoji=False)
    )
    note(f"corpus {attack}")

    def fail() -> None:
        raise BadInputError(f"No corpus '{attack}'.", where=attack)

    monkeypatch.setattr("berdseye.app.cli.cli", fail)
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 2
    assert obeyed(terminal.getvalue()) == []
    assert terminal.getvalue().splitlines()[0] == f"corpus {escaped_for_terminal(attack)}"
    assert "smile" in terminal.getvalue() or "smile" not in attack
    assert capsys.readouterr().out == ""


def test_notes_read_no_emoji_codes_and_no_markup() -> None:
    assert console.notes._emoji is False
