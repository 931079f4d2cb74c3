"""Indexes of corpora on disk: built once, under a lock, and rebuilt when the corpus or the engine has changed.

A damaged index is neither searched nor replaced automatically: the error names the file and the command that rebuilds it.
"""

import json
import logging
import shlex
import shutil
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from berdseye.data.corpora import Corpus
from berdseye.data.errors import BadInputError, BerdseyeError, DamagedError
from berdseye.data.files.atomic import sync_folder, write_json
from berdseye.data.files.checksums import RECORD, FileSet
from berdseye.data.files.locks import locked
from berdseye.data.logs import logged
from berdseye.data.progress import Progress, silent
from berdseye.data.records import Passage
from berdseye.data.workspace import file_stem
from berdseye.retrieval.protocol import Indexer, Made

_MANIFEST = "manifest.json"
_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class IndexManifest:
    """The description of an index: its indexer, engine and corpus.

    `files` gives file sizes in bytes, by which an index without checksums is checked.
    """

    indexer: str
    engine: str
    corpus_hash: str
    count: int
    created: str
    files: dict[str, int]


def index_text(passage: Passage) -> str:
    """The indexed text of a passage: its title, if it has one, and its text."""
    return f"{passage.title} {passage.text}" if passage.title else passage.text


def index_folder(corpus: Corpus, indexer: Indexer[Any]) -> Path:
    """The folder of the index, whether it exists or not."""
    return corpus.folder / "indexes" / file_stem(indexer.name)


def index_files(folder: Path) -> FileSet:
    """The files of an index of a corpus, of one of its shards, or of a few passages in a temporary folder."""
    lock = folder.parent / f".{folder.name}.lock"
    if folder.parents[2].name == "shards":
        lock = folder.parents[1] / f".{folder.parent.name}.lock"
    return FileSet(folder / f"index{RECORD}", ("**/*",), lambda: _rebuild(folder), lock)


def _rebuild(folder: Path) -> str:
    pipeline = shlex.quote(pipeline_of_index(folder))
    if folder.parent.name == "indexes":
        arguments = f"{folder.parents[1].name} --pipeline {pipeline}"
        return f"Build the index again: `berdseye index {arguments} --rebuild`."
    if folder.parents[2].name == "shards":
        arguments = f"{folder.parents[3].name} --pipeline {pipeline}"
        return f"Build the shard again: `berdseye index {arguments} --ray ADDRESS --shards {folder.parent.name}`."
    return "Search again."


def pipeline_of_index(folder: Path) -> str:
    """A pipeline that uses the index in a folder, from its manifest or, if that is unreadable, from the folder's name."""
    stem = folder.name if folder.parent.name == "indexes" else folder.parents[1].name
    try:
        name = str(json.loads((folder / _MANIFEST).read_text(encoding="utf-8"))["indexer"])
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        name = ""
    if file_stem(name) != stem:
        name = stem.replace("~", "/")  # the only character of model names that file names replace
    if not name.startswith("lexical("):
        return name
    tokenizer = name.removeprefix("lexical(").removesuffix(")")
    return "bm25" if tokenizer == "english" else f"bm25(tokenizer={tokenizer})"


def ensure_index(
    corpus: Corpus,
    indexer: Indexer[Made],
    *,
    wait: bool = True,
    rebuild: bool = False,
    progress: Progress = silent,
) -> Made:
    """The index of a corpus; it is built if there is no valid one.

    If another process is building it, the call waits, or raises `BerdseyeError` with `wait=False`. Raises `DamagedError` with
    the damaged file of an index and the command that rebuilds it; only `rebuild` replaces such an index.
    """
    if corpus.manifest.kind != "passages":
        raise BadInputError(
            f"Corpus '{corpus.name}' contains web pages, which are cut and searched for each question.",
            hint="It needs no index.",
        )
    folder = index_folder(corpus, indexer)
    damage: DamagedError | None = None
    try:
        if not rebuild and (index := _load(folder, corpus, indexer, progress)) is not None:
            return index
    except DamagedError as error:
        damage = error  # unless another process is replacing the index at this moment
    busy = BerdseyeError(
        f"Another process is building index {indexer.name} of corpus '{corpus.name}'.",
        hint="Wait until it has finished, then try again.",
    )
    try:
        lock = locked(folder.parent / f".{folder.name}.lock", busy=None if wait else busy)
        lock.__enter__()
    except BerdseyeError as error:
        if damage is None or error is busy:
            raise
        raise damage from None  # the folder cannot be written, so no process is replacing the index
    try:
        if not rebuild and (index := _load(folder, corpus, indexer, progress)) is not None:
            return index
        with logged(_log, f"index {indexer.name} of corpus {corpus.name} ({corpus.manifest.count} passages)"):
            return _build(folder, corpus, indexer, progress)
    finally:
        lock.__exit__(None, None, None)


