"""Commands in the log of their workspace."""

import logging
import re
import sys
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path

import pytest

from berdseye.app.cli import main
from berdseye.data.workspace import Workspace


@pytest.fixture(autouse=True)
def own_handlers() -> Iterator[None]:
    """What a command adds to the logger goes with the test."""
    ours = logging.getLogger("berdseye")
    before, level = list(ours.handlers), ours.level
    yield
    ours.handlers[:] = before
    ours.setLevel(level)


def called(monkeypatch: pytest.MonkeyPatch, *words: str) -> None:
    monkeypatch.setattr(sys, "argv", ["berdseye", *words])
    with pytest.raises(SystemExit):
        main()


def logged_lines(workspace: Workspace) -> list[list[str]]:
    text = (workspace.folder / "logs" / "berdseye.log").read_text(encoding="utf-8")
    return [line.split("\t") for line in text.splitlines()]


def test_the_log_says_who_ran_what_and_how_it_ended(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = str(workspace.folder)
    called(monkeypatch, "--as", "Ana", "corpus", "list", "--workspace", folder)
    called(monkeypatch, "--as", "Bo", "corpus", "add", "A name?", "documents.jsonl", "--workspace", folder)
    (_, level, person, _, said), (_, refused, other, _, why) = logged_lines(workspace)
    assert (level, person, said.partition(",")[0]) == ("INFO", "Ana", "corpus list: done")
    assert (refused, other) == ("WARNING", "Bo")
    assert why.startswith("corpus add name='A name?': refused (BadInputError: ")


def test_texts_are_not_logged(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("BERDSEYE_WORKSPACE", raising=False)
    called(monkeypatch, "expansion", "Should zoos exist?", "Zoos help.", "--workspace", str(workspace.folder))
    assert "zoos" not in str(logged_lines(workspace)).lower()


def test_the_log_of_a_new_demo_begins_with_its_start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("berdseye.app.demo.build_demo", lambda folder, _say: Workspace.create(folder))
    folder = tmp_path / "new"
    called(monkeypatch, "demo", "--workspace", str(folder))
    (_, level, _, _, begun), (*_, ended) = logged_lines(Workspace.open(folder))
    assert (level, begun) == ("INFO", f"demo: started, version {version('berdseye')}, workspace {folder}")
    assert re.fullmatch(r"demo: done, \d+\.\d s", ended)


def test_verbose_shows_the_log(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    called(monkeypatch, "--verbose", "corpus", "list", "--workspace", str(workspace.folder))
    assert "\tcorpus list: done, " in capsys.readouterr().err
