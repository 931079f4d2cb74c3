"""The backups of a workspace in its folder `backups`: their names, contents, estimated sizes and checks."""

import hashlib
import re
import zipfile
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, NamedTuple

from berdseye.annotation.backup.restoring import BROKEN, read_manifest
from berdseye.annotation.backup.writing import MANIFEST, BackupManifest, files
from berdseye.data.errors import BadInputError, BerdseyeError
from berdseye.data.progress import Progress, silent
from berdseye.data.workspace import Workspace

_CHUNK = 1 << 20
_TIME = "%Y-%m-%d-%H%M%S"


@dataclass(frozen=True)
class StoredBackup:
    """A file in the folder of backups. Without a `manifest`, it cannot be read, and `trouble` says why."""

    path: Path
    bytes: int
    manifest: BackupManifest | None
    trouble: str = ""


class Estimate(NamedTuple):
    """What a backup would contain: the number of files, and their bytes before they are compressed."""

    files: int
    bytes: int


def new_backup_path(workspace: Workspace, now: datetime | None = None) -> Path:
    """Return the path of a new backup, which its time names."""
    name = re.sub(r"[^A-Za-z0-9._-]", "-", workspace.folder.name)
    return workspace.backups_folder / f"{name}-{now or datetime.now(UTC):{_TIME}}.zip"


def list_backups(workspace: Workspace) -> list[StoredBackup]:
    """Return the backups in the workspace's folder of backups, newest first; files that cannot be read come last."""
    found = []
    for path in workspace.backups_folder.glob("[!.]*.zip"):
        with suppress(FileNotFoundError):  # deleted meanwhile
            size = path.stat().st_size
            try:
                found.append(StoredBackup(path, size, manifest_of(path, path.name)))
            except BerdseyeError as error:
                found.append(StoredBackup(path, size, None, str(error)))
    found.sort(key=lambda one: one.path.name)
    return sorted(found, key=lambda one: one.manifest.created if one.manifest else "", reverse=True)


def manifest_of(file: Path | IO[bytes], name: str) -> BackupManifest:
    """Return what a backup says of itself. Raises `BadInputError` for a file that is not a backup or is cut off."""
    try:
        with zipfile.ZipFile(file) as archive:
            return read_manifest(archive, Path(name))
    except BROKEN as error:
        raise BadInputError(
            f"The file is not a complete backup: {error}.", where=name, hint="Use another copy."
        ) from error
    except OSError as error:
        raise BadInputError(
            f"The file cannot be read: {error.strerror or error}.", where=name, hint="Use another copy."
        ) from error


def verify(file: Path | IO[bytes], name: str, progress: Progress = silent) -> BackupManifest:
    """Compare every file of a backup with its SHA-256, and return the manifest. Raises `BadInputError` for any difference."""
    manifest = manifest_of(file, name)
    try:
        with zipfile.ZipFile(file) as archive:
            if sorted(archive.namelist()) != sorted([*manifest.files, MANIFEST]):
                raise BadInputError(
                    "The files in the backup are not those of its manifest.", where=name, hint="Use another copy."
                )
            for number, (inside, entry) in enumerate(manifest.files.items(), start=1):
                digest, size = hashlib.sha256(), 0
                with archive.open(inside) as source:
                    while (chunk := source.read(_CHUNK)) and size <= entry.size:
                        digest.update(chunk)
                        size += len(chunk)
                if (size, digest.hexdigest()) != (entry.size, entry.sha256):
                    raise BadInputError(
                        f"'{inside}' does not match its checksum in the backup.", where=name, hint="Use another copy."
                    )
                progress(number, "files compared with their checksums", len(manifest.files))
    except BROKEN as error:
        raise BadInputError(f"The backup cannot be read: {error}.", where=name, hint="Use another copy.") from error
    return manifest


def estimate(workspace: Workspace, *, corpora: bool) -> Estimate:
    """Return what a backup would contain now."""
    sizes = [_size(path) for path in files(workspace, corpora=corpora)]
    database = workspace.folder / "judgments.db"
    sizes += [_size(database)] if database.is_file() else []
    return Estimate(len(sizes), sum(sizes))


def clear_drafts(workspace: Workspace, names: Iterable[str]) -> None:
    """Delete the incomplete files of backups that ended before they were complete, given by the names of their files."""
    for name in names:
        for draft in workspace.backups_folder.glob(f".{name}.????????.tmp"):
            draft.unlink(missing_ok=True)


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0
