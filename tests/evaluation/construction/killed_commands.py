"""Commands of constructions in processes of their own, which are killed in a chosen step or at a chosen request."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Lock
from typing import Any

import pytest

from tests.data.language_models.chat_server import Reply, chat_server, completion, last_words, refusal

AT_ONCE = 8
"""The requests that a process may have under way."""
COMMAND = """
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
    """A model behind a server, whose answers take `seconds`, and which kills the process that asks it when `dies` are given."""

    def __init__(self, answer: Callable[[str], str], seconds: float) -> None:
        self.answer, self.seconds = answer, seconds
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
            time.sleep(self.seconds)
            return completion(self.answer(text))

    def run(self, *words: object, die_in: str = "nothing", dies: int | None = None) -> int:
        """Return the exit status of `berdseye WORDS`; with `dies`, it is killed while that request is under way."""
        self.dies = dies
        command = [sys.executable, "-c", COMMAND, die_in, *map(str, words)]
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        return self.process.wait(timeout=300)


@contextmanager
def paid_model(monkeypatch: pytest.MonkeyPatch, answer: Callable[[str], str], *, seconds: float) -> Iterator[Paid]:
    """Serve a model to the commands of a test."""
    model = Paid(answer, seconds)
    with chat_server(model) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        monkeypatch.setenv("OPENAI_API_KEY", "none")
        monkeypatch.delenv("BERDSEYE_JUDGMENTS_URL", raising=False)
        yield model
