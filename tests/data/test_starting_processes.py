"""A process that is just being started is alive, though the system cannot tell its command yet."""

import os

import pytest

from berdseye.data.files import processes


def test_a_command_that_cannot_be_read_yet_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    told = iter(["", "", "python berdseye"])
    monkeypatch.setattr(processes, "_command_line", lambda _: next(told))
    assert processes.runs_command(os.getpid(), "berdseye")


def test_one_that_stays_without_a_command_has_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes, "_command_line", lambda _: "")
    assert not processes.runs_command(os.getpid(), "berdseye")
