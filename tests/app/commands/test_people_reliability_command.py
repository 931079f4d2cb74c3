"""`berdseye people reliability` and `berdseye power`."""

import json

import pytest
from typer.testing import CliRunner

from berdseye.annotation.judgments.log import Judgments
from berdseye.app.cli import cli
from berdseye.data.errors import BadInputError
from berdseye.data.workspace import Workspace
from berdseye.evaluation.agreement.people import contested_pairs
from tests.app.command_line import output


def test_people_and_pairs_of_the_demo(demo_workspace: Workspace, demo_judgments: Judgments) -> None:
    folder = demo_workspace.folder
    people = json.loads(output("people", "reliability", "--workspace", folder, "--json"), parse_constant=pytest.fail)
    assert people
    assert all(row["sensitivity_low"] <= row["sensitivity"] <= row["sensitivity_high"] for row in people)
    assert all(0 < row["shared"] <= row["n"] for row in people)
    assert [row["youden"] for row in people] == sorted((row["youden"] for row in people), reverse=True)
    pairs = json.loads(output("people", "reliability", "--part", "pairs", "--workspace", folder, "--json"))
    assert sum(row["n"] for row in pairs) == sum(row["n"] for row in people)
    contested = json.loads(output("people", "reliability", "--part", "contested", "--workspace", folder, "--json"))
    assert {row["item"] for row in contested} == {row["item"] for row in pairs if row["contested"]}
    assert list(contested_pairs(demo_judgments)["item"]) == [r["item"] for r in contested]


def test_contested_pairs_need_dawid_skene(demo_workspace: Workspace) -> None:
    options = ("--part", "contested", "--model", "glad", "--workspace", str(demo_workspace.folder))
    with pytest.raises(BadInputError, match="contested"):
        CliRunner().invoke(cli, ["people", "reliability", *options], catch_exceptions=False)


@pytest.mark.parametrize(
    ("arguments", "number"),
    [
        (("questions", "--difference", 0.05, "--deviation", 0.2), "128"),
        (("pairs", "--kappa", 0, "--width", 0.2), "385"),
        (("people", "--accuracy", 0.8, "--wanted", 0.89), "3"),
    ],
)
def test_power_prints_one_number(arguments: tuple[object, ...], number: str) -> None:
    assert output("power", *arguments).strip() == number
