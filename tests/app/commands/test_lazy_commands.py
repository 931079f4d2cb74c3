"""The command line and the package start quickly: a command's module is imported when the command is called."""

import json
import subprocess
import sys

import pytest
import typer.main
from typer.testing import CliRunner

from berdseye.app.cli import COMMANDS, cli

HEAVY = {"torch", "transformers", "streamlit", "pandas", "altair", "scipy", "sklearn", "numba", "pyarrow", "sqlalchemy"}
_LOADED = """
import json, sys
{what}
print(json.dumps(sorted(sys.modules)), file=sys.stderr)
"""
_CALL = "from berdseye.app.cli import cli; cli({words!r}, standalone_mode=False)"


def loaded_by(what: str) -> set[str]:
    """The modules that a new process holds after the statement `what`."""
    asked = [sys.executable, "-c", _LOADED.format(what=what)]
    answer = subprocess.run(asked, check=True, capture_output=True, text=True)
    return set(json.loads(answer.stderr.splitlines()[-1]))


@pytest.mark.parametrize("what", ["import berdseye", _CALL.format(words=["--help"])])
def test_import_and_help_load_nothing_heavy_and_no_command(what: str) -> None:
    loaded = loaded_by(what)
    assert loaded & HEAVY == set()
    modules = {f"berdseye.app.commands.{listed.module}" for listed in COMMANDS.values()}
    assert loaded & modules == set()


def test_a_command_loads_its_own_module_alone() -> None:
    loaded = loaded_by(_CALL.format(words=["corpus", "--help"]))
    modules = {f"berdseye.app.commands.{listed.module}" for listed in COMMANDS.values()}
    assert loaded & modules == {"berdseye.app.commands.corpora"}
    assert loaded & {"torch", "transformers", "streamlit", "pandas", "altair"} == set()


_EVERY_HELP = """
import contextlib, io, json, sys
from berdseye.app.cli import COMMANDS, cli
found = {{}}
for name in COMMANDS:
    before = set(sys.modules)
    with contextlib.redirect_stdout(io.StringIO()):
        cli([name, "--help"], standalone_mode=False)
    found[name] = sorted((set(sys.modules) - before) & {heavy!r})
print(json.dumps(found))
"""


def test_the_help_of_no_command_loads_what_its_work_needs() -> None:
    code = _EVERY_HELP.format(heavy=HEAVY | {"duckdb", "httpx", "numpy"})
    answer = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    loaded = json.loads(answer.stdout)
    assert loaded == {name: [] for name in COMMANDS} | {"corpus": ["numpy"]}  # for the default of an option


def test_the_table_says_of_each_command_what_its_own_help_says() -> None:
    group = typer.main.get_command(cli)
    own = {
        name: ((command.short_help or command.help or "").partition("\n\n")[0].replace("\n", " "), command.hidden)
        for name, command in vars(group)["commands"].items()
    }
    assert {name: (listed.help, listed.hidden) for name, listed in COMMANDS.items()} == own


def test_every_command_that_a_module_registers_is_in_the_table() -> None:
    from berdseye.app.commands.loading import commands_of

    held = {(name, module) for module in {m.module for m in COMMANDS.values()} for name in commands_of(module)}
    assert held == {(name, listed.module) for name, listed in COMMANDS.items()}


def test_a_wrong_name_of_a_command_suggests_the_nearest() -> None:
    result = CliRunner().invoke(cli, ["corpsu"])
    assert result.exit_code == 2
    assert "Did you mean 'corpus'" in result.output
