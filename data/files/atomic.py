"""Atomic writing of files: a crash leaves the old file or the new one, never a part of one."""

import json
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from berdseye.data.errors import BerdseyeError

if TYPE_CHECKING:
    import pyarrow as pa


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Yield a temporary path in the folder of `path`; on success it is synced and renamed to `path`, on failure deleted.

    A full disk or a read-only folder raises a `BerdseyeError` with the path of the file.
    """
    temporary = path.with_name(f".{path.name}.{uuid4().hex[:8]}.tmp")  # created with the permissions of the umask
    try:
        if path.exists() and not path.is_file():  # a rename would replace a device by a file
            raise BerdseyeError(
                "Cannot write here: this is not a regular file.", where=path, hint="Give a file's path."
            )
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
    """Write a small file atomically."""
    with replacing(path) as temporary:
        temporary.write_bytes(content)


def write_json(path: Path, value: Any) -> None:
    """Write a JSON document atomically, indented by two spaces, UTF-8."""
    write_bytes(path, (json.dumps(value, indent=2, ensure_ascii=False) + "\n").encode())


def write_parquet(path: Path, table: "pa.Table") -> None:
    """Write an Arrow table as one Zstandard-compressed Parquet file."""
    import pyarrow.parquet as pq  # every command writes files, few of them tables

    with replacing(path) as temporary:
        pq.write_table(table, temporary, compression="zstd")


def write_with(path: Path, writer: Callable[[Path], None]) -> None:
    """Write atomically with a function that writes to a path."""
    with replacing(path) as temporary:
        writer(temporary)


def make_folder(folder: Path) -> None:
    """Create a folder and its parents unless they exist; raises `BerdseyeError` if that fails."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise _unwritable(folder, error) from error


def sync_folder(folder: Path) -> None:
    """Flush all files of a folder to disk."""
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
        f"The file could not be written: {error.strerror or error}.",
        where=path,
        hint="Nothing was changed. Free some space or check the permissions of the folder, then try again.",
    )
