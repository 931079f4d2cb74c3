"""Is a process alive, does it run a given command, and how is its group ended."""

import contextlib
import os
import signal
import time
from collections.abc import Iterator

import psutil

from berdseye.data.errors import BadInputError

_STARTS_WITHIN = 0.2
_LOOKS_EVERY = 0.05


def runs_command(pid: int, word: str) -> bool:
    """Whether process `pid` is alive and its command line contains `word`: a reused id belongs to another command."""
    try:
        process = psutil.Process(pid)
        until = time.monotonic() + _STARTS_WITHIN
        # A process that is just being started has no command line yet; a zombie has none any more.
        while not (words := process.cmdline()) and process.status() != psutil.STATUS_ZOMBIE:
            if time.monotonic() > until:
                return False
            time.sleep(0.01)
    except (psutil.Error, OverflowError):
        return False
    return word in " ".join(words)


def end_group(pid: int, *, grace: float, word: str) -> None:
    """End the process group that `pid` leads, if `pid` runs `word`: SIGTERM first, SIGKILL `grace` seconds later.

    Returns when every process of the group has ended. Raises `BadInputError` for a group of another user.
    """
    if not runs_command(pid, word):
        return
    for step in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(pid, step)
        except ProcessLookupError:
            return
        except PermissionError as error:
            raise BadInputError(
                f"Process {pid} belongs to another user of this machine.", hint="Ask them to end it."
            ) from error
        until = time.monotonic() + grace
        while time.monotonic() < until:
            if not any(_of_group(pid)):
                return
            time.sleep(_LOOKS_EVERY)


def _of_group(group: int) -> Iterator[int]:
    """The living processes of a group. A child of this very process stays a zombie until someone waits for it."""
    with contextlib.suppress(ChildProcessError):
        os.waitpid(group, os.WNOHANG)
    for pid in psutil.pids():
        with contextlib.suppress(ProcessLookupError, psutil.NoSuchProcess):
            if os.getpgid(pid) == group and psutil.Process(pid).status() != psutil.STATUS_ZOMBIE:
                yield pid
