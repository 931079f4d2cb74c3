"""The tab Backup of the Workspace page: makes backups as jobs, lists and checks them, and restores one beside the workspace."""

import hashlib
import re
import shlex
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from itertools import count
from pathlib import Path
from typing import IO

import streamlit as st

from berdseye.annotation.backup.listing import (
    StoredBackup,
    clear_drafts,
    estimate,
    list_backups,
    manifest_of,
    new_backup_path,
    verify,
)
from berdseye.annotation.backup.restoring import restore
from berdseye.annotation.backup.writing import BackupManifest
from berdseye.app.access.roles import check
from berdseye.app.access.session import errors_in_place, role, started_by, workspace
from berdseye.app.components.downloads import download
from berdseye.app.components.job_box import draw_unfinished_jobs
from berdseye.app.components.plain_text import escaped
from berdseye.app.components.reader_time import shown_moment
from berdseye.app.jobs.running import Job, list_jobs, start_job
from berdseye.data.disk_use import shown_size
from berdseye.data.errors import BadInputError
from berdseye.data.progress import Progress
from berdseye.data.texts.counts import counted

_LARGEST_DOWNLOAD = 1_000_000_000
"""Larger files are copied from the machine: a download is held in the app's memory."""
_UPLOAD_MEGABYTES = 1000
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_RESTORED, _CHECKED = "backup-restored", "backup-checked"


def backup_panel() -> None:
    """Draw the making of a backup, the list of backups, and the restoring."""
    _draw_new()
    jobs = list_jobs(workspace())
    clear_drafts(workspace(), _ended_names(jobs))
    draw_unfinished_jobs("backups", _is_backup)
    st.subheader("Backups", anchor=False)
    backups = list_backups(workspace())
    if not backups:
        st.caption("No backup has been made here yet.")
    for backup in backups:
        _draw_backup(backup)
    st.subheader("Restore", anchor=False)
    _draw_restore([backup for backup in backups if backup.manifest is not None])


def _draw_new() -> None:
    st.caption(
        "A backup contains judgments, settings, data sets, runs, labels, trained detectors and results of studies, each file "
        "with its SHA-256. It contains no secrets, no downloads and no earlier backups. People can go on working meanwhile."
    )
    with st.container(horizontal=True, vertical_alignment="center"):
        corpora = st.toggle("Include corpora and their indexes", key="backup-corpora")
        sizes = estimate(workspace(), corpora=corpora)
        pressed = st.button("Make a backup", type="primary", icon=":material/backup:", key="backup-make")
        st.caption(
            escaped(
                f"{counted(sizes.files, 'file')}, {shown_size(sizes.bytes)} before compression. Folder: {_folder()}."
            )
        )
    if pressed:
        check(role(), "administer", started_by() or "this person")
        path = new_backup_path(workspace())
        start_job(workspace(), ("backup", str(path), *(("--corpora",) if corpora else ())), person=started_by())
        st.rerun()


def _draw_backup(backup: StoredBackup) -> None:
    """Draw one backup with its contents and its buttons."""
    name = backup.path.name
    with st.container(border=True, key=f"backup-{name}"):
        with st.container(horizontal=True, vertical_alignment="center"):
            st.markdown(f"**{escaped(name)}**")
            if backup.manifest is None:
                st.markdown(":red-badge[:material/error: cannot be read]")
            elif st.button("Check", icon=":material/verified:", key=f"check-{name}"):
                _check(backup)
            if backup.bytes <= _LARGEST_DOWNLOAD:
                download("Download", backup.path.read_bytes, name, key=f"get-{name}")
            with st.popover("Delete", icon=":material/delete:", key=f"delete-{name}"):
                st.caption("The file is deleted for good.")
                if st.button("Delete this backup", type="primary", key=f"really-{name}"):
                    check(role(), "administer", started_by() or "this person")
                    backup.path.unlink(missing_ok=True)
                    st.rerun()
        if backup.manifest is None:
            st.caption(escaped(backup.trouble))
        else:
            st.caption(escaped(f"{description(backup.manifest)} {shown_size(backup.bytes)}."))
        if backup.bytes > _LARGEST_DOWNLOAD:
            st.caption(escaped(f"Too large to download here: copy {backup.path} from the machine."))
        known = st.session_state.get(_CHECKED, {}).get((name, backup.bytes))
        if known:
            st.caption(
                f":green[:material/check_circle:] Every file matches its checksum. SHA-256 of the backup: `{known}`"
            )


def description(manifest: BackupManifest) -> str:
    """Say what a backup contains."""
    made = shown_moment(datetime.fromisoformat(manifest.created))
    files, events = counted(len(manifest.files), "file"), counted(manifest.events, "judgment event")
    corpora = "with corpora" if manifest.corpora else "without corpora"
    return f"Made {made} by Berdseye {manifest.berdseye}: {events}, {files}, {corpora}."


