"""No wrong use of any command ends in a traceback, begins work, changes the workspace, or is taken for a right one."""

import hashlib
import io
import json
import os
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, redirect_stderr, redirect_stdout
from functools import cache
from multiprocessing.process import BaseProcess
from pathlib import Path
from types import FrameType
from typing import Any, NamedTuple, NoReturn

import pytest
import typer.main
from wrong_uses import RUN, Use, leaves, write_good_files, write_wrong_paths, wrong_uses

from berdseye.app import cli as command_line
from berdseye.data.workspace import Workspace

TREE = typer.main.get_command(command_line.cli)
SECONDS = 300  # on a busy machine; nothing comes near it
FINDINGS = {"verify": 1, "judgments import": 1}
"""Commands whose exit status 1 says that they found something."""
_PASSING = (".migrating", ".writing", "-wal", "-shm", ".lock")


class WorkBeginsError(BaseException):
    """A process or a connection is begun; no handler of errors takes it for one of its own."""


class Answer(NamedTuple):
    status: object
    out: str
    err: str


def work_begins(*_: object, **__: object) -> NoReturn:
    raise WorkBeginsError


class Place:
    """A folder with files that can be read and files that cannot, and a workspace in it."""

    def __init__(self, folder: Path, demo: Path) -> None:
        self.folder, self._demo = folder, demo
        self.workspace, self.kept = folder / "workspace", folder.parent / "kept"
        write_good_files(folder)
        shutil.copytree(demo, self.workspace)
        for words in (
            ("batch", "create", "sent", "--run", RUN),
            ("backup", "saved.zip"),
            ("bundle", RUN, "bundle.zip", "--labels", "gold"),
            ("training-set", "create", "--demo"),
            ("perspective", "propose", "debate", "car-free-centres", "--new", "A new view."),
        ):
            assert called(words).status == 0, words
        shutil.copytree(self.workspace, self.kept)
        self.paths = write_wrong_paths(folder / "wrong")
        self.before = self.state()
        self._there = set(folder.iterdir())

    def state(self) -> dict[str, str]:
        """The files of the workspace, by what decides whether they changed; caches are left out."""
        found = {}
        for path in self.workspace.rglob("*"):
            name = path.relative_to(self.workspace).as_posix()
            cached = name.startswith(("labels/", "logs/", "runs/.", "corpora/.")) or "/indexes/" in name
            if path.is_file() and not cached and not name.endswith(_PASSING):
                stat = path.stat()
                found[name] = (
                    content_of(path, stat.st_size, stat.st_mtime_ns)
                    if name == "judgments.db"
                    else f"{stat.st_size} {stat.st_mtime_ns}"
                )
        return found

    def restore(self) -> None:
        """Everything as it was, after a use that was a right one."""
        for path in set(self.folder.iterdir()) - self._there:
            shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()
        for name in ("workspace", "wrong"):
            shutil.rmtree(self.folder / name)
        shutil.copytree(self.kept, self.workspace)
        write_wrong_paths(self.folder / "wrong")
        self.before = self.state()


@cache
def content_of(database: Path, size: int, changed_at: int) -> str:
    """What a database holds: one that was only opened may be another file."""
    del size, changed_at
    with closing(sqlite3.connect(database)) as connection:
        return hashlib.sha256("".join(connection.iterdump()).encode()).hexdigest()


def called(words: tuple[str, ...]) -> Answer:
    """What `berdseye WORDS` ends with, prints and says; a standard output that takes no broken text, as a real one."""
    printed, said = io.BytesIO(), io.BytesIO()
    out = io.TextIOWrapper(printed, "utf-8")
    err = io.TextIOWrapper(said, "utf-8", errors="backslashreplace")
    status: object = 0
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(out), redirect_stderr(err):
        patch.setattr(sys, "argv", ["berdseye", *words])
        patch.setattr(command_line, "cli", TREE)  # made once: making it takes longer than a refusal
        signal.setitimer(signal.ITIMER_REAL, SECONDS)
        try:
            command_line.main()
        except SystemExit as ended:
            status = ended.code
        except WorkBeginsError:
            status = "begins work"
        except TimeoutError:
            status = "takes too long"
        except Exception as error:
            status = f"{type(error).__name__}: {error}"
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
    return Answer(
        status, *(bytes(stream.buffer.getvalue()).decode(errors="replace") for stream in (flushed(out), flushed(err)))
    )


