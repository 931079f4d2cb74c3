"""The command `construct debateqa`, killed with SIGKILL in each of its steps, and continued by the same command."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from threading import Lock
from typing import Any

import pytest

from berdseye.data.language_models.cache import CompletionCache
from berdseye.data.workspace import Workspace
from berdseye.evaluation.construction.opening import open_construction
from tests.data.language_models.chat_server import Reply, chat_server, completion, last_words, refusal
from tests.evaluation.construction.constructed import step_bytes
from tests.evaluation.construction.debateqa.scripted_debates import CORPUS, answer, debate_workspace, write_files

AT_ONCE = 8
"""The requests that a process may have under way."""
SECONDS = 0.05
"""How long an answer takes: models are slower than the disk that completions are stored on."""
STEPS = ("sources", "duplicates", "queries", "evidence", "views", "points", "distinct", "explanations", "verified")
_COMMAND = """
import os, signal, sys
from berdseye.evaluation.construction import stored

step, write = sys.argv.pop(1), stored.write_rows

def dying(path, rows):
    def half():
        for place, row in enumerate(rows):
            if place == len(rows) // 2:
                os.kill(os.getpid(), signal.SIGKILL)
            yield row
    write(path, half() if path.stem.endswith(f"-{step}") else rows)

stored.write_rows = dying
from berdseye.app.cli import main
main()
"""
"""The command line, which kills its own process when half of the rows of the step that is its first argument are written."""


class Paid:
    """A model behind a server, which kills the process that asks it when `dies` requests are answered."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.process: subprocess.Popen[bytes] | None = None
        self.dies: int | None = None
        self._lock = Lock()

    def __call__(self, body: dict[str, Any]) -> Reply:
        with self._lock:
            process, text = self.process, last_words(body)
            if process is None or self.dies == 0:
                return refusal(500)
            self.asked.append(text)
            if self.dies is not None:
                self.dies -= 1
                if self.dies == 0:
                    os.kill(process.pid, signal.SIGKILL)
                    return refusal(500)
            time.sleep(SECONDS)
            return completion(answer(text))


@pytest.fixture
def paid(monkeypatch: pytest.MonkeyPatch) -> Iterator[Paid]:
    model = Paid()
    with chat_server(model) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        monkeypatch.setenv("OPENAI_API_KEY", "none")
        monkeypatch.delenv("BERDSEYE_JUDGMENTS_URL", raising=False)
        yield model


def run(paid: Paid, workspace: Workspace, files: Path, *, die_in: str = "nothing", dies: int | None = None) -> int:
    """Return the exit status of the command; with `dies`, it is killed while that request is under way."""
    words = ["construct", "debateqa", "debate", "--source", f"delphi={files / 'delphi.jsonl'}", "--test", "3"]
    words += ["--source", f"web={files / 'web.csv'}", "--corpora", CORPUS, "--model", "api(served)"]
    command = [sys.executable, "-c", _COMMAND, die_in, *words, "--workspace", str(workspace.folder)]
    paid.dies = dies
    paid.process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return paid.process.wait(timeout=300)


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
