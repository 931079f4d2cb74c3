"""The command `construct debateqa`, killed with SIGKILL in each of its steps, and continued by the same command."""

import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from berdseye.data.language_models.cache import CompletionCache
from berdseye.data.workspace import Workspace
from berdseye.evaluation.construction.opening import open_construction
from tests.evaluation.construction.constructed import step_bytes
from tests.evaluation.construction.debateqa.scripted_debates import CORPUS, answer, debate_workspace, write_files
from tests.evaluation.construction.killed_commands import AT_ONCE, Paid, paid_model

SECONDS = 0.05
"""How long an answer takes: models are slower than the disk that completions are stored on."""
STEPS = ("sources", "duplicates", "queries", "evidence", "views", "points", "distinct", "explanations", "verified")


@pytest.fixture
def paid(monkeypatch: pytest.MonkeyPatch) -> Iterator[Paid]:
    with paid_model(monkeypatch, answer, seconds=SECONDS) as model:
        yield model


def run(paid: Paid, workspace: Workspace, files: Path, *, die_in: str = "nothing", dies: int | None = None) -> int:
    words = ["construct", "debateqa", "debate", "--source", f"delphi={files / 'delphi.jsonl'}", "--test", "3"]
    words += ["--source", f"web={files / 'web.csv'}", "--corpora", CORPUS, "--model", "api(served)"]
    return paid.run(*words, "--workspace", workspace.folder, die_in=die_in, dies=dies)


@pytest.mark.full
def test_a_command_killed_in_each_step_resumes_with_the_same_bytes_and_pays_no_call_twice(
    shared_data: Path, tmp_path: Path, paid: Paid
) -> None:
    files = tmp_path / "files"
    write_files(files, shared_data)
    whole = debate_workspace(tmp_path / "whole", files / "pages.jsonl")
    assert run(paid, whole, files) == 0
    calls = set(paid.asked)
    assert len(paid.asked) == len(calls), "each prompt is another one"
    paid.asked.clear()

    workspace = debate_workspace(tmp_path / "killed", files / "pages.jsonl")
    cache, lost = CompletionCache(workspace), 0
    for step in STEPS:
        finished = "" if step == "sources" else STEPS[STEPS.index(step) - 1]
        if step in ("queries", "views", "explanations"):
            before = (len(paid.asked), cache.spent().calls)
            assert run(paid, workspace, files, dies=11) == -signal.SIGKILL
            sent, stored = len(paid.asked) - before[0], cache.spent().calls - before[1]
            assert (sent, 11 - AT_ONCE <= stored < sent) == (11, True)
            lost += sent - stored
        assert run(paid, workspace, files, die_in=step) == -signal.SIGKILL
        made = step_bytes(open_construction(workspace, "debate"))
        assert not [name for name in made if name.endswith(f"-{step}.json")], "the killed step is not finished"
        assert not finished or [name for name in made if name.endswith(f"-{finished}.json")]
    assert run(paid, workspace, files) == 0
    made, expected = (step_bytes(open_construction(own, "debate")) for own in (workspace, whole))
    assert {name: text for name, text in made.items() if not name.startswith(".")} == expected
    assert set(paid.asked) == calls
    assert len(paid.asked) - len(calls) == lost, "only what was under way when the process died is asked again"
    assert cache.spent().calls == len(calls)
