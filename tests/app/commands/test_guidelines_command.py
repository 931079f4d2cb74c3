"""`berdseye guidelines`: texts by version, which one is in use, and presets of batches with their own."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from berdseye.annotation.batches.stored import TASKS, load_batch
from berdseye.annotation.guidelines.versions import in_use, packaged, version_of
from berdseye.annotation.judgments.log import Judgments
from berdseye.app.cli import cli
from berdseye.data.errors import BadInputError, BerdseyeError
from berdseye.data.workspace import Workspace
from berdseye.detectors.detector_registry import parse_detector
from berdseye.detectors.opinions import Graded, write_grade
from tests.app.command_line import output


@pytest.fixture
def held(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Judgments:
    workspace = Workspace.create(tmp_path / "workspace")
    monkeypatch.setenv("BERDSEYE_WORKSPACE", str(workspace.folder))
    monkeypatch.delenv("BERDSEYE_JUDGMENTS_URL", raising=False)
    return Judgments.open(workspace.judgments_url)


def test_texts_come_and_go_and_none_is_lost(held: Judgments, tmp_path: Path) -> None:
    assert output("guidelines", "show").strip() == packaged("judge").text
    (tmp_path / "ours.md").write_text("# Ours\n\n- be kind\n  - always\n", encoding="utf-8")
    output("guidelines", "set", tmp_path / "ours.md")
    assert output("guidelines", "show") == "# Ours\n\n- be kind\n  - always\n"
    assert output("guidelines", "show", "--task", "prefer").strip() == packaged("prefer").text
    ours = in_use(held)
    assert ours.version == version_of(ours.text) != packaged("judge").version
    output("guidelines", "set")
    assert in_use(held) == packaged("judge")
    assert output("guidelines", "show", ours.version).startswith("# Ours")
    listed = {row["version"]: row["used_for"] for row in json.loads(output("guidelines", "list", "--json"))}
    assert listed == {
        ours.version: [],
        **{packaged(task).version: [task] for task in TASKS},
    }


def test_a_preset_is_a_task_with_guidelines_of_its_own(held: Judgments, tmp_path: Path) -> None:
    answers = tmp_path / "answers.jsonl"
    answers.write_text('{"question": "Why?", "first": "Because.", "second": "No reason."}\n')
    (tmp_path / "own.md").write_text("Which is **kinder**?")
    output(
        "batch", "create", "better", "--preset", "debateqa", "--answers", answers, "--guidelines", tmp_path / "own.md"
    )
    pairs = tmp_path / "pairs.tsv"
    pairs.write_text("document\tperspective\nZoos teach.\tZoos teach.\nTrams run.\tZoos teach.\n")
    verify = ("batch", "create", "right", "--preset", "dmerit", "--file", pairs, "--detector", "embedded")
    with pytest.raises(BadInputError, match="embedded has the grade topic"):
        output(*verify)
    version = parse_detector("embedded").version
    write_grade(Workspace.open(tmp_path / "workspace"), Graded("embedded", version, "stance", 0.9, 0.8, 1.0, 87))
    output(*verify)
    better, right = load_batch(held, "better"), load_batch(held, "right")
    assert (better.task, better.recipe["preset"]) == ("prefer", "debateqa")
    assert in_use(held, better.task, better).text == "Which is **kinder**?"
    assert (right.task, right.blind, right.recipe["preset"]) == ("verify", False, "dmerit")
    assert in_use(held, right.task, right) == packaged("verify")
    output("guidelines", "set", tmp_path / "own.md", "--task", "verify")
    assert in_use(held, right.task, right).text == "Which is **kinder**?"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("guidelines", "show", "nothing"), "version of the guidelines"),
        (("guidelines", "set", "no-such-file.md"), "cannot be read"),
        (("batch", "create", "x", "--preset", "debateqa", "--file", "pairs.tsv"), "--answers"),
        (("batch", "create", "x", "--preset", "dmerit", "--run", "r", "--task", "prefer"), "verify"),
    ],
)
@pytest.mark.usefixtures("held")
def test_wrong_arguments_are_named(arguments: tuple[str, ...], said: str) -> None:
    result = CliRunner().invoke(cli, list(arguments))
    assert isinstance(result.exception, BerdseyeError)
    assert said in str(result.exception)
