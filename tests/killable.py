"""Processes beside the test's own, which start fast and may be killed, and what they told of what they did."""

import multiprocessing
import os
from collections.abc import Callable
from multiprocessing.connection import Connection
from multiprocessing.context import ForkServerContext
from multiprocessing.process import BaseProcess
from typing import Any

_IMPORTED = (
    "pytest",
    "berdseye.annotation.backup.restoring",
    "berdseye.annotation.batches.queue",
    "berdseye.data.language_models.cache",
    "berdseye.data.web.pages",
    "berdseye.retrieval.expansion.manual",
)


def fork_server() -> ForkServerContext:
    """Processes that start within milliseconds: forked off one that has imported what they need and opened nothing.

    It is started once for all tests of a process, so what it imports is said here alone; a test's own modules it cannot find.
    """
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(list(_IMPORTED))
    return context


def started(
    processes: ForkServerContext, target: Callable[..., None], *arguments: Any
) -> tuple[BaseProcess, Connection]:
    """A process and the pipe that it tells on, which `target` gets as its last argument."""
    reading, writing = processes.Pipe(duplex=False)
    process = processes.Process(target=target, args=(*arguments, writing), daemon=True)
    process.start()
    writing.close()
    return process, reading


def tell(pipe: Connection, line: str) -> None:
    """Write a line that is whole or not there, as a write shorter than PIPE_BUF is; a buffered one could die with the process."""
    os.write(pipe.fileno(), f"{line}\n".encode())


def told(pipe: Connection, until: int | None = None) -> bytes:
    """What stands on the pipe until its last writer is gone, or until `until` lines are read."""
    text = b""
    while (until is None or text.count(b"\n") < until) and (chunk := os.read(pipe.fileno(), 1 << 12)):
        text += chunk
    return text
