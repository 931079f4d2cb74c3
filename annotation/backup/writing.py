"""`berdseye backup`: one zip file, with a manifest that gives the SHA-256 of each file in it.

A backup contains everything that was created in the workspace, and nothing that is secret or can be obtained again.
"""

import copy
import hashlib
import json
import tempfile
import zipfile
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import IO, Any

import tomli_w

from berdseye.annotation.backup.judgments_copy import copy_judgments, copy_sqlite, count_events
from berdseye.data.errors import BadInputError
from berdseye.data.files.atomic import replacing
from berdseye.data.progress import Progress, silent
from berdseye.data.workspace import Workspace

JUDGMENTS = "judgments.db"
SETTINGS = "berdseye.toml"
LEFT_OUT = {
    "downloads": "published data sets, which can be downloaded again",
    "label_studio": "Label Studio's own database and its secrets; judgments made there are in the backup once pulled",
    "logs": "what was done in this workspace, for the people who run it",
    "backups": "earlier backups",
    "uploads": "uploaded files; what was added from them is in the backup",
    "jobs": "background jobs of the app; the results of finished jobs are in the backup",
    "corpora": "corpora and their indexes, unless --corpora is given",
}
_LIVE = (JUDGMENTS, f"{JUDGMENTS}-wal", f"{JUDGMENTS}-shm", f"{JUDGMENTS}-journal", f"{JUDGMENTS}.migrating", SETTINGS)
_LOGS = ("-wal", "-shm", "-journal")
MANIFEST = "manifest.json"
FORMAT = 1
_PACKED = (".parquet", ".safetensors", ".zip", ".gz", ".zst", ".npz")
_CHUNK = 1 << 20


def files(workspace: Workspace, *, corpora: bool) -> Iterator[Path]:
    """Yield the files to back up, by name, except the judgments and the settings, which are handled separately.

    Files and folders whose names begin with a dot are drafts, locks and caches; the logs of databases are part of the
    databases' copies.
    """
    top = workspace.folder
    for path in sorted(top.rglob("*")):
        parts = path.relative_to(top).parts
        if (
            path.is_symlink()
            or not path.is_file()
            or any(part.startswith(".") for part in parts)
            or parts[0] in LEFT_OUT.keys() - ({"corpora"} if corpora else set())
            or (len(parts) == 1 and parts[0] in _LIVE)
            or parts[-1].endswith(_LOGS)
        ):
            continue
        yield path


def is_database(path: Path) -> bool:
    """Return whether a file is a SQLite database, which must not be copied byte by byte while it is written."""
    with path.open("rb") as file:
        return file.read(16) == b"SQLite format 3\0"


@dataclass(frozen=True)
class Entry:
    """A file of a backup: its SHA-256 and its size in bytes."""

    sha256: str
    size: int


@dataclass(frozen=True)
class BackupManifest:
    """The manifest of a backup: `events` counts the events of the judgments, `gone` lists files that vanished meanwhile."""

    format: int
    berdseye: str
    created: str
    judgments_from: str
    events: int
    corpora: bool
    files: dict[str, Entry]
    gone: list[str]

    def to_json(self) -> str:
        return json.dumps(asdict(self), indent=1, ensure_ascii=False)


def back_up(workspace: Workspace, file: Path, *, corpora: bool = False, progress: Progress = silent) -> BackupManifest:
    """Write a backup while people work; the file appears complete or not at all, and never replaces an older one.

    It contains all judgments from before the call, and perhaps some made during it; each other file is copied in its state
    at its turn. Raises `BadInputError` for a file that exists or is not named .zip.
    """
    if file.suffix != ".zip":
        raise BadInputError(
            f"A backup must be a .zip file, got '{file.name}'.", where=file, hint="Use a name such as backup.zip."
        )
    if file.exists():
        raise BadInputError("The file already exists.", where=file, hint="Choose another name.")
    entries: dict[str, Entry] = {}
    vanished: list[str] = []
    paths = list(files(workspace, corpora=corpora))
    with tempfile.TemporaryDirectory() as scratch, replacing(file) as draft:
        copied = Path(scratch) / JUDGMENTS
        copy_judgments(workspace.judgments_url, copied)
        with zipfile.ZipFile(draft, "w", zipfile.ZIP_DEFLATED, compresslevel=6) as archive:
            entries[JUDGMENTS] = _add(archive, JUDGMENTS, copied)
            entries[SETTINGS] = _add_bytes(archive, SETTINGS, _settings(workspace))
            for number, path in enumerate(paths, start=1):
                name = path.relative_to(workspace.folder).as_posix()
                try:
                    entries[name] = _add(archive, name, _stable(path, Path(scratch)))
                except FileNotFoundError:
                    vanished.append(name)
                progress(number, "files", len(paths))
            manifest = BackupManifest(
                FORMAT,
                version("berdseye"),
                datetime.now(UTC).isoformat(timespec="seconds"),
                workspace.judgments_url.partition(":")[0].partition("+")[0],
                count_events(copied),
                corpora,
                entries,
                vanished,
            )
            _add_bytes(archive, MANIFEST, manifest.to_json().encode())
    return manifest


def left_out(workspace: Workspace, manifest: BackupManifest) -> dict[str, str]:
    """Return the parts of the workspace that are not in the backup, each with the reason."""
    existing = {name: why for name, why in LEFT_OUT.items() if (workspace.folder / name).exists()}
    return {name: why for name, why in existing.items() if not (name == "corpora" and manifest.corpora)}


def _settings(workspace: Workspace) -> bytes:
    """Return the settings without the URL of a judgments server, which may contain a password; the backup has the judgments."""
    settings: dict[str, Any] = copy.deepcopy(workspace.settings)
    settings["judgments"]["url"] = ""
    return tomli_w.dumps(settings).encode()


def _stable(path: Path, scratch: Path) -> Path:
    """Return the file, or a copy if it is a database, which may be written meanwhile."""
    if not is_database(path):
        return path
    copied = scratch / "database"
    copied.unlink(missing_ok=True)
    copy_sqlite(path, copied)
    return copied


def _add(archive: zipfile.ZipFile, name: str, path: Path) -> Entry:
    """Add a file, hashed as it is read; a file that is replaced meanwhile is added in its state when it was opened."""
    with path.open("rb") as source:
        return _write(archive, name, source, packed=path.suffix in _PACKED)


def _add_bytes(archive: zipfile.ZipFile, name: str, content: bytes) -> Entry:
    archive.writestr(_info(name), content, zipfile.ZIP_DEFLATED)
    return Entry(hashlib.sha256(content).hexdigest(), len(content))


def _write(archive: zipfile.ZipFile, name: str, source: IO[bytes], *, packed: bool) -> Entry:
    info = _info(name)
    info.compress_type = zipfile.ZIP_STORED if packed else zipfile.ZIP_DEFLATED
    digest, size = hashlib.sha256(), 0
    with archive.open(info, "w", force_zip64=True) as target:
        while chunk := source.read(_CHUNK):
            digest.update(chunk)
            size += len(chunk)
            target.write(chunk)
    return Entry(digest.hexdigest(), size)


def _info(name: str) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(name, datetime.now(UTC).timetuple()[:6])
    info.external_attr = 0o600 << 16
    return info
