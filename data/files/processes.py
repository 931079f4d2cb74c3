"""Is a process of ours alive, and how is it ended."""

import contextlib
import os
import signal
import subprocess
import time
from pathlib import Path

_STARTS_WITHIN = 0.2


def runs_command(pid: int, word: str) -> bool:
    """Whether process `pid` is alive and its command line holds `word`: a reused id is another command."""
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, PermissionError):
        return False
    until = time.monotonic() + _STARTS_WITHIN
    while not (line := _command_line(pid)) and time.monotonic() < until:
        time.sleep(0.01)  # a process that is just being started has none yet; one that has ended has none any more
    return word in line


def end_group(pid: int, *, grace: float, word: str) -> None:
    """End the process group that `pid` leads: asked politely, and after `grace` seconds no more."""
    for step in (signal.SIGTERM, signal.SIGKILL):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(pid, step)
        until = time.monotonic() + grace
        while time.monotonic() < until:
            _reap(pid)
            if not runs_command(pid, word):
                return
            time.sleep(0.05)


def _reap(pid: int) -> None:
    # A child of this very process stays a zombie until someone waits for it.
    with contextlib.suppress(ChildProcessError):
        os.waitpid(pid, os.WNOHANG)


def _command_line(pid: int) -> str:
    proc = Path(f"/proc/{pid}/cmdline")
    if proc.parent.parent.joinpath("self").exists():
        try:
            return proc.read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            return ""
    shown = subprocess.run(["ps", "-o", "command=", "-p", str(pid)], capture_output=True, text=True, check=False)
    return shown.stdout
