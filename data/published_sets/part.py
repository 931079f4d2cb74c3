"""What a published data set is made of."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from berdseye.data.dataset_formats import Imported


class RemoteFile(NamedTuple):
    """A file as it is kept below the data set's folder, and its public address.

    `sha256` is empty where nobody here has seen the file; the first fetch then records it. `also` are other names that local
    copies go by.
    """

    path: str
    url: str
    sha256: str = ""
    also: tuple[str, ...] = ()


class Read(NamedTuple):
    """What was read of a part, and what its counts say of it: as published, or how they differ."""

    imported: Imported
    counts: str


@dataclass(frozen=True)
class Part:
    """A part becomes one data set of the workspace; `read` takes the folder its files are kept in.

    Where the files are published in one form and lie about in another too, `local` is that other form. What can only be had
    `by_hand`, from this address, has no files here, and is read where it lies.
    """

    dataset: str
    files: tuple[RemoteFile, ...]
    read: Callable[[Path], Read]
    local: tuple[RemoteFile, ...] = ()
    by_hand: str = ""


def told_count(found: int, published: int, what: str) -> str:
    """How a count compares with the published one."""
    if found == published:
        return f"{found:,} {what}, as published"
    return f"{found:,} {what} ({published:,} are published)"