def _check(backup: StoredBackup) -> None:
    with errors_in_place():
        with _bar("Comparing the files with their checksums") as progress:
            verify(backup.path, backup.path.name, progress)
            with backup.path.open("rb") as file:
                digest = hashlib.file_digest(file, "sha256").hexdigest()
        st.session_state.setdefault(_CHECKED, {})[backup.path.name, backup.bytes] = digest


def _draw_restore(backups: list[StoredBackup]) -> None:
    """Draw the choice of a backup, its contents, and the button that restores it into a new folder beside the workspace."""
    st.caption("A backup is restored into a new folder beside this workspace. This workspace does not change.")
    if folder := st.session_state.get(_RESTORED):
        st.success("The backup is restored. Open it with this command:", icon=":material/check_circle:")
        st.code(f"berdseye app --workspace {shlex.quote(folder)}", language="bash")
    left, right = st.columns(2)
    stored = {backup.path.name: backup.path for backup in backups}
    chosen = left.selectbox("Backup", list(stored), index=None, placeholder="Choose a backup", key="restore-chosen")
    uploaded = right.file_uploader(
        "Or upload one", type="zip", key="restore-uploaded", max_upload_size=_UPLOAD_MEGABYTES
    )
    if uploaded is None and not chosen:
        return
    source: Path | IO[bytes] = uploaded if uploaded is not None else stored[str(chosen)]
    name = uploaded.name if uploaded is not None else str(chosen)
    manifest = manifest_of(source, name)
    st.markdown(f"**{escaped(name)}**: {escaped(description(manifest))}")
    folder_name = st.text_input(
        "New folder", _free_name(), key="restore-name", help="Its folder is that of this workspace."
    )
    with st.container(horizontal=True, vertical_alignment="center"):
        if st.button("Restore", type="primary", icon=":material/restore:", key="restore-go"):
            st.session_state.pop(_RESTORED, None)
            st.session_state[_RESTORED] = str(_restore(source, name, folder_name.strip()))
            st.session_state.pop("restore-name", None)
            st.rerun()
        st.caption(escaped(f"Every file is checked first. Then {_beside() / (folder_name.strip() or '…')} is created."))


def _restore(source: Path | IO[bytes], name: str, folder_name: str) -> Path:
    """Restore a backup into a new folder beside the workspace and return the folder. After an error, nothing is left behind."""
    check(role(), "administer", started_by() or "this person")
    if not _NAME.fullmatch(folder_name):
        raise BadInputError(
            f"'{folder_name}' cannot be the name of the new folder.",
            hint="Use up to 64 letters, digits, dots, hyphens and underscores, starting with a letter or digit.",
        )
    folder = _beside() / folder_name
    if folder.exists():
        raise BadInputError("The folder already exists.", where=folder, hint="Choose another name.")
    with _bar("Restoring") as progress, _as_file(source, name) as file:
        verify(file, name, progress)
        restored, _ = restore(file, folder, progress=progress)
    return restored.folder


@contextmanager
def _as_file(source: Path | IO[bytes], name: str) -> Iterator[Path]:
    """Yield the path of a stored backup, or that of a copy of an uploaded one, which is deleted afterwards."""
    if isinstance(source, Path):
        yield source
        return
    with tempfile.TemporaryDirectory(prefix="berdseye-upload-") as scratch:
        path = Path(scratch) / f"{hashlib.sha256(name.encode()).hexdigest()[:12]}.zip"
        source.seek(0)
        try:
            with path.open("wb") as copy:
                while chunk := source.read(1 << 20):
                    copy.write(chunk)
        except OSError as error:
            raise BadInputError(
                f"The uploaded file could not be stored: {error.strerror or error}.",
                where=name,
                hint="Free some disk space.",
            ) from error
        yield path


@contextmanager
def _bar(text: str) -> Iterator[Progress]:
    """Draw a progress bar for the time of the work."""
    place, drawn_at = st.empty(), 0.0
    place.progress(0.0, text=text)

    def progress(done: int, what: str, total: int | None = None, /) -> None:
        nonlocal drawn_at
        if time.monotonic() - drawn_at > 0.2:
            drawn_at = time.monotonic()
            place.progress(min(1.0, done / total) if total else 0.0, text=f"{text}: {done:,} of {total or 0:,} {what}")

    try:
        yield progress
    finally:
        place.empty()


def _folder() -> Path:
    return workspace().backups_folder


def _beside() -> Path:
    return workspace().folder.parent


def _free_name() -> str:
    """Return a name beside the workspace that is not in use."""
    stem = re.sub(r"[^A-Za-z0-9._-]", "-", workspace().folder.name)[:40].lstrip("._-") or "workspace"
    names = (f"{stem}-restored{f'-{number}' if number > 1 else ''}" for number in count(1))
    return next(name for name in names if not (_beside() / name).exists())


def _is_backup(job: Job) -> bool:
    return job.arguments[:1] == ("backup",)


def _ended_names(jobs: list[Job]) -> list[str]:
    """Return the file names of backups whose jobs ended early."""
    return [Path(job.arguments[1]).name for job in jobs if _is_backup(job) and job.state not in ("runs", "done")]