def _build(folder: Path, corpus: Corpus, indexer: Indexer[Made], progress: Progress) -> Made:
    """Build the index beside its place, from where an interrupted build of it stopped, and move it there."""
    building = folder.parent / f".{folder.name}.building"
    old = folder.parent / f".{folder.name}.old"

    def batches(done: int) -> Iterator[list[Passage]]:
        for batch in corpus.batches(start=done):
            yield batch
            done += len(batch)
            progress(done, f"passages for {indexer.name}", corpus.manifest.count)

    try:
        done = _indexed_before(building, corpus, indexer)
        if done == 0:
            shutil.rmtree(building, ignore_errors=True)
            building.mkdir(parents=True)
            # It names no files, since the index is not complete.
            write_json(building / _MANIFEST, asdict(_manifest(corpus, indexer, {})))
        indexer.build(batches(done), building)
        sync_folder(building)
        files = {p.name: p.stat().st_size for p in building.iterdir() if p.name != _MANIFEST}
        write_json(building / _MANIFEST, asdict(_manifest(corpus, indexer, files)))
        index_files(folder).built_in(building).seal(stamp=True, progress=progress)
        # Two renames, so that a process killed while deleting the old index does not leave a part of it.
        shutil.rmtree(old, ignore_errors=True)
        if folder.exists():
            folder.rename(old)
        building.rename(folder)
        shutil.rmtree(old, ignore_errors=True)
        return indexer.load(folder)
    except OSError as error:
        shutil.rmtree(building, ignore_errors=True)
        raise BerdseyeError(
            f"The index could not be written: {error}.", where=folder, hint="Free some space and try again."
        ) from error
    except RuntimeError as error:  # FAISS raises this for a full disk, for lack of memory, and for its own errors
        shutil.rmtree(building, ignore_errors=True)
        raise BerdseyeError(
            f"The index could not be built: {' '.join(str(error).split())}.",
            where=folder,
            hint="Check the free disk space and memory.",
        ) from error
    except BaseException:
        if _indexed_before(building, corpus, indexer) == 0:
            shutil.rmtree(building, ignore_errors=True)
        raise


def _indexed_before(building: Path, corpus: Corpus, indexer: Indexer[Any]) -> int:
    """The number of passages in what an interrupted build of this index, by this version and of this corpus, has left."""
    resume: Callable[[Path], int] | None = getattr(indexer, "resume", None)
    try:
        begun = IndexManifest(**json.loads((building / _MANIFEST).read_text(encoding="utf-8")))
        if resume is None or begun != replace(_manifest(corpus, indexer, {}), created=begun.created):
            return 0
        return resume(building)
    except (OSError, ValueError, TypeError):
        return 0


def _load(folder: Path, corpus: Corpus, indexer: Indexer[Made], progress: Progress) -> Made | None:
    """The index in a folder; None if there is none, or if it belongs to another corpus or version."""
    if not folder.exists():
        return None
    files, manifest = index_files(folder), folder / _MANIFEST
    files.check(lambda name: name == _MANIFEST, waiting=False)
    try:
        read = json.loads(manifest.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise files.unreadable(manifest, error) from error
    try:
        stored = IndexManifest(**read)
        sizes = {str(name): int(size) for name, size in stored.files.items()}
    except (TypeError, ValueError, AttributeError):
        return None  # another version wrote it
    if stored != replace(_manifest(corpus, indexer, stored.files), created=stored.created):
        return None
    files.check(waiting=False, progress=progress)
    for name, size in sizes.items():
        present = (folder / name).stat().st_size if (folder / name).exists() else 0
        if present != size:
            raise files.unreadable(folder / name, f"it has {present:,} of its {size:,} bytes")
    try:
        return indexer.load(folder)
    except BerdseyeError:
        raise
    except Exception as error:  # libraries raise any error for a damaged file of an index without checksums
        raise files.unreadable(folder, error) from error


def _manifest(corpus: Corpus, indexer: Indexer[Made], files: dict[str, int]) -> IndexManifest:
    return IndexManifest(
        indexer.name,
        indexer.engine,
        corpus.manifest.hash,
        corpus.manifest.count,
        datetime.now(UTC).isoformat(timespec="seconds"),
        files,
    )
