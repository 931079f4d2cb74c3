"""The command `construct dmerit`, killed with SIGKILL in each of its steps, and continued by the same command."""

import json
import signal
from pathlib import Path

import pytest

from berdseye.data.language_models.cache import CompletionCache
from berdseye.data.workspace import Workspace
from berdseye.evaluation.construction.dmerit.kind import evidence_folder
from berdseye.evaluation.construction.opening import open_construction
from berdseye.evaluation.construction.reporting import funnel
from tests.data.wikipedia.made_dump import POPULAR, make_dump
from tests.evaluation.construction.constructed import step_bytes
from tests.evaluation.construction.dmerit.made_wiki import dump_file, reader
from tests.evaluation.construction.killed_commands import AT_ONCE, paid_model

SECONDS = 0.02
DIES = {"identified": 11, "natural": 5}
"""The request of these steps that is under way when the process is killed."""
STEPS = ("sources", "lists", "members", "candidates", "identified", "queries", "natural")


@pytest.mark.full
def test_the_command_killed_in_each_step_resumes_with_the_same_bytes_and_pays_no_call_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = make_dump(dump_file(tmp_path), 420, 12, words=12)
    words = ["construct", "dmerit", "lists", "--source", made.path, "--model", "api(served)"]
    words += ["--most-references", POPULAR - 10, "--workspace"]
    with paid_model(monkeypatch, reader(made), seconds=SECONDS) as paid:
        whole = Workspace.create(tmp_path / "whole")
        assert paid.run(*words, whole.folder) == 0
        assert paid.run("construct", "dataset", "lists", "--workspace", whole.folder) == 0
        calls = set(paid.asked)
        assert len(paid.asked) == len(calls), "each prompt is another one"
        paid.asked.clear()

        workspace = Workspace.create(tmp_path / "killed")
        lost = 0
        for number, step in enumerate(STEPS):
            if step in DIES:
                cache = CompletionCache(workspace)
                asked, stored = len(paid.asked), cache.spent().calls
                assert paid.run(*words, workspace.folder, dies=DIES[step]) == -signal.SIGKILL
                sent, stored = len(paid.asked) - asked, cache.spent().calls - stored
                assert (sent, stored < sent) == (DIES[step], True)
                lost += sent - stored
            assert paid.run(*words, workspace.folder, die_in=step) == -signal.SIGKILL
            finished = [name for name in step_bytes(open_construction(workspace, "lists")) if name.endswith(".json")]
            assert finished == [f"{n:02d}-{name}.json" for n, name in enumerate(STEPS[:number])]
        assert paid.run(*words, workspace.folder) == 0
        assert paid.run("construct", "dataset", "lists", "--workspace", workspace.folder) == 0
    opened, expected = open_construction(workspace, "lists"), open_construction(whole, "lists")
    steps = {name: text for name, text in step_bytes(opened).items() if not name.startswith(".")}
    assert steps == step_bytes(expected)
    for name in ("queries.jsonl", "corpus.jsonl"):
        first, second = (evidence_folder(one.working()) / name for one in (opened, expected))
        assert first.read_bytes() == second.read_bytes()
    assert set(paid.asked) == calls
    assert len(paid.asked) - len(calls) == lost <= 2 * AT_ONCE, "only what was under way is asked again"
    stages = {stage.step: stage for stage in funnel(opened)}
    assert stages["sources"].kept == 12
    assert stages["members"].kept == sum(not column.discarded for one in made.lists for column in one.columns)
    assert json.loads((evidence_folder(opened.working()) / "queries.jsonl").read_text().splitlines()[0])
