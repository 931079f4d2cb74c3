"""The page Studies: a form for every command, studies that run beside the app, and their results."""

import time

import pytest
import typer.main

from berdseye.app.cli import cli
from berdseye.app.components.command_form import leaf_commands
from berdseye.app.jobs import studies
from berdseye.data.workspace import Workspace
from berdseye.evaluation.studies.result import list_results
from tests.app.drawn_page import again, drawn, says

WITHIN = 120.0
COMMANDS = [
    " ".join(words)
    for words in leaf_commands(vars(typer.main.get_command(cli))["commands"]["study"])
    if words[0] not in ("list", "show")
]


def finished(workspace: Workspace) -> list[str]:
    """The names of the results of what was started, once nothing runs any more."""
    until = time.monotonic() + WITHIN
    while time.monotonic() < until:
        held, done = studies.jobs(workspace)
        if done or not any(job.runs for job in held):
            return done
        time.sleep(0.2)
    raise AssertionError("The study did not end.")


@pytest.mark.parametrize("command", COMMANDS)
def test_every_study_has_a_form_and_an_example(demo: Workspace, command: str) -> None:
    at = drawn("studies", study=command)
    assert next(b for b in at.button if b.label == "Run the study")
    assert f"berdseye study {command}" in at.code[0].value
    assert list_results(demo) == []


@pytest.mark.usefixtures("demo")
def test_a_form_shows_what_is_decided_first_and_folds_the_rest() -> None:
    at = drawn("studies", study="pir")
    folded = next(e for e in at.expander if e.label == "More options")
    inside = [w.label for kind in (folded.multiselect, folded.selectbox, folded.text_input) for w in kind]
    everywhere = [w.label for kind in (at.multiselect, at.selectbox, at.text_input) for w in kind]
    assert {"Encoder", "Model", "Seed"} <= set(inside)
    assert {"Files", "Pipeline", "Top k"} <= set(everywhere) - set(inside)
    assert "K" not in everywhere


def test_a_study_is_started_and_its_result_is_shown(demo: Workspace) -> None:
    at = drawn("studies", study="berds union")
    next(w for w in at.multiselect if w.label == "Pipeline").set_value(["bm25"])
    next(w for w in at.multiselect if w.label == "Corpus").set_value(["web"])
    next(w for w in at.text_input if w.label == "Depth").set_value("10")
    next(b for b in at.button if b.label == "Run the study").click()
    again(at)
    [name] = finished(demo)
    assert list_results(demo) == [name]
    at = drawn("studies", result=name)
    table = at.dataframe[0].value
    assert table["corpus"].tolist() == ["web"]  # the published unions are of the top 100, not of the top 10
    assert says(at, r"\blabels\b.*human>gold>stance", "caption")
    assert says(at, r"\bdepth\b\D*\b10\b", "caption")
    assert len(at.get("vega_lite_chart")) == 1


def test_a_study_that_fails_shows_why_and_is_dismissed(demo: Workspace) -> None:
    studies.start(demo, ("berds", "base", "--pipeline", "bm26"))
    assert finished(demo) == []
    at = drawn("studies")
    assert says(at, r":material/error:.*berds base --pipeline bm26")
    assert "bm25" in at.code[-1].value
    next(b for b in at.button if b.label == "Dismiss").click()
    again(at)
    assert studies.jobs(demo) == ([], [])
