"""`doctor`: is everything in the workspace as it was written?

Whether the judgments of a workspace are sound, without making a database where there is none.

Every file of a workspace compared with what was recorded of it: what `berdseye doctor` does.
"""

from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Annotated

import typer
from sqlalchemy.engine import make_url
from sqlalchemy.exc import DatabaseError

from berdseye.annotation.doctor.examine import examine
from berdseye.annotation.doctor.finding import Finding
from berdseye.annotation.judgments.log import Judgments
from berdseye.app.commands.console import counting, note, print_json
from berdseye.app.commands.options import JsonOption, WorkspaceOption, opened
from berdseye.data.answers import answer_files
from berdseye.data.corpora.manifest import corpus_files
from berdseye.data.datasets.stored import dataset_files
from berdseye.data.errors import BerdseyeError
from berdseye.data.files.checksums import RECORD, FileSet
from berdseye.data.labels import segment_files
from berdseye.data.progress import Progress, silent
from berdseye.data.runs.stored import run_files
from berdseye.data.web.page_store import segment_files as page_files
from berdseye.data.workspace import Workspace
from berdseye.retrieval.indexes import index_files


def examine_judgments(workspace: Workspace) -> list[Finding]:
    """The faults that `berdseye judgments doctor` finds here, Label Studio aside."""
    url = workspace.judgments_url
    database = make_url(url).database if make_url(url).get_backend_name() == "sqlite" else None
    if database is not None and not Path(database).exists():
        return []
    try:
        return examine(Judgments.open(url))
    except (BerdseyeError, DatabaseError) as error:
        said = " ".join(str(error).split())
        return [Finding("database", f"It cannot be opened: {said}", "restore the last backup: `berdseye restore`.")]


STORES = ("corpora", "datasets", "runs", "labels", "answers")
_ENDINGS = (".parquet", ".json", RECORD)


@dataclass(frozen=True)
class Fault:
    """A file that is not as it should be: its path in the workspace, what is wrong, and what to do."""

    file: str
    what: str
    cure: str

    def __str__(self) -> str:
        return f"{self.file}: {self.what} {self.cure}"


@dataclass
class Examined:
    """What was found. Damaged files are missing ones too; unexpected ones belong to nothing that is stored and are not read;
    sets without a record were written by an older version, and are used unchecked."""

    damaged: list[Fault] = field(default_factory=list)
    unexpected: list[Fault] = field(default_factory=list)
    unrecorded: list[str] = field(default_factory=list)
    recorded: list[str] = field(default_factory=list)
    sets: int = 0
    files: int = 0
    bytes: int = 0


def stored_sets(workspace: Workspace) -> Iterator[FileSet]:
    """Every set of files that the workspace stores, complete or not; drafts, whose names begin with a dot, are left out."""
    top = workspace.folder
    for corpus in _folders(top / "corpora"):
        yield corpus_files(corpus)
        yield from (index_files(folder) for folder in _folders(corpus / "indexes"))
        for cut in (cut for kind in _folders(corpus / "shards") for cut in _folders(kind)):
            yield from (index_files(shard) for shard in _folders(cut) if shard.name.isdigit())
        yield from (page_files(path) for path in _named(corpus / "web" / "pages", ".parquet", RECORD))
    for folder in (top / "datasets", *_folders(top / "datasets" / "versions")):
        yield from (dataset_files(path) for path in _named(folder, ".parquet", RECORD))
    yield from (run_files(workspace, path.stem) for path in _named(workspace.runs_folder, *_ENDINGS))
    for folder in (version for source in _folders(workspace.labels_folder) for version in _folders(source)):
        yield from (segment_files(path) for path in _named(folder, ".parquet", RECORD))
    yield from (answer_files(path.with_suffix(".json")) for path in _named(top / "answers", *_ENDINGS))


def compare_files(workspace: Workspace, *, record: bool = False, progress: Progress = silent) -> Examined:
    """Compare every stored file with its checksum. With `record` the sets that have no record get one, as they are.

    A set that is being replaced meanwhile is waited for.
    """
    found, known = Examined(), set[Path]()
    sets = list(stored_sets(workspace))
    total = sum(path.stat().st_size for held in sets for path in held.present().values()) >> 20
    for held in sets:
        progress(found.bytes >> 20, "MB compared with their checksums", total)
        present = held.present()
        known |= {*present.values(), held.record}
        found.sets += 1
        found.files += len(present)
        _examine(workspace, held, record, found)
        found.bytes += sum(path.stat().st_size for path in present.values() if path.exists())
    progress(found.bytes >> 20, "MB compared with their checksums", total)
    for path in _files(workspace.folder / store for store in STORES):
        if path not in known:
            cure = "Nothing reads it: delete the file, or move it elsewhere."
            found.unexpected.append(Fault(_shown(workspace, path), "The file belongs to nothing that is stored.", cure))
    return found


