"""Paths that a person gives: which can be, and that a device is never replaced by a file."""

import os
from pathlib import Path

import pytest

from berdseye.data.errors import BadInputError, BerdseyeError
from berdseye.data.files.atomic import write_bytes
from berdseye.data.files.given_paths import is_file, possible_path, regular_file


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("x" * 300, "Not a valid path"),
        ("a\0b", "Not a valid path"),
        ("caf\udce9", "not UTF-8"),
        ("file.txt/x", "A part of the path is a file"),
        ("loop", "Not a valid path"),
        ("pipe", "neither a file nor a folder"),
    ],
)
def test_a_path_at_which_nothing_can_be_is_refused(tmp_path: Path, name: str, said: str) -> None:
    (tmp_path / "file.txt").write_text("text", encoding="utf-8")
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(BadInputError, match=said):
        possible_path(tmp_path / name)
    assert not is_file(str(tmp_path / name))


def test_a_new_file_and_a_folder_are_possible(tmp_path: Path) -> None:
    assert possible_path(tmp_path / "new" / "x.csv") == tmp_path / "new" / "x.csv"
    assert possible_path(tmp_path) == tmp_path


def test_what_is_read_must_be_a_file(tmp_path: Path) -> None:
    with pytest.raises(BadInputError, match="got a folder"):
        regular_file(tmp_path)
    with pytest.raises(BadInputError, match="does not exist"):
        regular_file(tmp_path / "x.csv")


def test_a_write_replaces_no_pipe(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(BerdseyeError, match="not a regular file"):
        write_bytes(tmp_path / "pipe", b"text")
    assert (tmp_path / "pipe").is_fifo()
