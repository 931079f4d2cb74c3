"""Processes are recognised by their command, and a group is ended whole."""

import os
import subprocess
import sys
import time
from collections.abc import Iterator

import psutil
import pytest

from berdseye.data.errors import BadInputError
from berdseye.data.files import processes

STUBBORN = (
    "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('ready', flush=True); time.sleep(60)"
)
LEADER = f"""
import subprocess, sys, time
child = subprocess.Popen([sys.executable, "-c", {STUBBORN!r}], stdout=subprocess.PIPE, text=True)
child.stdout.readline()
print(child.pid, flush=True)
time.sleep(60)
"""


@pytest.fixture
def leader() -> Iterator["subprocess.Popen[str]"]:
    """A process that leads a group, with a child that ignores SIGTERM; it prints the child's id."""
    command = [sys.executable, "-c", LEADER, "berdseye run"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, start_new_session=True) as process:
        yield process
        processes.end_group(process.pid, grace=0.1, word="berdseye")


def test_a_living_process_is_recognised_by_its_command(leader: "subprocess.Popen[str]") -> None:
    assert processes.runs_command(leader.pid, "berdseye run")
    assert not processes.runs_command(leader.pid, "berdseye study")


def test_a_zombie_and_an_unused_id_run_nothing() -> None:
    ended = subprocess.Popen([sys.executable, "-c", "", "berdseye"])
    os.waitid(os.P_PID, ended.pid, os.WEXITED | os.WNOWAIT)
    assert psutil.Process(ended.pid).status() == psutil.STATUS_ZOMBIE
    began = time.monotonic()
    assert not processes.runs_command(ended.pid, "berdseye")
    assert time.monotonic() - began < 0.15, "nobody waits for the command line of a zombie"
    ended.wait()
    assert not processes.runs_command(ended.pid, "berdseye")
    assert not processes.runs_command(2**70, "berdseye")


def test_a_command_that_cannot_be_read_yet_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = iter([[], [], ["python", "berdseye", "run"]])
    monkeypatch.setattr(psutil.Process, "cmdline", lambda _: next(lines))
    assert processes.runs_command(os.getpid(), "berdseye run")


def test_one_that_stays_without_a_command_has_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(psutil.Process, "cmdline", lambda _: [])
    assert not processes.runs_command(os.getpid(), "berdseye")


def test_a_group_ends_whole_even_where_a_member_ignores_sigterm(leader: "subprocess.Popen[str]") -> None:
    assert leader.stdout is not None
    child = psutil.Process(int(leader.stdout.readline()))
    processes.end_group(leader.pid, grace=0.5, word="berdseye")
    assert not processes.runs_command(leader.pid, "")
    assert not child.is_running() or child.status() == psutil.STATUS_ZOMBIE


def test_a_group_that_runs_another_command_is_left_alone(leader: "subprocess.Popen[str]") -> None:
    processes.end_group(leader.pid, grace=0.1, word="another command")
    assert processes.runs_command(leader.pid, "berdseye run")


def test_a_group_of_another_user_is_an_error(leader: "subprocess.Popen[str]", monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: object) -> None:
        raise PermissionError

    with monkeypatch.context() as patched:
        patched.setattr(os, "killpg", refused)
        with pytest.raises(BadInputError, match=f"Process {leader.pid} belongs to another user"):
            processes.end_group(leader.pid, grace=0.1, word="berdseye")