def _examine(workspace: Workspace, held: FileSet, record: bool, found: Examined) -> None:
    def fault(path: Path, what: str, cure: str) -> Fault:
        return Fault(_shown(workspace, path), what, cure)

    damages = held.examine()
    if damages:
        try:
            with held.writing():  # whoever replaced it has finished
                damages = held.examine()
        except BerdseyeError:
            pass  # nothing can be written here, so nobody replaces it
    found.damaged += [fault(damage.path, damage.what, held.rebuild()) for damage in damages]
    if any(damage.path == held.record for damage in damages):
        return
    sealed = held.sealed()
    if sealed is None:
        if record:
            held.seal(stamp=True)
            found.recorded.append(_shown(workspace, held.record))
        else:
            found.unrecorded.append(_shown(workspace, held.record))
        return
    for name, path in held.present().items():
        if name not in sealed:
            found.unexpected.append(fault(path, "The file was not written with the others.", held.rebuild()))


def _shown(workspace: Workspace, path: Path) -> str:
    return path.relative_to(workspace.folder).as_posix()


def _folders(folder: Path) -> list[Path]:
    if not folder.is_dir():
        return []
    return sorted(path for path in folder.iterdir() if path.is_dir() and not path.name.startswith("."))


def _named(folder: Path, *endings: str) -> list[Path]:
    """One Parquet path for each stem that has a file of one of these endings."""
    if not folder.is_dir():
        return []
    stems = {
        path.name.removesuffix(ending)
        for path in folder.iterdir()
        for ending in endings
        if path.name.endswith(ending) and not path.name.startswith(".")
    }
    return [folder / f"{stem}.parquet" for stem in sorted(stems)]


def _files(folders: Iterable[Path]) -> Iterator[Path]:
    """Files that are not hidden, nor below a hidden folder; a corpus of the web keeps reports beside its pages."""
    for folder in folders:
        for path in sorted(folder.rglob("*")):
            hidden = any(part.startswith(".") for part in path.relative_to(folder).parts)
            if not hidden and path.is_file() and "web" not in path.relative_to(folder).parts[1:2]:
                yield path


def register(cli: typer.Typer) -> None:
    """Add the command."""
    cli.command()(doctor)


def doctor(
    record: Annotated[
        bool, typer.Option("--record", help="Record checksums of what an older version wrote, as it is now.")
    ] = False,
    workspace: WorkspaceOption = None,
    json: JsonOption = False,
) -> None:
    """Compare every stored file with its checksum, and look for faults of the judgments. Exit status 1: something is damaged.

    Each damaged, missing or unexpected file of corpora, indexes, data sets, runs, labels and answers is a line with the command
    that makes it again. Nothing is changed, except that --record writes checksums where there are none. `judgments doctor`
    looks at the judgments alone, and at Label Studio.

    Example: `berdseye doctor`
    """

    held = opened(workspace)
    with counting("doctor") as progress:
        found = compare_files(held, record=record, progress=progress)
    judged = examine_judgments(held)
    bad = bool(found.damaged or judged)
    if json:
        print_json(asdict(found) | {"judgments": [one.as_json() for one in judged], "sound": not bad})
        raise typer.Exit(int(bad))
    for fault in found.damaged:
        print(f"damaged\t{fault}")
    for fault in found.unexpected:
        print(f"unexpected\t{fault}")
    for one in judged:
        print(f"judgments\t{one} Look: `berdseye judgments doctor`.")
    if found.recorded:
        note(f"Checksums of {len(found.recorded):,} sets of files were recorded as they are now.")
    if found.unrecorded:
        note(
            f"{len(found.unrecorded):,} sets of files have no checksums, since an older version wrote them: "
            "`berdseye doctor --record` records them as they are now."
        )
    note(
        f"{found.files:,} files, {found.bytes / 1e6:,.1f} MB: {len(found.damaged):,} damaged or missing, "
        f"{len(found.unexpected):,} unexpected; {len(judged):,} faults of the judgments."
    )
    raise typer.Exit(int(bad))
