"""Adding a published data set to a workspace, downloaded from its public address or read from local copies.

Downloads are verified: by the published SHA-256 of a file or, where none is known, by the one that its first download had.
"""

import hashlib
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import pooch  # type: ignore[import-untyped]
import requests

from berdseye.data.datasets.published import SETS, PublishedPart, RemoteFile, named_sets
from berdseye.data.datasets.stored import keep_imported
from berdseye.data.errors import BadInputError, UnavailableError
from berdseye.data.files.atomic import replacing, write_json
from berdseye.data.files.json_files import read_json
from berdseye.data.progress import Progress, silent
from berdseye.data.workspace import Workspace

RECORD = "hashes.json"
_RETRIES = 2
_SECONDS = 60
_CHUNK = 1 << 16
pooch.get_logger().setLevel("ERROR")


def download(file: RemoteFile, folder: Path, record: Path, progress: Progress = silent) -> str:
    """Download the file into `folder` unless it is there already; returns its SHA-256 as hex digits.

    A file without a known hash is accepted the first time; its hash is written into `record`, and later downloads must match
    it. A transfer that breaks off or fails the check is tried three times, and leaves nothing behind.

    Raises `UnavailableError` if the download fails, `BadInputError` if the file has another hash than the known one.
    """
    expected = file.sha256 or recorded(record).get(file.url, "")
    registry = pooch.create(
        folder, "", registry={file.path: expected or None}, urls={file.path: file.url}, retry_if_failed=_RETRIES
    )
    bar = _Bar(Path(file.path).name, progress)
    try:
        registry.fetch(file.path, downloader=pooch.HTTPDownloader(progressbar=bar, chunk_size=_CHUNK, timeout=_SECONDS))
    except requests.RequestException as error:
        raise UnavailableError(
            f"The download failed: {_reason(error)}.",
            where=file.url,
            hint="Check the network, or pass local copies with --from DIR.",
        ) from error
    except ValueError as error:  # pooch raises this for another hash
        source = "published" if file.sha256 else f"recorded in {record}"
        raise BadInputError(
            f"The downloaded file has another SHA-256 than the one {source} ({expected[:12]}…).",
            where=file.url,
            hint="Nothing was stored. The file may have been revised: check its web page before you trust it.",
        ) from error
    sha256 = sha256_of(folder / file.path)
    if not expected:
        write_json(record, {**recorded(record), file.url: sha256})
    return sha256


def recorded(record: Path) -> dict[str, str]:
    """The SHA-256 hashes of first downloads, by address."""
    return {str(k): str(v) for k, v in read_json(record).items()} if record.exists() else {}


