"""`berdseye report methods`: its forms."""

import json

import pytest
from typer.testing import CliRunner

from berdseye.app.cli import cli
from berdseye.data.errors import BadInputError
from berdseye.data.workspace import Workspace
from tests.app.command_line import output


def test_methods_in_each_form(demo_workspace: Workspace) -> None:
    options = ("--labels", "gold", "--measures", "MRecall@5", "--workspace", demo_workspace.folder)
    markdown = output("report", "methods", *options)
    assert markdown.startswith("## Annotation\n")
    assert "| Evaluation | label source | gold |" in markdown
    latex = output("report", "methods", *options, "--format", "latex")
    assert "\\paragraph{Evaluation}" in latex
    assert "\\bottomrule" in latex
    rows = json.loads(output("report", "methods", *options, "--json"), parse_constant=pytest.fail)
    assert {"section": "Evaluation", "what": "measures", "value": "MRecall@5"} in rows


def test_json_has_no_form(demo_workspace: Workspace) -> None:
    arguments = ["report", "methods", "--json", "--format", "latex", "--workspace", str(demo_workspace.folder)]
    with pytest.raises(BadInputError, match="exclude"):
        CliRunner().invoke(cli, arguments, catch_exceptions=False)
