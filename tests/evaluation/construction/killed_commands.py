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

from tests.data.language_models.chat_server import ChatServer, Reply, completion, last_words, refusal, serving

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


class Paid(ChatServer):
    """A model whose answers take `seconds`, and which kills the process that asks it when `dies` are given."""

    def __init__(self, answer: Callable[[str], str], seconds: float) -> None:
        super().__init__(lambda body: completion(answer(last_words(body))))
        self.seconds = seconds
        self.asked: list[str] = []
        self.process: subprocess.Popen[bytes] | None = None
        self.dies: int | None = None
        self._runs = 0
        self._lock = Lock()

    def reply(self, body: dict[str, Any], key: str | None, /) -> Reply:
        with self._lock:
            process = self.process
            if process is None or self.dies == 0 or key != f"Bearer {self._runs}":
                return refusal(500)  # a late request of a process that was killed, in this run or an earlier one
            self.asked.append(last_words(body))
            if self.dies is not None:
                self.dies -= 1
                if self.dies == 0:
                    os.kill(process.pid, signal.SIGKILL)
                    return refusal(500)
            time.sleep(self.seconds)
            return self.answer(body)

    def run(self, *words: object, die_in: str = "nothing", dies: int | None = None) -> int:
        """Return the exit status of `berdseye WORDS`; with `dies`, it is killed while that request is under way."""
        with self._lock:
            self._runs, self.dies = self._runs + 1, dies
            command = [sys.executable, "-c", COMMAND, die_in, *map(str, words)]
            served = os.environ | {"OPENAI_BASE_URL": self.url, "OPENAI_API_KEY": str(self._runs)}
            self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=served)
        return self.process.wait(timeout=300)


@contextmanager
def paid_model(monkeypatch: pytest.MonkeyPatch, answer: Callable[[str], str], *, seconds: float) -> Iterator[Paid]:
    """Serve a model to the commands of a test."""
    monkeypatch.delenv("BERDSEYE_JUDGMENTS_URL", raising=False)
    with serving(Paid(answer, seconds)) as model:
        yield model
