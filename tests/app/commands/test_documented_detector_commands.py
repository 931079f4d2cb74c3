"""Every command that the pages about detectors show exists and is called with options and arguments that it takes."""

import re
import shlex
from pathlib import Path
from typing import Any

import pytest
import typer

from berdseye.app.cli import cli

ROOT = Path(__file__).parents[3]
PAGES = (
    "detectors/README.md",
    "detectors/weights/README.md",
    "detectors/weights/experiments.md",
    "docs/detector-tables.md",
    "docs/command-line.md",
)
RUNS = "--run RUN"
"""What RUNS stands for in the recipe of BERDS."""


def shown(page: str) -> list[str]:
    """The commands in blocks of the shell and in backticks that begin with `berdseye` or with `detector`."""
    text = (ROOT / page).read_text(encoding="utf-8")
    blocks = re.findall(r"```sh\n(.*?)```", text, re.DOTALL)
    lines = [line.split("  #")[0] for block in blocks for line in block.splitlines()]
    words = re.findall(r"`((?:berdseye|detector) [^`]+)`", re.sub(r"```.*?```", "", text, flags=re.DOTALL))
    return [*(line for line in lines if line.startswith("berdseye ")), *(" ".join(w.split()) for w in words)]


@pytest.mark.parametrize("page", PAGES)
def test_commands_are_called_as_they_are_written(page: str) -> None:
    commands = shown(page)
    assert commands
    for written in commands:
        words = [word for word in shlex.split(written.replace("RUNS", RUNS)) if word != "berdseye"]
        found: Any = typer.main.get_command(cli)
        while words and hasattr(found, "commands"):
            found = found.commands[words.pop(0)]
        if words:  # a name alone is a mention of the command
            context = found.make_context("berdseye", words)
            assert context.params, written
