"""Files that are written whole or not at all."""

import json
import os
import resource
import stat
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest

from berdseye.data.errors import BerdseyeError
from berdseye.data.files.atomic import write_bytes, write_json, write_parquet, write_with


@pytest.fixture
def tiny_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 64 KiB, where the machine lets one be mounted."""
    folder = tmp_path / "disk"
    folder.mkdir()
    try:
        subprocess.run(
            ["mount", "-t", "tmpfs", "-o", "size=64k", "none", str(folder)], check=True, capture_output=True, timeout=10
        )
    except (OSError, subprocess.SubprocessError):
        pytest.skip("a small file system cannot be mounted here")
    try:
        yield folder
    finally:
        subprocess.run(["umount", str(folder)], check=True, timeout=10)


def test_a_full_disk_leaves_the_old_file(tiny_disk: Path) -> None:
    path = tiny_disk / "file"
    write_bytes(path, b"old")
    with pytest.raises(
        BerdseyeError, match=r"file: The file could not be written: No space left .* Nothing was changed"
    ):
        write_bytes(path, b"x" * 1_000_000)
    with pytest.raises(BerdseyeError, match="could not be written"):
        write_parquet(path, pa.table({"a": pa.array([os.urandom(1000) for _ in range(1000)])}))
    assert path.read_bytes() == b"old"
    assert [p.name for p in tiny_disk.iterdir()] == ["file"]


@pytest.fixture
def small_files() -> Iterator[None]:
    """No file may grow beyond 100 kB; Python ignores the signal, so that an OSError comes of it."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, hard))
    yield
    resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@pytest.mark.usefixtures("small_files")
def test_a_limit_on_files_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "file"
    write_bytes(path, b"old")
    with pytest.raises(BerdseyeError, match="could not be written: File too large"):
        write_bytes(path, b"x" * 1_000_000)
    with pytest.raises(BerdseyeError, match="could not be written"):
        write_parquet(path, pa.table({"a": pa.array([os.urandom(1000) for _ in range(1000)])}))
    assert path.read_bytes() == b"old"
    assert [p.name for p in tmp_path.iterdir()] == ["file"]


def test_a_writer_that_fails_leaves_the_old_file(tmp_path: Path) -> None:
    def fail(path: Path) -> None:
        path.write_text("half")
        raise ValueError("stopped")

    write_bytes(tmp_path / "file", b"old")
    with pytest.raises(ValueError, match="stopped"):
        write_with(tmp_path / "file", fail)
    assert (tmp_path / "file").read_bytes() == b"old"
    assert [p.name for p in tmp_path.iterdir()] == ["file"]


def test_a_folder_that_cannot_be_made_is_reported(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("not a folder")
    with pytest.raises(BerdseyeError, match="could not be written"):
        write_json(tmp_path / "file" / "new.json", {})


def test_folders_are_made_and_text_is_utf8(tmp_path: Path) -> None:
    path = tmp_path / "a" / "b.json"
    write_json(path, {"é": [1]})
    assert path.read_bytes().decode("utf-8") == '{\n  "é": [\n    1\n  ]\n}\n'
    assert json.loads(path.read_bytes()) == {"é": [1]}


def test_others_may_read_what_the_umask_lets_them(tmp_path: Path) -> None:
    umask = os.umask(0o022)
    try:
        write_bytes(tmp_path / "file", b"shared")
    finally:
        os.umask(umask)
    assert stat.S_IMODE((tmp_path / "file").stat().st_mode) == 0o644
