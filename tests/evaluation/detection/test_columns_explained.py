"""docs/detector-tables.md explains every column that the commands on detectors print, under the heading of each command."""

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import typer

from berdseye.app.cli import cli
from berdseye.detectors.detector_registry import parse_detector
from berdseye.detectors.listing import Listed
from berdseye.detectors.stance.held_out import HeldOut, Scored
from berdseye.evaluation.detection.contrast import contrast, contrast_table
from berdseye.evaluation.detection.first_pages import COLUMNS
from berdseye.evaluation.detection.transfer import (
    carried,
    carried_table,
    figures,
    kinds_table,
    sides_table,
    transfer,
    transfer_table,
    written_table,
)

PAGE = Path(__file__).parents[3] / "docs" / "detector-tables.md"
COMMANDS = ("list", "contrast", "first-pages", "transfer")


def explained(command: str) -> set[str]:
    """The names in backticks in the first cell of each row of the tables under a command's heading."""
    section = PAGE.read_text(encoding="utf-8").split(f"\n## detector {command}\n")[1].split("\n## ")[0]
    cells = [line.split("|")[1] for line in section.splitlines() if line.startswith("| ")]
    return {name for cell in cells for name in re.findall(r"`([^`]+)`", cell)}


def named(columns: Any) -> set[str]:
    return {str(column) for column in columns if not str(column).endswith(("_low", "_high"))}


def test_columns_of_tables_without_data_of_others() -> None:
    pairs = [HeldOut(f"p{n}", "q", n % 4 == 0, "claim" if n % 2 else "own", f"t{n % 7}") for n in range(80)]
    one = Scored(pairs, np.random.default_rng(0).random(80).astype(np.float32))
    result = {"detector": "random", "figures": {"debates": figures(one, 0.5)},
              "carried": {"debates": carried(one, 0.4, 0.5, 0.2)}}  # fmt: skip
    moved = carried_table([result])
    assert named(contrast_table(contrast(parse_detector("random")))) == explained("contrast")
    assert set(COLUMNS) == explained("first-pages")
    # `adopted` is the mark of the line, which the text explains.
    assert set(Listed._fields) == explained("list") | {"adopted"}
    of_transfer = named(transfer_table([result])) | named(kinds_table([result])) | named(moved)
    assert of_transfer | set(moved["threshold"]) <= explained("transfer")


def test_columns_of_the_published_data(shared_data: Path) -> None:
    result = transfer(parse_detector("random"), shared_data, sample=20) | {"memory_mib": 1}
    kinds = kinds_table([result])
    written = written_table([result])
    columns = named(sides_table([result])) | named(written) | set(kinds["against"])
    assert columns | {kind.removesuffix(" for").removesuffix(" against") for kind in written["written"]} <= explained(
        "transfer"
    )


@pytest.mark.parametrize("command", COMMANDS)
def test_the_help_of_each_command_names_the_page(command: str) -> None:
    group: Any = typer.main.get_command(cli)
    assert PAGE.name in " ".join(group.commands["detector"].commands[command].help.split())
