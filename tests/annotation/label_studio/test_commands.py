"""A batch through the commands: sent, received, listed; and a file there and back."""

import json
import re
from pathlib import Path
from uuid import uuid4

import pytest
from there import annotate, pair, user_of
from typer.testing import CliRunner

from berdseye.annotation.batches.stored import BatchPlan, Item, create_batch
from berdseye.annotation.judgments.log import Annotator, Judgments
from berdseye.annotation.label_studio.connection import Connection
from berdseye.annotation.label_studio.form import RecordedVerdict
from berdseye.annotation.label_studio.project import batch_purposes, find_or_create, project_by_mark
from berdseye.annotation.label_studio.tasks import all_tasks
from berdseye.app.cli import cli
from berdseye.data.errors import BadInputError
from berdseye.data.settings_file import read_settings, save_settings
from berdseye.data.workspace import Workspace
from berdseye.detectors.detector_registry import parse_detector
from berdseye.detectors.opinions import grade_of
from berdseye.detectors.trained import adopted_detector

pytestmark = pytest.mark.label_studio


def run(workspace: Workspace, *words: str) -> str:
    done = CliRunner().invoke(cli, [*words, "--workspace", str(workspace.folder)])
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    return done.output


def test_a_batch_is_sent_received_and_listed(
    judgments: Judgments, people: list[Annotator], connection: Connection, workspace: Workspace
) -> None:
    name = f"batch-{uuid4().hex[:6]}"
    batch = create_batch(judgments, BatchPlan(name, people=(people[0].name,)), [Item(pair(0)), Item(pair(1))])
    with pytest.raises(BadInputError, match="was not pushed"):
        run(workspace, "label-studio", "pull", name)
    sent = json.loads(run(workspace, "label-studio", "push", name, "--json"))
    assert [(one["project"], one["tasks_created"]) for one in sent] == [(f"Batch {name}: {people[0].name}"[:50], 2)]
    (purpose,) = batch_purposes(judgments, batch.id)
    number = int(purpose.project.partition("@")[0])
    assert project_by_mark(connection, sent[0]["project"], "Berdseye") is not None
    annotate(
        connection, all_tasks(connection, number)[0], user_of(connection, people[0]), RecordedVerdict("supports", "")
    )
    received = run(workspace, "label-studio", "receive", name)
    assert "pulled 1 new" in received
    (listed,) = json.loads(run(workspace, "label-studio", "projects", "--json"))
    assert (listed["batch"], listed["person"], listed["tasks"], listed["waiting"]) == (name, people[0].name, 2, 0)
    assert listed["received"].startswith("20")
    told = run(workspace, "label-studio", "check")
    assert connection.url in told
    assert "legacy token" in told


def test_the_project_of_the_workspace_shows_the_labels_of_the_adopted_detector(
    judgments: Judgments, people: list[Annotator], connection: Connection, workspace: Workspace
) -> None:
    title = f"Own {uuid4().hex[:8]}"
    save_settings(workspace, {("label_studio", "project"): title}, read_settings(workspace).version)
    create_batch(judgments, BatchPlan("blind"), [Item(pair(0))])
    for one in judgments.add_pairs([pair(0), pair(1)]):
        judgments.judge(people[0], one, "supports", source="annotate")
    run(workspace, "judgments", "push")
    detector = parse_detector(adopted_detector(workspace), workspace)
    assert grade_of(workspace, detector) == "stance"
    project = find_or_create(connection, title)
    assert project.model_version == f"{detector.name} {detector.version}"
    tasks = {task.key: task for task in all_tasks(connection, project.id, versions=True)}
    blind, labelled = tasks[pair(0).key], tasks[pair(1).key]
    assert (blind.data["detector"], blind.predicted) == ("(no label)", False)
    assert labelled.versions == {project.model_version}
    assert re.fullmatch(
        rf"{detector.name}: (supports|does not support), P\(supports\) = \d\.\d\d", labelled.data["detector"]
    )


def test_a_file_goes_out_and_comes_in(judgments: Judgments, workspace: Workspace, tmp_path: Path) -> None:
    create_batch(judgments, BatchPlan("far"), [Item(pair(0))])
    path = tmp_path / "tasks.json"
    run(workspace, "batch", "export", "far", str(path), "--label-studio")
    assert path.with_suffix(".config.xml").read_text().startswith("<View>")
    (task,) = json.loads(path.read_text())
    result = [{"from_name": "verdict", "value": {"choices": ["unsure"]}}]
    said = {"id": 1, "completed_by": 4, "updated_at": "2026-01-01T00:00:00Z", "result": result}
    path.write_text(json.dumps([task | {"annotations": [said]}]))
    assert "only the id 4 of its author" in run(workspace, "judgments", "import", str(path))
    assert "1 judgments new" in run(workspace, "judgments", "import", str(path), "--annotator", "4=Ana")
    assert [(j.annotator.name, j.verdict) for j in judgments.present()] == [("Ana", "unsure")]
    with pytest.raises(BadInputError, match="--choice"):
        run(workspace, "judgments", "import", str(path), "--choice", "yes")