def sha256_of(path: Path) -> str:
    """The SHA-256 of a file as hex digits."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


class _Bar:
    """A progress bar for pooch that forwards the number of bytes to a `Progress`."""

    def __init__(self, name: str, progress: Progress) -> None:
        self.total, self._done, self._name, self._progress = 0, 0, name, progress

    def update(self, n: int) -> None:
        self._done += n
        self._progress(self._done, f"bytes of {self._name}", self.total or None)

    def reset(self) -> None:
        self._done = 0

    def close(self) -> None:
        """Do nothing; pooch calls this at the end."""


def _reason(error: requests.RequestException) -> str:
    response = error.response
    return f"{response.status_code} {response.reason}" if response is not None else type(error).__name__


class FetchReport(NamedTuple):
    """An added data set: its number of gold labels, its counts compared with the published ones, and notes on its files."""

    dataset: str
    gold: int
    counts: str
    notes: tuple[str, ...] = ()


class Missing(NamedTuple):
    """A data set that was skipped, since files of it (`file` is one) are missing from the local copies."""

    dataset: str
    file: str


def fetch(
    workspace: Workspace, name: str, source: Path | None = None, *, replace: bool = False, progress: Progress = silent
) -> Iterator[FetchReport | Missing]:
    """Add a published data set or a group of them, and yield a report on each part.

    Files are kept in the workspace, in `downloads/NAME`. With `source`, a folder of local copies, nothing is downloaded and
    parts that are not in the folder are skipped; if no part is in it, a `BadInputError` is raised. Raises `UnknownNameError`
    with the closest names, `UnavailableError` if a download fails.
    """
    parts = [(one, part) for one in named_sets(name) for part in SETS[one]]
    taken = [part.dataset for _, part in parts if part.dataset in workspace.datasets()]
    if taken and not replace:
        raise BadInputError(f"Data set '{taken[0]}' already exists.", hint="Pass --replace to replace it.")
    if source is not None and not source.is_dir():
        raise BadInputError("The folder does not exist.", where=source, hint="--from takes a folder of local copies.")
    missing = list[Missing]()
    for one, part in parts:
        folder = workspace.downloads_folder / one
        report = (
            _from_copies(workspace, part, folder, source) if source else _from_web(workspace, part, folder, progress)
        )
        if isinstance(report, Missing):
            missing.append(report)
        else:
            yield report
    if source and len(missing) == len(parts):
        looked_for = ", ".join(sorted({m.file for m in missing}))
        raise BadInputError(
            f"The folder contains no file of '{name}'.", where=source, hint=f"Expected {looked_for} or similar."
        )
    yield from missing


def _from_web(workspace: Workspace, part: PublishedPart, folder: Path, progress: Progress) -> FetchReport:
    if part.by_hand:
        raise UnavailableError(
            f"Data set '{part.dataset}' cannot be downloaded by a program.",
            where=part.by_hand,
            hint="Download it from this address yourself, then pass its folder with --from DIR.",
        )
    notes = [note for file in part.files for note in _download(workspace, file, folder, progress)]
    _remove_other_form(part.files, part, folder)
    return _added(workspace, part, folder, notes)


def _from_copies(workspace: Workspace, part: PublishedPart, folder: Path, source: Path) -> FetchReport | Missing:
    if part.by_hand:
        inner = source / part.dataset
        return _added(workspace, part, inner if inner.is_dir() else source, [])
    copies = next((complete for form in (part.files, part.local) if form and (complete := _copies(form, source))), None)
    if copies is None:
        return Missing(part.dataset, part.files[0].path)
    notes = [note for file, copy in copies for note in _copied(file, copy, folder / file.path)]
    _remove_other_form([file for file, _ in copies], part, folder)
    return _added(workspace, part, folder, notes)


def _remove_other_form(files: Sequence[RemoteFile], part: PublishedPart, folder: Path) -> None:
    """Delete the files of the part's other form, which an earlier fetch may have left: only one form is read."""
    for file in (*part.files, *part.local):
        if file not in files:
            (folder / file.path).unlink(missing_ok=True)


def _copies(files: Sequence[RemoteFile], source: Path) -> list[tuple[RemoteFile, Path]] | None:
    """The files of a form with their copies, or None if one is missing."""
    copies = [(file, _find(file, source)) for file in files]
    return [(file, copy) for file, copy in copies if copy] if all(copy for _, copy in copies) else None


def _find(file: RemoteFile, source: Path) -> Path | None:
    """A copy of the file in the folder or one of its subfolders; raises `BadInputError` if several subfolders have one."""
    names = (*file.also, file.path)
    direct = [source / name for name in names if (source / name).is_file()]
    below = [path for name in names for path in sorted(source.glob(f"*/{name}")) if path.is_file()]
    if not direct and len(below) > 1:
        raise BadInputError(
            f"Several folders contain '{file.path}': {', '.join(p.parent.name for p in below[:3])}.",
            where=source,
            hint="Pass one of them with --from.",
        )
    return next(iter([*direct, *below]), None)


def _copied(file: RemoteFile, copy: Path, kept: Path) -> list[str]:
    if copy.resolve() != kept.resolve():
        with replacing(kept) as temporary:
            shutil.copyfile(copy, temporary)
    same = not file.sha256 or sha256_of(kept) == file.sha256
    return [] if same else [f"{copy}: not the published file, whose SHA-256 begins with {file.sha256[:12]}"]


def _download(workspace: Workspace, file: RemoteFile, folder: Path, progress: Progress) -> list[str]:
    record = workspace.downloads_folder / RECORD
    first = not file.sha256 and file.url not in recorded(record)
    sha256 = download(file, folder, record, progress)
    return [f"{file.path}: SHA-256 {sha256} recorded; later downloads of this file must match it"] if first else []


def _added(workspace: Workspace, part: PublishedPart, folder: Path, notes: list[str]) -> FetchReport:
    imported, counts = part.read(folder)
    keep_imported(workspace, part.dataset, imported)
    return FetchReport(part.dataset, len(imported.gold), counts, tuple(notes))
