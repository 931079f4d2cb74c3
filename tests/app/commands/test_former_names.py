"""Every former name of a command or option still works, is in no help, and names the present one on standard error."""

import pytest
import typer.main
from typer.testing import CliRunner

from berdseye.app.access.roles import right_of_command
from berdseye.app.cli import cli
from berdseye.app.commands.former_names import COMMANDS, OPTIONS
from berdseye.app.components.command_form import leaf_commands
from berdseye.data.errors import BadInputError, UnknownNameError
from berdseye.data.workspace import Workspace
from berdseye.evaluation.studies.by_name.study_registry import run_study
from berdseye.retrieval.expansion.manual import ManualPerspectives

LEAVES = {" ".join(words): command for words, command in leaf_commands(typer.main.get_command(cli)).items()}
FORMER_OPTIONS = [(command, former, OPTIONS[command][former]) for command in OPTIONS for former in OPTIONS[command]]


@pytest.mark.parametrize(("former", "present"), COMMANDS.items())
def test_a_former_command_is_the_present_one(former: str, present: str) -> None:
    assert former not in LEAVES
    assert present in LEAVES
    result = CliRunner().invoke(cli, [*former.split(), "--help"])
    assert result.exit_code == 0
    assert result.stdout == CliRunner().invoke(cli, [*present.split(), "--help"]).stdout
    assert result.stderr.splitlines() == [
        f"`berdseye {former}` is now called `berdseye {present}`; "
        f"the next version of Berdseye will not accept `berdseye {former}`."
    ]


@pytest.mark.parametrize(("command", "former", "present"), FORMER_OPTIONS)
def test_a_former_option_is_the_present_one(command: str, former: str, present: str) -> None:
    of = [leaf for words, leaf in LEAVES.items() if f"{words} ".startswith(f"{command} ")]
    assert of
    options = [{option for parameter in leaf.params for option in parameter.opts} for leaf in of]
    assert any(present in one for one in options)
    assert not any(former in one for one in options)


def test_a_stored_job_with_a_former_name_needs_the_right_of_the_present_one() -> None:
    assert right_of_command(("label-studio", "send", "first")) == "exchange"
    assert right_of_command(("sides", "Why?", "Because.", "No reason.")) == "research"


def test_a_former_option_has_its_effect(workspace: Workspace) -> None:
    asked = ["judgments", "doctor", "--mend", "-w", str(workspace.folder)]
    result = CliRunner().invoke(cli, asked, catch_exceptions=False)
    assert result.stderr.startswith("--mend is now called --fix;")
    same = CliRunner().invoke(cli, ["study", "list", "--form=text", "-w", str(workspace.folder)])
    assert "--form is now called --format" in same.stderr


def test_an_option_under_both_names_is_refused() -> None:
    result = CliRunner().invoke(cli, ["detector", "train", "--set", "a", "--training-set=b"])
    assert isinstance(result.exception, BadInputError)
    assert "--set is the former name of --training-set" in str(result.exception)


def test_what_follows_two_dashes_is_no_option(workspace: Workspace) -> None:
    asked = ["perspectives", "-w", str(workspace.folder), "--", "Why?", "--form", "--set"]
    result = CliRunner().invoke(cli, asked, catch_exceptions=False)
    assert result.exit_code == 0, result.output
    assert ManualPerspectives(workspace).get("Why?") == ("--form", "--set")


def test_a_former_keyword_of_a_study_is_the_present_one(workspace: Workspace) -> None:
    with (
        pytest.warns(FutureWarning, match="by is now called stratify_by"),
        pytest.raises(UnknownNameError, match="data set"),
    ):
        run_study(workspace, "debateqa", dataset="none", by="style")
    with pytest.raises(BadInputError, match="by is the former name of stratify_by"):
        run_study(workspace, "debateqa", by="style", stratify_by="style")
