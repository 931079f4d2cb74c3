"""`berdseye app` as a process."""

import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

from berdseye.app.serving.ports import HOST
from berdseye.data.workspace import Workspace

ROOT = Path(__file__).resolve().parents[3]


@contextmanager
def listening() -> Iterator[int]:
    """A port that somebody else has."""
    with socket.socket() as taken:
        taken.bind((HOST, 0))
        taken.listen()
        yield int(taken.getsockname()[1])


@contextmanager
def app_process(workspace: Workspace, port: int, log: Path) -> Iterator["subprocess.Popen[bytes]"]:
    command = [sys.executable, "-m", "berdseye.app.cli", "app", "--no-label-studio", "--port", str(port)]
    with log.open("wb") as file:
        process = subprocess.Popen(
            [*command, "--workspace", str(workspace.folder)], cwd=ROOT, stderr=file, stdout=file, start_new_session=True
        )
    try:
        yield process
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGTERM)
            process.wait(timeout=20)


def until(found: Callable[[], bool], log: Path, seconds: float = 60.0) -> None:
    ends = time.monotonic() + seconds
    while not found():
        assert time.monotonic() < ends, log.read_text(encoding="utf-8", errors="replace")
        time.sleep(0.1)


def answers(port: int) -> bool:
    try:
        with urlopen(f"http://{HOST}:{port}/_stcore/health", timeout=2) as answer:
            return bool(answer.status == 200)
    except (URLError, OSError):
        return False
