"""How much of the disk each part of a workspace takes."""

import os
import shutil
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from berdseye.data.workspace import Workspace

PARTS: Mapping[str, str] = {
    "corpora": "Corpora",
    "indexes": "Indexes",
    "datasets": "Data sets",
    "runs": "Runs",
    "labels": "Labels",
    "judgments.db": "Judgments",
    "answers": "Answers",
    "studies": "Studies",
    "constructions": "Constructions",
    "generated": "Completions of language models",
    "generated/.wikipedia": "Dumps of Wikipedia, as read",
    "detectors": "Trained detectors",
    "training_sets": "Training sets",
    "backups": "Backups",
    "downloads": "Downloaded data sets",
    "uploads": "Uploaded files",
    "label_studio": "Label Studio",
    "jobs": "Jobs",
    "logs": "Logs",
}
"""The parts that have a name of their own, by their file or folder. Indexes lie in the folders of their corpora."""
OTHER = "Other files"
_INDEXES = ("indexes", "shards")


class Part(NamedTuple):
    """A part of a workspace: its name, its number of files, and their bytes."""

    name: str
    files: int
    bytes: int


class DiskUse(NamedTuple):
    """The parts of a workspace, the largest first, and the disk that contains it: all of its bytes and those that are free."""

    parts: list[Part]
    disk: int
    free: int

    @property
    def bytes(self) -> int:
        """The bytes of all parts."""
        return sum(part.bytes for part in self.parts)


def disk_use(workspace: Workspace) -> DiskUse:
    """Add up the files of a workspace. Links are not followed; a file that vanishes meanwhile is left out."""
    sizes, counts = Counter[str](), Counter[str]()
    for path, size in _files(workspace.folder):
        part = _part(path.relative_to(workspace.folder).parts)
        sizes[part] += size
        counts[part] += 1
    disk = shutil.disk_usage(workspace.folder)
    return DiskUse([Part(name, counts[name], size) for name, size in sizes.most_common()], disk.total, disk.free)


def folder_bytes(folder: Path) -> int:
    """Return the bytes of all files in a folder, 0 if it does not exist."""
    return sum(size for _, size in _files(folder))


def shown_size(size: int) -> str:
    """Write a number of bytes for people, with three digits at most: 812 B, 4.2 MB, 12 GB."""
    value, units = float(size), ("B", "kB", "MB", "GB", "TB")
    for unit in units:
        if value < 999.5 or unit == units[-1]:
            return f"{value:.1f} {unit}" if unit != "B" and value < 9.95 else f"{value:,.0f} {unit}"
        value /= 1000
    raise AssertionError("The last unit takes every size.")


def _files(folder: Path) -> Iterator[tuple[Path, int]]:
    """Yield the files below a folder with their bytes."""
    for place, _, names in os.walk(folder):
        for name in names:
            path = Path(place) / name
            with suppress(OSError):
                yield path, path.lstat().st_size


def _part(parts: tuple[str, ...]) -> str:
    top = parts[0]
    if top == "corpora" and len(parts) > 2 and parts[2] in _INDEXES:
        return PARTS["indexes"]
    if (inner := "/".join(parts[:2])) in PARTS and len(parts) > 2:
        return PARTS[inner]
    return PARTS["judgments.db"] if top.startswith("judgments.db") else PARTS.get(top, OTHER)
