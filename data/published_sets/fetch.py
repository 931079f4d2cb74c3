"""Fetching a published data set into a workspace, from its home or from local copies."""

import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from berdseye.data.atomic import replacing
from berdseye.data.datasets import keep_imported
from berdseye.data.errors import BadInputError, UnavailableError
from berdseye.data.progress import Progress, silent
from berdseye.data.published_sets.catalogue import SETS, named_sets
from berdseye.data.published_sets.download import RECORD, download, recorded, sha256_of
from berdseye.data.published_sets.part import Part, RemoteFile
from berdseye.data.workspace import Workspace


class Report(NamedTuple):
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
) -> Iterator[Report | Missing]:
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


def _from_home(workspace: Workspace, part: Part, folder: Path, progress: Progress) -> Report:
    if part.by_hand:
        raise UnavailableError(
            f"'{part.dataset}' has no address that a program can fetch.",
            where=part.by_hand,
            hint="Download it there by hand, and pass its folder with --from DIR.",
        )
    notes = [note for file in part.files for note in _download(workspace, file, folder, progress)]
    _leave_only(part.files, part, folder)
    return _added(workspace, part, folder, notes)


def _from_copies(workspace: Workspace, part: Part, folder: Path, source: Path) -> Report | Missing:
    if part.by_hand:
        inner = source / part.dataset
        return _added(workspace, part, inner if inner.is_dir() else source, [])
    copies = next((held for form in (part.files, part.local) if form and (held := _copies(form, source))), None)
    if copies is None:
        return Missing(part.dataset, part.files[0].path)
    notes = [note for file, copy in copies for note in _copied(file, copy, folder / file.path)]
    _leave_only([file for file, _ in copies], part, folder)
    return _added(workspace, part, folder, notes)


def _leave_only(files: Sequence[RemoteFile], part: Part, folder: Path) -> None:
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


def _added(workspace: Workspace, part: Part, folder: Path, notes: list[str]) -> Report:
    imported, counts = part.read(folder)
    keep_imported(workspace, part.dataset, imported)
    return Report(part.dataset, len(imported.gold), counts, tuple(notes))
