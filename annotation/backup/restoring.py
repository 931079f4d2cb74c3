"""`berdseye restore`: a backup as a workspace again, whole or not at all, and never over anything."""

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
_BROKEN = (
    zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, ValueError, TypeError, LookupError,
    AttributeError,
)  # fmt: skip


def restore(
    file: Path, folder: Path, *, judgments_url: str = "", progress: Progress = silent
) -> tuple[Workspace, BackupManifest]:
    """Unpack a backup into a new folder; with `judgments_url` the judgments go into that empty database.

    Every file is compared with its hash, and the judgments are opened, brought to the newest schema and counted, before the
    folder appears. Raises `BadInputError` for a folder that holds anything, and for a backup that is damaged, was changed or
    holds names that point elsewhere; nothing is left behind then.
    """
    folder = folder.expanduser().resolve()
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise BadInputError("The folder holds something already.", where=folder, hint="Name a new one.")
    if not file.is_file():
        raise BadInputError("There is no such file.", where=file, hint="Check the path.")
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
        draft.replace(folder)  # over an empty folder at most: any other is an error
    except OSError as error:
        raise BerdseyeError(
            f"Could not be restored: {error.strerror or error}.", where=folder, hint="Nothing was changed."
        ) from error
    finally:
        shutil.rmtree(draft, ignore_errors=True)
    return Workspace.open(folder), manifest


def read_manifest(archive: zipfile.ZipFile, file: Path) -> BackupManifest:
    """What a backup says of itself; raises `BadInputError` where it is none, or of a newer form."""
    hint = "Is it a backup of `berdseye backup`?"
    if MANIFEST not in archive.namelist() or archive.getinfo(MANIFEST).file_size > _LARGEST_MANIFEST:
        raise BadInputError("There is no manifest in it.", where=file, hint=hint)
    read = json.loads(archive.read(MANIFEST))
    if read["format"] != FORMAT:
        raise BadInputError(f"Its form is {read['format']}.", where=file, hint="Take the Berdseye that wrote it.")
    return BackupManifest(**read | {"files": {str(name): Entry(**e) for name, e in read["files"].items()}})


def _unpacked(file: Path, draft: Path, progress: Progress) -> BackupManifest:
    try:
        with zipfile.ZipFile(file) as archive:
            manifest = read_manifest(archive, file)
            names = archive.namelist()
            if sorted(names) != sorted([*manifest.files, MANIFEST]):
                raise BadInputError(
                    "It does not hold the files of its manifest.", where=file, hint="Take another copy."
                )
            _check_size(archive, draft, file)
            for number, (name, entry) in enumerate(manifest.files.items(), start=1):
                _unpack(archive, name, entry, draft, file)
                progress(number, "files", len(manifest.files))
            return manifest
    except _BROKEN as error:
        raise BadInputError(f"Cannot be unpacked: {error}.", where=file, hint="Take another copy.") from error


def _check_size(archive: zipfile.ZipFile, draft: Path, file: Path) -> None:
    """Refuse what cannot fit before anything is written: a small file may unpack to more than the disk holds."""
    unpacked, free = sum(entry.file_size for entry in archive.infolist()), shutil.disk_usage(draft).free
    if unpacked > free:
        raise BadInputError(
            f"It unpacks to {unpacked >> 20:,} MiB, and {free >> 20:,} MiB are free.",
            where=file,
            hint="Free some space.",
        )


def _unpack(archive: zipfile.ZipFile, name: str, entry: Entry, draft: Path, file: Path) -> None:
    """One file, its name judged before anything is written and its length while it is."""
    if not _NAME.fullmatch(name) or {".", "..", ""} & set(name.split("/")):
        raise BadInputError(
            f"'{name[:80]!a}' is no file of a workspace.", where=file, hint="It was not made by Berdseye."
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
        raise BadInputError(f"'{name}' is not as it was backed up.", where=file, hint="Take another copy.")


def _check_judgments(file: Path, draft: Path, manifest: BackupManifest) -> None:
    path = draft / JUDGMENTS
    try:
        open_database(f"sqlite:///{path}").dispose()  # an older backup comes to the newest schema
        checkpoint_and_verify(path)
        found = count_events(path)
    except sqlite3.Error as error:
        raise BadInputError(f"The judgments are damaged: {error}.", where=file, hint="Take another copy.") from error
    if found != manifest.events:
        raise BadInputError(
            f"It holds {found} events, and {manifest.events} were backed up.", where=file, hint="Take another copy."
        )
    for left in draft.glob(f"{JUDGMENTS}.*"):
        left.unlink()


def _set_url(draft: Path, url: str) -> None:
    """Have the settings name this database, and no other: a backup made by a stranger could name one of this machine."""
    settings = Workspace.open(draft).settings
    if not url:
        if settings["judgments"]["url"]:
            settings["judgments"]["url"] = ""
            write_bytes(draft / SETTINGS, tomli_w.dumps(settings).encode())
        return
    # The settings hold no secret: whoever opens the workspace brings the password along, as before.
    full = make_url(url).difference_update_query(["password"])
    plain = URL.create(full.drivername, full.username, None, full.host, full.port, full.database, full.query)
    settings["judgments"]["url"] = plain.render_as_string()
    write_bytes(draft / SETTINGS, tomli_w.dumps(settings).encode())
