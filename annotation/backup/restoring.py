"""`berdseye restore`: turn a backup into a workspace again, completely or not at all, and without overwriting anything."""

import hashlib
import json
import re
import shutil
import sqlite3
import zipfile
import zlib
from pathlib import Path
from uuid import uuid4

import tomli_w
from sqlalchemy.engine import URL, make_url

from berdseye.annotation.backup.judgments_copy import checkpoint_and_verify, count_events, load_judgments
from berdseye.annotation.backup.writing import FORMAT, JUDGMENTS, MANIFEST, SETTINGS, BackupManifest, Entry
from berdseye.annotation.judgments.database import open_database
from berdseye.data.errors import BadInputError, BerdseyeError
from berdseye.data.files.atomic import sync_folder, write_bytes
from berdseye.data.progress import Progress, silent
from berdseye.data.workspace import Workspace

_NAME = re.compile(r"[^/\\\x00-\x1f]{1,250}(/[^/\\\x00-\x1f]{1,250}){0,20}")
_CHUNK = 1 << 20
_LARGEST_MANIFEST = 256 << 20
_ANOTHER_COPY = "Use another copy of the backup."
BROKEN = (
    zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, ValueError, TypeError, LookupError,
    AttributeError,
)  # fmt: skip
"""What reading a damaged archive or manifest can raise."""


def restore(
    file: Path, folder: Path, *, judgments_url: str = "", progress: Progress = silent
) -> tuple[Workspace, BackupManifest]:
    """Unpack a backup into a new folder; with `judgments_url`, the judgments go into that empty database.

    Before the folder appears, every file is compared with its checksum, and the judgments are opened, migrated to the newest
    schema and counted. Raises `BadInputError` for a folder that is not empty, and for a backup that is damaged, was changed or
    has file names that point outside the folder; then nothing is left behind.
    """
    folder = folder.expanduser().resolve()
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise BadInputError("The folder is not empty.", where=folder, hint="Name a new folder.")
    if not file.is_file():
        raise BadInputError("The backup file does not exist.", where=file, hint="Check the path.")
    draft = folder.with_name(f".{folder.name}.{uuid4().hex[:8]}.restoring")
    try:
        draft.mkdir(parents=True, mode=0o700)
        manifest = _unpacked(file, draft, progress)
        _check_judgments(file, draft, manifest)
        _set_url(draft, judgments_url)
        if judgments_url:
            load_judgments(draft / JUDGMENTS, judgments_url)
            (draft / JUDGMENTS).unlink()
        Workspace.open(draft)
        for place in (draft, *(p for p in draft.rglob("*") if p.is_dir())):
            sync_folder(place)
        draft.chmod(0o755)
        draft.replace(folder)  # replaces an empty folder at most: any other raises an error
    except OSError as error:
        raise BerdseyeError(
            f"The backup could not be restored: {error.strerror or error}.", where=folder, hint="Nothing was changed."
        ) from error
    finally:
        shutil.rmtree(draft, ignore_errors=True)
    return Workspace.open(folder), manifest


def read_manifest(archive: zipfile.ZipFile, file: Path) -> BackupManifest:
    """Read the manifest of a backup; raises `BadInputError` for a file that is not a backup, or one of another format."""
    if MANIFEST not in archive.namelist() or archive.getinfo(MANIFEST).file_size > _LARGEST_MANIFEST:
        raise BadInputError(
            "The file has no manifest of a backup.", where=file, hint="Use a file written by `berdseye backup`."
        )
    fields = json.loads(archive.read(MANIFEST))
    if fields["format"] != FORMAT:
        raise BadInputError(
            f"The backup has format {fields['format']}; this version reads format {FORMAT}.",
            where=file,
            hint="Use the version of Berdseye that wrote it.",
        )
    return BackupManifest(**fields | {"files": {str(name): Entry(**e) for name, e in fields["files"].items()}})


def _unpacked(file: Path, draft: Path, progress: Progress) -> BackupManifest:
    try:
        with zipfile.ZipFile(file) as archive:
            manifest = read_manifest(archive, file)
            names = archive.namelist()
            if sorted(names) != sorted([*manifest.files, MANIFEST]):
                raise BadInputError(
                    "The files in the backup are not those of its manifest.", where=file, hint=_ANOTHER_COPY
                )
            _check_size(archive, draft, file)
            for number, (name, entry) in enumerate(manifest.files.items(), start=1):
                _unpack(archive, name, entry, draft, file)
                progress(number, "files", len(manifest.files))
            return manifest
    except BROKEN as error:
        raise BadInputError(f"The backup cannot be unpacked: {error}.", where=file, hint=_ANOTHER_COPY) from error


def _check_size(archive: zipfile.ZipFile, draft: Path, file: Path) -> None:
    """Refuse a backup that does not fit before anything is written: a small file may unpack to more than the disk can hold."""
    unpacked, free = sum(entry.file_size for entry in archive.infolist()), shutil.disk_usage(draft).free
    if unpacked > free:
        raise BadInputError(
            f"The backup unpacks to {unpacked >> 20:,} MiB, but only {free >> 20:,} MiB are free.",
            where=file,
            hint="Free some disk space.",
        )


def _unpack(archive: zipfile.ZipFile, name: str, entry: Entry, draft: Path, file: Path) -> None:
    """Unpack one file; its name is checked before anything is written, and its length during the writing."""
    if not _NAME.fullmatch(name) or {".", "..", ""} & set(name.split("/")):
        raise BadInputError(
            f"{name[:80]!a} cannot be the name of a file in a workspace.",
            where=file,
            hint="Berdseye did not write this backup.",
        )
    path = draft / name
    path.parent.mkdir(parents=True, exist_ok=True)
    digest, size = hashlib.sha256(), 0
    with archive.open(name) as source, path.open("xb") as target:
        while (chunk := source.read(_CHUNK)) and size <= entry.size:
            digest.update(chunk)
            size += len(chunk)
            target.write(chunk)
    if (size, digest.hexdigest()) != (entry.size, entry.sha256):
        raise BadInputError(f"'{name}' does not match its checksum in the backup.", where=file, hint=_ANOTHER_COPY)


def _check_judgments(file: Path, draft: Path, manifest: BackupManifest) -> None:
    path = draft / JUDGMENTS
    try:
        open_database(f"sqlite:///{path}").dispose()  # migrates an older backup to the newest schema
        checkpoint_and_verify(path)
        events = count_events(path)
    except sqlite3.Error as error:
        raise BadInputError(
            f"The judgments in the backup are damaged: {error}.", where=file, hint=_ANOTHER_COPY
        ) from error
    if events != manifest.events:
        raise BadInputError(
            f"The backup has {events} events, but its manifest says {manifest.events}.", where=file, hint=_ANOTHER_COPY
        )
    for left in draft.glob(f"{JUDGMENTS}.*"):
        left.unlink()


def _set_url(draft: Path, url: str) -> None:
    """Set the database in the settings to this URL: a backup by a stranger could name a database of this machine."""
    settings = Workspace.open(draft).settings
    if not url:
        if settings["judgments"]["url"]:
            settings["judgments"]["url"] = ""
            write_bytes(draft / SETTINGS, tomli_w.dumps(settings).encode())
        return
    # The settings contain no secret: who opens the workspace has to supply the password.
    full = make_url(url).difference_update_query(["password"])
    plain = URL.create(full.drivername, full.username, None, full.host, full.port, full.database, full.query)
    settings["judgments"]["url"] = plain.render_as_string()
    write_bytes(draft / SETTINGS, tomli_w.dumps(settings).encode())