def flushed(stream: Any) -> Any:
    stream.flush()
    return stream


@pytest.fixture(scope="module")
def place(demo_workspace: Workspace, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    folder = tmp_path_factory.mktemp("wrong") / "inner"
    folder.mkdir()

    def too_long(_: int, __: FrameType | None) -> NoReturn:
        raise TimeoutError

    before = signal.signal(signal.SIGALRM, too_long)
    here = Path.cwd()
    os.chdir(folder)
    with pytest.MonkeyPatch.context() as patch:
        for name in ("BERDSEYE_WORKSPACE", "BERDSEYE_JUDGMENTS_URL", "BERDSEYE_PERSON"):
            patch.delenv(name, raising=False)
        yield Place(folder, demo_workspace.folder)
    os.chdir(here)
    signal.signal(signal.SIGALRM, before)


@pytest.fixture
def no_work(monkeypatch: pytest.MonkeyPatch) -> None:
    """Servers, downloads and trainings in processes are caught where they begin."""
    monkeypatch.setattr(subprocess, "Popen", work_begins)
    monkeypatch.setattr(socket.socket, "connect", work_begins)
    monkeypatch.setattr(BaseProcess, "start", work_begins)


def faults(use: Use, answer: Answer, place: Place) -> Iterator[str]:
    """What is wrong with an answer to a wrong use."""
    if answer.status == 0:
        if use.sure:
            yield "is taken for a right use"
        if "--json" in use.arguments and answer.out.strip():
            json.loads(answer.out)
        return
    if answer.status not in (2, FINDINGS.get(" ".join(use.words), 2)):
        yield f"ends with {answer.status}"
        return
    lines = answer.err.splitlines()
    in_a_box = lines and lines[0].startswith("Usage: ")
    if answer.status == 2 and not in_a_box:
        if not lines or not lines[-1].startswith("berdseye: "):
            yield f"says {answer.err[-200:]!a}"
        if sum(line.startswith("berdseye: ") for line in lines) > 1:
            yield "says two errors"
    if answer.status == 2 and answer.out:
        yield f"prints {answer.out[:80]!a}"
    if "Traceback" in answer.err:
        yield "ends in a traceback"
    if changed := {name for name, _ in set(place.before.items()) ^ set(place.state().items())}:
        yield f"changes {sorted(changed)[:3]}"


def told(words: tuple[str, ...], command: Any, place: Place, *, brief: bool) -> list[str]:
    found = []
    for use in wrong_uses(words, command, place.paths):
        if brief and not use.brief:
            continue
        answer = called(use.arguments)
        found += [f"{use} {fault}" for fault in faults(use, answer, place)]
        if answer.status == 0 or found:
            place.restore()
    return found


COMMANDS = [pytest.param(words, command, id=" ".join(words)) for words, command in leaves(TREE)]


@pytest.mark.parametrize(("words", "command"), COMMANDS)
@pytest.mark.usefixtures("no_work")
def test_a_wrong_use_is_refused_in_one_line(words: tuple[str, ...], command: Any, place: Place) -> None:
    assert told(words, command, place, brief=True) == []


@pytest.mark.slow
@pytest.mark.parametrize(("words", "command"), COMMANDS)
@pytest.mark.usefixtures("no_work")
def test_every_wrong_use_is_refused_in_one_line(words: tuple[str, ...], command: Any, place: Place) -> None:
    assert told(words, command, place, brief=False) == []
