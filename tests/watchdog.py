"""No process outlives the test run that started it, however the run ends.

Each process of pytest marks its environment, which everything that it starts inherits: PostgreSQL, Label Studio, Streamlit,
Ray, Chromium, jobs. A watchdog process waits for the end of pytest, also by SIGKILL, and then kills whatever has the mark and
whatever such processes started.
"""

import os
import subprocess
import sys
from contextlib import suppress
from uuid import uuid4

import psutil

VARIABLE = "TEST_RUNS_OF_THIS_PROCESS"
"""The marks of the test runs that a process belongs to: one of pytest and, inside a run by xdist, one of its worker.

The name does not begin with BERDSEYE_, because servers that Berdseye starts do not inherit such variables.
"""
LOOKS_EVERY = 0.25
"""Seconds. A process that has written over its environment is ended with the run only if it lived at one of these looks."""


def watch_over_this_process() -> None:
    """Mark the environment of this process and start its watchdog."""
    mark = uuid4().hex
    os.environ[VARIABLE] = f"{os.environ.get(VARIABLE, '')} {mark}".strip()
    environment = {name: value for name, value in os.environ.items() if name != VARIABLE}
    # In a session of its own: Ctrl-C and a closed terminal end pytest, and not what cleans up after it.
    subprocess.Popen(
        [sys.executable, __file__, mark], env=environment, start_new_session=True,
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip


def marked(mark: str) -> set[psutil.Process]:
    """The living processes with this mark in their environment, and their descendants."""
    found: set[psutil.Process] = set()
    for process in psutil.process_iter():
        with suppress(psutil.Error):
            if mark in process.environ().get(VARIABLE, ""):
                found |= {process, *process.children(recursive=True)}
    return {process for process in found if process.pid != os.getpid()}


def _watch(parent: psutil.Process, mark: str) -> None:
    """Wait for the end of the parent, then end what it started.

    Workers of PostgreSQL and Ray write a title over their environment, and Ray's outlive the process that started them:
    descendants are therefore noted while the parent lives.
    """
    noted: set[psutil.Process] = set()
    while os.getppid() == parent.pid:
        with suppress(psutil.Error):
            noted |= {process for process in parent.children(recursive=True) if process.pid != os.getpid()}
            noted = {process for process in noted if process.is_running()}
            parent.wait(LOOKS_EVERY)  # returns as soon as it ends
            break
    for _ in range(10):  # a process that is just being started may be missed once
        ending = [process for process in noted | marked(mark) if process.is_running()]
        for process in ending:
            with suppress(psutil.Error):
                process.kill()
        if not psutil.wait_procs(ending, timeout=1)[0]:
            return


if __name__ == "__main__":
    _watch(psutil.Process(os.getppid()), sys.argv[1])
