"""Constructions continue in a workspace that was backed up, moved or restored elsewhere."""

import json
import shutil
from pathlib import Path

import pytest

from berdseye.annotation.backup.restoring import restore
from berdseye.annotation.backup.writing import back_up
from berdseye.data.errors import StaleError
from berdseye.data.workspace import Workspace
from berdseye.evaluation.construction.dmerit.kind import DMERIT
from berdseye.evaluation.construction.finishing import finish
from berdseye.evaluation.construction.kinds import kind_of
from berdseye.evaluation.construction.opening import begin, open_construction
from berdseye.evaluation.construction.running import run_construction
from berdseye.evaluation.construction.stored import Construction
from tests.data.wikipedia.made_dump import make_dump
from tests.evaluation.construction.constructed import begun, scripted

STATEMENTS = "Supporting: It should be so.\nOpposing: It should be otherwise."


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "given" / "questions.txt"
    path.parent.mkdir()
    path.write_text("Should zoos exist?\nShould cars be banned?\n", encoding="utf-8")
    return path


@pytest.fixture(autouse=True)
def _answers(monkeypatch: pytest.MonkeyPatch) -> None:
    scripted(monkeypatch, lambda _: STATEMENTS)


def copied(workspace: Workspace, source: Path) -> Construction:
    settings = {"model": "api(scripted)"}
    return begin(workspace, kind_of("questions"), "made", {"mine": source}, settings, {}, made_by="ada", copying=True)


def recorded(workspace: Workspace) -> str:
    return str(json.loads(record(workspace).read_text(encoding="utf-8"))["sources"][0]["path"])


def record(workspace: Workspace) -> Path:
    return workspace.folder / "constructions" / "made" / "construction.json"


def test_a_restored_workspace_reads_its_own_copies(workspace: Workspace, source: Path, tmp_path: Path) -> None:
    copied(workspace, source)
    assert recorded(workspace) == "constructions/made/sources/mine.txt"
    back_up(workspace, tmp_path / "all.zip")
    shutil.rmtree(workspace.folder)
    source.unlink()
    restored = restore(tmp_path / "all.zip", tmp_path / "restored")[0]
    run_construction(open_construction(restored, "made"))
    assert finish(open_construction(restored, "made"), "made") == ["made: 2 questions, 4 perspectives"]


@pytest.mark.parametrize("left_behind", [False, True])
def test_absolute_paths_of_older_records_are_found_where_the_workspace_is_now(
    workspace: Workspace, source: Path, tmp_path: Path, left_behind: bool
) -> None:
    copied(workspace, source)
    written = json.loads(record(workspace).read_text(encoding="utf-8"))
    old = str(workspace.folder.resolve() / "constructions" / "made" / "sources" / "mine.txt")
    written["sources"][0]["path"] = old
    record(workspace).write_text(json.dumps(written), encoding="utf-8")
    run_construction(open_construction(workspace, "made"), until="sources")
    moved = tmp_path / "moved"
    shutil.copytree(workspace.folder, moved)
    if left_behind:
        Path(old).write_text("Another text.\n", encoding="utf-8")
    else:
        shutil.rmtree(workspace.folder)
    opened = open_construction(Workspace.open(moved), "made")
    assert Path(opened.sources[0].path).is_relative_to(moved)
    assert run_construction(opened) == ["duplicates", "perspectives"]


def test_a_source_that_was_read_is_not_needed_again(workspace: Workspace, source: Path) -> None:
    construction = begun(workspace, "questions", source)
    assert recorded(workspace) == str(source.resolve())
    run_construction(construction, until="sources")
    source.unlink()
    assert run_construction(open_construction(workspace, "made")) == ["duplicates", "perspectives"]


def test_a_source_elsewhere_is_given_again_by_the_same_command(
    workspace: Workspace, source: Path, tmp_path: Path
) -> None:
    construction = begun(workspace, "questions", source)
    elsewhere = source.rename(tmp_path / "questions.txt")
    with pytest.raises(StaleError, match="'questions' is gone"):
        run_construction(construction)
    again = begun(workspace, "questions", elsewhere)
    assert [open_construction(workspace, "made").sources, again.sources] == [again.sources] * 2
    assert Path(recorded(workspace)) == elsewhere.resolve()
    assert run_construction(open_construction(workspace, "made")) == ["sources", "duplicates", "perspectives"]


def test_a_dump_that_is_gone_is_named(workspace: Workspace, tmp_path: Path) -> None:
    made = make_dump(tmp_path / "dump.xml", 220, 4, words=5)
    settings = {"model": "api(scripted)"}
    construction = begin(workspace, DMERIT, "made", {"dump": made.path}, settings, {}, made_by="ada")
    run_construction(construction, until="sources")
    made.path.unlink()
    with pytest.raises(StaleError, match="'dump' is gone"):
        run_construction(construction)
