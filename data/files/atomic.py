"""Writing files so that a crash leaves the old one or the new one, never half of one."""

import json
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from uuid import uuid4

import pyarrow as pa
import pyarrow.parquet as pq

from berdseye.data.errors import BerdseyeError


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Yield a temporary path beside `path`; on success it is synced and renamed over `path`, on failure removed.

    A full disk or a read-only folder is reported as a `BerdseyeError` that names the file.
    """
    temporary = path.with_name(f".{path.name}.{uuid4().hex[:8]}.tmp")  # made with the rights the umask gives
    try:
        if path.exists() and not path.is_file():  # a rename would put a file in the place of a device
            raise BerdseyeError("Could not be written: this is not a file.", where=path, hint="Name a file.")
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary.touch(exist_ok=False)
    except OSError as error:
        raise _unwritable(path, error) from error
    try:
        yield temporary
        _sync(temporary)
        temporary.replace(path)
        _sync(path.parent)
    except OSError as error:
        raise _unwritable(path, error) from error
    finally:
        temporary.unlink(missing_ok=True)


def write_bytes(path: Path, content: bytes) -> None:
    """Write a small file whole."""
    with replacing(path) as temporary:
        temporary.write_bytes(content)


def write_json(path: Path, value: Any) -> None:
    """Write a JSON document, two-space indented, UTF-8."""
    write_bytes(path, (json.dumps(value, indent=2, ensure_ascii=False) + "\n").encode())


def write_parquet(path: Path, table: pa.Table) -> None:
    """Write an Arrow table as one Zstandard-compressed Parquet file."""
    with replacing(path) as temporary:
        pq.write_table(table, temporary, compression="zstd")


def write_with(path: Path, writer: Callable[[Path], None]) -> None:
    """Write through a library that wants a path of its own."""
    with replacing(path) as temporary:
        writer(temporary)


def make_folder(folder: Path) -> None:
    """Make a folder and those above it, where they are not there; raises `BerdseyeError` where it cannot be made."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise _unwritable(folder, error) from error


def sync_folder(folder: Path) -> None:
    """Have all files of a folder on disk."""
    for path in folder.iterdir():
        _sync(path)


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _unwritable(path: Path, error: OSError) -> BerdseyeError:
    return BerdseyeError(
        f"Could not be written: {error.strerror or error}.",
        where=path,
        hint="Nothing was changed. Free some space or check the rights of the folder, then try again.",
    )
