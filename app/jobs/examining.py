"""What the doctor examines: every stored file of a workspace against its checksum, and the judgments."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from sqlalchemy.engine import make_url
from sqlalchemy.exc import DatabaseError

from berdseye.annotation.doctor.examine import examine
from berdseye.annotation.doctor.finding import Finding
from berdseye.annotation.judgments.log import Judgments
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

STORES = ("corpora", "datasets", "runs", "labels", "answers")
_ENDINGS = (".parquet", ".json", RECORD)


def examine_judgments(workspace: Workspace) -> list[Finding]:
    """The faults in the judgments of a workspace, without Label Studio. A missing SQLite database is not created."""
    url = workspace.judgments_url
    database = make_url(url).database if make_url(url).get_backend_name() == "sqlite" else None
    if database is not None and not Path(database).exists():
        return []
    try:
        return examine(Judgments.open(url))
    except (BerdseyeError, DatabaseError) as error:
        cause = " ".join(str(error).split())
        return [Finding("database", f"It cannot be opened: {cause}", "restore the last backup: `berdseye restore`.")]


@dataclass(frozen=True)
class Fault:
    """A damaged, missing or unexpected file: its path in the workspace, the problem, and what to do."""

    file: str
    what: str
    remedy: str

    def __str__(self) -> str:
        return f"{self.file}: {self.what} {self.remedy}"


@dataclass
class Comparison:
    """The result of the comparison, with counts of file sets, files and bytes.

    `damaged` includes missing files. `unexpected` files belong to nothing that is stored and are not read. `unrecorded` names
    sets without checksums, which an older version wrote and which are used unchecked; `recorded` names those recorded now.
    """

    damaged: list[Fault] = field(default_factory=list)
    unexpected: list[Fault] = field(default_factory=list)
    unrecorded: list[str] = field(default_factory=list)
    recorded: list[str] = field(default_factory=list)
    sets: int = 0
    files: int = 0
    bytes: int = 0


def stored_sets(workspace: Workspace) -> Iterator[FileSet]:
    """Every set of files that the workspace stores, complete or not; drafts, whose names begin with a dot, are skipped."""
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


def compare_files(workspace: Workspace, *, record: bool = False, progress: Progress = silent) -> Comparison:
    """Compare every stored file with its checksum. With `record`, sets without checksums get those of their present contents.

    Waits for a set that another process is replacing.
    """
    result, known_paths = Comparison(), set[Path]()
    sets = list(stored_sets(workspace))
    total = sum(path.stat().st_size for files in sets for path in files.present().values()) >> 20
    for files in sets:
        progress(result.bytes >> 20, "MB compared with their checksums", total)
        present = files.present()
        known_paths |= {*present.values(), files.record}
        result.sets += 1
        result.files += len(present)
        _examine(workspace, files, record, result)
        result.bytes += sum(path.stat().st_size for path in present.values() if path.exists())
    progress(result.bytes >> 20, "MB compared with their checksums", total)
    for path in _files(workspace.folder / store for store in STORES):
        if path not in known_paths:
            remedy = "Nothing reads it: delete the file, or move it elsewhere."
            result.unexpected.append(
                Fault(_shown(workspace, path), "The file belongs to nothing that is stored.", remedy)
            )
    return result


def _examine(workspace: Workspace, files: FileSet, record: bool, result: Comparison) -> None:
    def fault(path: Path, what: str, remedy: str) -> Fault:
        return Fault(_shown(workspace, path), what, remedy)

    damages = files.examine()
    if damages:
        try:
            with files.writing():  # waits until another process has replaced the files
                damages = files.examine()
        except BerdseyeError:
            pass  # the folder is read-only, so no process is replacing the files
    result.damaged += [fault(damage.path, damage.what, files.rebuild()) for damage in damages]
    if any(damage.path == files.record for damage in damages):
        return
    sealed = files.sealed()
    if sealed is None:
        if record:
            files.seal(stamp=True)
            result.recorded.append(_shown(workspace, files.record))
        else:
            result.unrecorded.append(_shown(workspace, files.record))
        return
    for name, path in files.present().items():
        if name not in sealed:
            result.unexpected.append(fault(path, "The file was not written with the others.", files.rebuild()))


def _shown(workspace: Workspace, path: Path) -> str:
    return path.relative_to(workspace.folder).as_posix()


def _folders(folder: Path) -> list[Path]:
    if not folder.is_dir():
        return []
    return sorted(path for path in folder.iterdir() if path.is_dir() and not path.name.startswith("."))


def _named(folder: Path, *endings: str) -> list[Path]:
    """One Parquet path for each file stem in `folder` that has a file with one of these endings."""
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
    """Files in `folders` that are neither hidden nor below a hidden folder; the `web` folders of web corpora are skipped."""
    for folder in folders:
        for path in sorted(folder.rglob("*")):
            hidden = any(part.startswith(".") for part in path.relative_to(folder).parts)
            if not hidden and path.is_file() and "web" not in path.relative_to(folder).parts[1:2]:
                yield path
