"""evaluation/README.md names what there is, and all of it."""

import re
from pathlib import Path

import pytest
import typer.main

from berdseye.app.cli import cli
from berdseye.app.components.command_form import leaf_commands
from berdseye.evaluation.labels.sources import parse_label_source
from berdseye.evaluation.measures import MEASURES, parse_measures

PAGE = (Path(__file__).parents[2] / "evaluation" / "README.md").read_text(encoding="utf-8")
FIRST_COLUMN = re.findall(r"^\| `([^`]+)`", PAGE, re.MULTILINE)
NAMES = [name for name in FIRST_COLUMN if name.partition("@")[0] in MEASURES]
SOURCES = re.findall(
    r"^\| `([^`-][^`]*)`", PAGE.partition("## Label sources")[2].partition("## Studies")[0], re.MULTILINE
)


def test_every_measure_is_in_the_table() -> None:
    assert {m.name for name in NAMES for m in parse_measures(name)} == set(MEASURES)


def test_every_study_is_in_the_table() -> None:
    studies = vars(typer.main.get_command(cli))["commands"]["study"]
    commands = {"berdseye study " + " ".join(words) for words in leaf_commands(studies)}
    told = {name for name in FIRST_COLUMN if name.startswith("berdseye study")}
    assert told == commands - {"berdseye study list", "berdseye study show"}


@pytest.mark.parametrize("name", SOURCES)
def test_label_sources_parse_to_what_they_say(name: str) -> None:
    assert str(parse_label_source(name)) == name
