"""Reading web pages in a separate process, which can be killed if a page takes too long.

Run as a program, this module is that process: it reads pages from its standard input and writes results to its output.
"""

import json
import resource
import subprocess
import sys
from contextlib import suppress
from subprocess import PIPE
from threading import Timer
from types import TracebackType
from typing import IO, Self

from berdseye.data.errors import UnavailableError
from berdseye.data.web.html import PageText, read_page
from berdseye.data.web.report import PageError

_COMMAND = [
    sys.executable,
    "-P",
    "-m",
    "berdseye.data.web.reading",
]  # -P: do not import from the current folder
_LENGTH = 8
_READY = b"ready"
_MEMORY = 2 << 30


class PageReader:
    """A process that reads one page after another.

    It starts with the first page, and restarts after a page that it could not read in time.
    """

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._end()

    def read(self, html: str, seconds: float) -> PageText:
        """Read the title and the main text of a page.

        Raises `PageError` if that takes longer than `seconds` or more than 2 GiB of memory, `UnavailableError` if the process
        does not start.
        """
        if self._process is None or self._process.poll() is not None:
            self._end()
            self._process = _start()
        pages, answers = _pipes(self._process)
        watch = Timer(seconds, self._process.kill)
        watch.start()
        try:
            _send(pages, html.encode("utf-8", "replace"))
            answer = _receive(answers)
        except BrokenPipeError:
            answer = None
        finally:
            watch.cancel()
        if answer is None:
            self._end()
            raise PageError("timed out", f"reading its HTML takes over {seconds:.1f} seconds")
        read = json.loads(answer)
        if isinstance(read, str):
            raise PageError("failed", f"its HTML cannot be read: {read}")
        return PageText(*read)

    def _end(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None


def _start() -> "subprocess.Popen[bytes]":
    """Start a process and wait until it is ready."""
    # A new session, so that Ctrl-C reaches only the waiting process, which then ends this one.
    process = subprocess.Popen(_COMMAND, stdin=PIPE, stdout=PIPE, stderr=subprocess.DEVNULL, start_new_session=True)
    try:
        ready = _receive(_pipes(process)[1])
    except BaseException:
        process.kill()
        process.communicate()
        raise
    if ready is None:
        process.communicate()
        raise UnavailableError(
            "The process that reads web pages does not start.", hint=f"To see why, run: {' '.join(_COMMAND)}"
        )
    return process


def _pipes(process: "subprocess.Popen[bytes]") -> tuple[IO[bytes], IO[bytes]]:
    assert process.stdin is not None
    assert process.stdout is not None
    return process.stdin, process.stdout


def _send(pipe: IO[bytes], content: bytes) -> None:
    pipe.write(len(content).to_bytes(_LENGTH, "little") + content)
    pipe.flush()


def _receive(pipe: IO[bytes]) -> bytes | None:
    """The next message; None at the end of the stream."""
    head = pipe.read(_LENGTH)
    length = int.from_bytes(head, "little")
    content = pipe.read(length) if len(head) == _LENGTH else b""
    return content if len(head) == _LENGTH and len(content) == length else None


def _serve(pages: IO[bytes], answers: IO[bytes]) -> None:
    read_page("")
    with suppress(OSError, ValueError):  # systems that know no such limit have the one of time alone
        resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
    _send(answers, _READY)
    while (page := _receive(pages)) is not None:
        _send(answers, json.dumps(_read(page.decode("utf-8"))).encode())


def _read(html: str) -> PageText | str:
    """What a page says, or the fault that reading it met with."""
    try:
        return read_page(html)
    except Exception as error:
        return f"{type(error).__name__}: {error}"


if __name__ == "__main__":
    answers, sys.stdout = sys.stdout.buffer, sys.stderr  # what a library prints must not stand among the answers
    _serve(sys.stdin.buffer, answers)
