"""Sizes and checksums of stored files."""

import shutil
import threading
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from berdseye.data.errors import DamagedError
from berdseye.data.files import checksums
from berdseye.data.files.atomic import write_json
from berdseye.data.files.checksums import DAY, STAMPS, FileSet
from berdseye.data.runs.stored import load_run, save_run
from berdseye.data.workspace import Workspace

CONTENT = b"some content"


@pytest.fixture(autouse=True)
def nothing_compared() -> Iterator[None]:
    """As in a process that has just begun."""
    forget()
    yield
    forget()


@pytest.fixture
def held(tmp_path: Path) -> FileSet:
    (tmp_path / "set").mkdir()
    made = FileSet(tmp_path / "set" / "x.checksums", ("*.bin",), lambda: "Make it again: `berdseye make x`.")
    for name in ("a.bin", "b.bin"):
        (made.folder / name).write_bytes(CONTENT)
    made.seal()
    forget()
    return made


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> "Clock":
    """The time of day, to be set; and files that change without a trace in their times, as on a failing disk."""
    made = Clock()
    monkeypatch.setattr("berdseye.data.files.checksums.time.time", lambda: made.now)
    monkeypatch.setattr("berdseye.data.files.checksums._signature", lambda found: (found.st_size, made.copies))
    return made


class Clock:
    """What the tests set."""

    now = 1e9
    copies = 0


def forget() -> None:
    checksums._SEEN.clear()
    checksums._RECORDS.clear()


def rot(held: FileSet, name: str = "b.bin") -> None:
    (held.folder / name).write_bytes(CONTENT[::-1])


def compared() -> None:
    """Wait for the comparisons in the background."""
    for thread in threading.enumerate():
        if thread.name.startswith("checksums of"):
            thread.join()


def test_what_was_written_since_is_compared_at_the_next_opening(held: FileSet) -> None:
    held.check()
    rot(held)
    with pytest.raises(
        DamagedError, match=r"b\.bin: The file is damaged: its checksum has changed\. Make it again: `berd"
    ):
        held.check()
    (held.folder / "b.bin").write_bytes(CONTENT)
    held.check()


def test_what_changes_without_a_trace_is_found_at_the_first_opening_of_the_next_day(
    held: FileSet, clock: Clock
) -> None:
    held.check()
    rot(held)
    clock.now += DAY - 1
    held.check()
    clock.now += 1
    with pytest.raises(DamagedError, match=r"b\.bin"):
        held.check()
    with pytest.raises(DamagedError, match=r"b\.bin"):
        held.check()


@pytest.mark.usefixtures("clock")
def test_the_next_process_of_the_day_compares_a_large_set_no_more(
    held: FileSet, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checksums, "STAMPED_FROM", 0)
    held.check()
    forget()
    monkeypatch.setattr(checksums, "sha256_of", pytest.fail)
    held.check()
    assert (held.folder / STAMPS).exists()


def test_a_note_that_cannot_be_written_or_read_is_ignored(held: FileSet, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checksums, "STAMPED_FROM", 0)
    (held.folder / STAMPS).mkdir()
    held.check()
    assert [p.name for p in held.folder.iterdir() if p.name.endswith(".tmp")] == []
    forget()
    rot(held)
    with pytest.raises(DamagedError, match=r"b\.bin: .*`berdseye make x`"):
        held.check()
    (held.folder / STAMPS).rmdir()
    (held.folder / STAMPS).write_text('{"a.bin": 3}')
    with pytest.raises(DamagedError, match=r"b\.bin: .*`berdseye make x`"):
        held.check()


def test_a_very_large_set_is_compared_in_the_background_and_then_refused(
    held: FileSet, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checksums, "AT_ONCE", 0)
    monkeypatch.setattr(checksums, "STAMPED_FROM", 0)
    held.check()
    compared()
    held.check()
    rot(held)
    clock.now += DAY
    held.check()
    compared()
    with pytest.raises(DamagedError, match=r"b\.bin"):
        held.check()
    forget()
    with pytest.raises(DamagedError, match=r"b\.bin"):  # another process reads it in the note
        held.check()


def test_a_very_large_set_that_was_copied_is_compared_before_it_is_used(
    held: FileSet, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checksums, "AT_ONCE", 0)
    monkeypatch.setattr(checksums, "STAMPED_FROM", 0)
    held.examine()
    forget()
    shutil.copytree(held.folder, held.folder.with_name("copy"))
    copy = held.built_in(held.folder.with_name("copy"))
    clock.copies += 1
    rot(copy)
    with pytest.raises(DamagedError, match=r"copy/b\.bin"):
        copy.check()


def test_a_set_without_a_record_is_used_as_it_is_and_can_be_recorded(held: FileSet) -> None:
    held.record.unlink()
    rot(held)
    held.check()
    assert (held.sealed(), held.examine()) == (None, [])
    held.seal()
    held.check()


def test_a_record_names_no_file_elsewhere(held: FileSet) -> None:
    files = {"../secret.bin": {"size": 1, "sha256": "0"}}
    write_json(held.record, {"format": 1, "files": files, "sha256": checksums._digest(files)})
    with pytest.raises(DamagedError, match="lists files outside its folder"):
        held.check()


def test_a_run_is_replaced_while_it_is_read(workspace: Workspace) -> None:
    def save(depth: int) -> str:
        return save_run(
            workspace,
            dataset="d",
            corpus="c",
            corpus_hash="h",
            pipeline="bm25",
            question_ids=[f"{depth}-{n}" for n in range(3)],
            ids=np.full((3, depth), depth, dtype=np.int64),
            scores=np.zeros((3, depth), dtype=np.float32),
            milliseconds_per_question=1,
        ).name

    def replace() -> None:
        for depth in range(2, 30):
            save(depth)

    name = save(1)
    writer = threading.Thread(target=replace)
    writer.start()
    read = 0
    while writer.is_alive():
        run = load_run(workspace, name)
        depth = run.manifest.k
        assert run.question_ids == [f"{depth}-{n}" for n in range(3)]
        assert run.ids.tolist() == [[depth] * depth] * 3
        read += 1
    writer.join()
    assert read
    assert load_run(workspace, name).manifest.k == 29
