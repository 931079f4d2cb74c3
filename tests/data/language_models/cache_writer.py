"""The process that test_completion_cache.py kills: it asks for completions one after another, and tells of each."""

import os
import time
from collections.abc import Callable
from multiprocessing.connection import Connection
from pathlib import Path

from berdseye.data.language_models.cache import CompletionCache
from berdseye.data.language_models.prompts import PromptTemplate
from berdseye.data.language_models.protocol import Message
from berdseye.data.workspace import Workspace
from tests.data.language_models.scripted import ScriptedModel

ECHO = PromptTemplate("echo", (Message("user", "Say [Text]"),), fenced=False)


def answering(process: str, pause: float) -> Callable[[str], str]:
    """Answers that say which process wrote them."""

    def answer(text: str) -> str:
        time.sleep(pause)
        return f"{process}: {text}"

    return answer


def write(folder: Path, process: str, numbers: list[int], pause: float, told: Connection) -> None:
    """Complete one prompt a number; a line on the pipe is an acknowledgement."""
    cache = CompletionCache(Workspace.open(folder))
    model = ScriptedModel(answering(process, pause))
    for number in numbers:
        (done,) = cache.complete(model, ECHO, [{"Text": str(number)}], max_tokens=5)
        # One write shorter than PIPE_BUF is whole or not there; a buffered one could die with the process.
        os.write(told.fileno(), f"{number} {done.text}\n".encode())
