"""Fetching a published data set into a workspace, from its home or from local copies.

Downloading files whose hashes are known, or become known by the first download.
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
    """Have the file below `folder`, from its home unless it is there already; returns its sha256.

    A file of unknown hash is believed the first time; what it was is written into `record`, and must come again. A transfer
    that breaks off or brings something else is tried three times, and leaves nothing behind.

    Raises `UnavailableError` where the home does not answer, `BadInputError` where it sends another file than was known.
    """
    known = file.sha256 or recorded(record).get(file.url, "")
    puppy = pooch.create(
        folder, "", registry={file.path: known or None}, urls={file.path: file.url}, retry_if_failed=_RETRIES
    )
    bar = _Bar(Path(file.path).name, progress)
    try:
        puppy.fetch(file.path, downloader=pooch.HTTPDownloader(progressbar=bar, chunk_size=_CHUNK, timeout=_SECONDS))
    except requests.RequestException as error:
        raise UnavailableError(
            f"The download failed: {_reason(error)}.",
            where=file.url,
            hint="Check the network, or pass local copies with --from DIR.",
        ) from error
    except ValueError as error:  # pooch's word for another hash
        source = "published" if file.sha256 else f"recorded in {record}"
        raise BadInputError(
            f"This is not the file that is known: its sha256 differs from the one {source} ({known[:12]}…).",
            where=file.url,
            hint="Nothing was kept. It may have been revised: look at its home before you trust it.",
        ) from error
    sha256 = sha256_of(folder / file.path)
    if not known:
        write_json(record, {**recorded(record), file.url: sha256})
    return sha256


def recorded(record: Path) -> dict[str, str]:
    """The hashes that first downloads left, by address."""
    return {str(k): str(v) for k, v in read_json(record).items()} if record.exists() else {}


def sha256_of(path: Path) -> str:
    """The hash of a file's bytes."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


class _Bar:
    """What pooch tells of bytes, told on."""

    def __init__(self, name: str, progress: Progress) -> None:
        self.total, self._done, self._name, self._progress = 0, 0, name, progress

    def update(self, n: int) -> None:
        self._done += n
        self._progress(self._done, f"bytes of {self._name}", self.total or None)

    def reset(self) -> None:
        self._done = 0

    def close(self) -> None:
        """Nothing to close."""


def _reason(error: requests.RequestException) -> str:
    response = error.response
    return f"{response.status_code} {response.reason}" if response is not None else type(error).__name__


class FetchReport(NamedTuple):
    """A data set that was added, its counts against the published ones, and what is to be said of its files."""

    dataset: str
    gold: int
    counts: str
    notes: tuple[str, ...] = ()


class Missing(NamedTuple):
    """A data set that was passed over, since this file and others of it are not among the local copies."""

    dataset: str
    file: str


def fetch(
    workspace: Workspace, name: str, source: Path | None = None, *, replace: bool = False, progress: Progress = silent
) -> Iterator[FetchReport | Missing]:
    """What became of each part of a data set (or of a group of them), as it is added.

    Files are kept in the workspace, in `downloads/NAME`. Where `source`, a folder of local copies, is given, nothing is
    downloaded and parts that are not there are passed over; it is an error when all are. Raises `UnknownNameError` with the
    nearest names, `UnavailableError` where a download fails.
    """
    parts = [(one, part) for one in named_sets(name) for part in SETS[one]]
    taken = [part.dataset for _, part in parts if part.dataset in workspace.datasets()]
    if taken and not replace:
        raise BadInputError(f"There is a data set '{taken[0]}' already.", hint="Pass --replace to take its place.")
    if source is not None and not source.is_dir():
        raise BadInputError("There is no such folder.", where=source, hint="--from takes a folder of local copies.")
    missing = list[Missing]()
    for one, part in parts:
        folder = workspace.downloads_folder / one
        done = (
            _from_copies(workspace, part, folder, source) if source else _from_home(workspace, part, folder, progress)
        )
        if isinstance(done, Missing):
            missing.append(done)
        else:
            yield done
    if source and len(missing) == len(parts):
        looked_for = ", ".join(sorted({m.file for m in missing}))
        raise BadInputError(
            f"No file of '{name}' is there.", where=source, hint=f"Looked for {looked_for}, or the like."
        )
    yield from missing


def _from_home(workspace: Workspace, part: PublishedPart, folder: Path, progress: Progress) -> FetchReport:
    if part.by_hand:
        raise UnavailableError(
            f"'{part.dataset}' has no address that a program can fetch.",
            where=part.by_hand,
            hint="Download it there by hand, and pass its folder with --from DIR.",
        )
    notes = [note for file in part.files for note in _download(workspace, file, folder, progress)]
    _leave_only(part.files, part, folder)
    return _added(workspace, part, folder, notes)


def _from_copies(workspace: Workspace, part: PublishedPart, folder: Path, source: Path) -> FetchReport | Missing:
    if part.by_hand:
        inner = source / part.dataset
        return _added(workspace, part, inner if inner.is_dir() else source, [])
    copies = next((held for form in (part.files, part.local) if form and (held := _copies(form, source))), None)
    if copies is None:
        return Missing(part.dataset, part.files[0].path)
    notes = [note for file, copy in copies for note in _copied(file, copy, folder / file.path)]
    _leave_only([file for file, _ in copies], part, folder)
    return _added(workspace, part, folder, notes)


def _leave_only(files: Sequence[RemoteFile], part: PublishedPart, folder: Path) -> None:
    """Take away the files of the part's other form, which an earlier fetch may have left: one form is read."""
    for file in (*part.files, *part.local):
        if file not in files:
            (folder / file.path).unlink(missing_ok=True)


def _copies(files: Sequence[RemoteFile], source: Path) -> list[tuple[RemoteFile, Path]] | None:
    """The files of a form with their copies, or None where one is missing."""
    held = [(file, _find(file, source)) for file in files]
    return [(file, copy) for file, copy in held if copy] if all(copy for _, copy in held) else None


def _find(file: RemoteFile, source: Path) -> Path | None:
    """A copy in the folder, or in one of its folders; where it lies in several, the name does not say which."""
    names = (*file.also, file.path)
    direct = [source / name for name in names if (source / name).is_file()]
    below = [path for name in names for path in sorted(source.glob(f"*/{name}")) if path.is_file()]
    if not direct and len(below) > 1:
        raise BadInputError(
            f"'{file.path}' lies in several folders: {', '.join(p.parent.name for p in below[:3])}.",
            where=source,
            hint="Name the one that is meant.",
        )
    return next(iter([*direct, *below]), None)


def _copied(file: RemoteFile, copy: Path, kept: Path) -> list[str]:
    if copy.resolve() != kept.resolve():
        with replacing(kept) as temporary:
            shutil.copyfile(copy, temporary)
    same = not file.sha256 or sha256_of(kept) == file.sha256
    return [] if same else [f"{copy}: not the published file, whose sha256 is {file.sha256[:12]}…"]


def _download(workspace: Workspace, file: RemoteFile, folder: Path, progress: Progress) -> list[str]:
    record = workspace.downloads_folder / RECORD
    first = not file.sha256 and file.url not in recorded(record)
    sha256 = download(file, folder, record, progress)
    return (
        [f"{file.path}: sha256 {sha256} recorded; it was not known before, and must be the same from now on"]
        if first
        else []
    )


def _added(workspace: Workspace, part: PublishedPart, folder: Path, notes: list[str]) -> FetchReport:
    imported, counts = part.read(folder)
    keep_imported(workspace, part.dataset, imported)
    return FetchReport(part.dataset, len(imported.gold), counts, tuple(notes))
