"""Seconds to bring 2,000 pairs with predictions to Label Studio, and to read them back."""

import time
from pathlib import Path

import pytest

from berdseye.annotation.judgments.log import Judgments, PairRecord
from berdseye.annotation.label_studio.connection import connect
from berdseye.annotation.label_studio.project import find_or_create
from berdseye.annotation.label_studio.pull import pull
from berdseye.annotation.label_studio.push import push
from berdseye.annotation.label_studio.server import start
from berdseye.data.records import DetectorVersion
from berdseye.data.workspace import Workspace

_PAIRS = 2000
_PUSH_BAR = 15.0
_PULL_BAR = 10.0


@pytest.mark.benchmark
def test_pushing_two_thousand_pairs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("BERDSEYE_LABEL_STUDIO_URL", "BERDSEYE_LABEL_STUDIO_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    workspace = Workspace.create(tmp_path / "workspace")
    judgments = Judgments.open(workspace.judgments_url)
    people = [judgments.sign_in(name) for name in ("Ana", "Bo", "Cy")]
    keys = judgments.add_pairs(
        PairRecord(
            "bench",
            f"q{i % 50}",
            "A question?",
            f"Perspective {i}.",
            "supporting",
            "bench",
            f"Title {i}",
            f"Passage {i}. " + "Some twelve words of text that stand for a real passage here. " * 8,
        )
        for i in range(_PAIRS)
    )
    labels = {key: ((i % 100) / 100, i % 100 >= 50) for i, key in enumerate(keys)}
    server = start(workspace.label_studio_folder, 0)
    try:
        server.ready(180)
        connection = connect(workspace)
        project = find_or_create(connection, "Berdseye")

        began = time.perf_counter()
        report = push(judgments, connection, project, keys, labels, DetectorVersion("embedded"))
        seconds = time.perf_counter() - began
        print(f"\npush of {_PAIRS} pairs with predictions: {seconds:.1f} s (bar {_PUSH_BAR:.0f} s)")
        assert (report.tasks_created, report.predictions) == (_PAIRS, _PAIRS)
        assert seconds < _PUSH_BAR

        for person in people:
            judgments.judge(person, keys[0], "supports", source="annotate")
        began = time.perf_counter()
        push(judgments, connection, project, keys[:1])
        print(f"push of three judgments on one of them: {time.perf_counter() - began:.2f} s")
        began = time.perf_counter()
        pull(judgments, connection, project)
        seconds = time.perf_counter() - began
        print(f"pull of {_PAIRS} tasks: {seconds:.1f} s (bar {_PULL_BAR:.0f} s)")
        assert seconds < _PULL_BAR
    finally:
        server.stop()
        judgments.engine.dispose()
