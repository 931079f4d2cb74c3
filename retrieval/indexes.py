"""Indexes of corpora on disk: built once, under a lock, and built anew when the corpus or the engine has changed."""

import json
import shutil
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from data.atomic import sync_folder, write_json
from data.corpora import Corpus
from data.errors import BadInputError, BerdseyeError
from data.locks import locked
from data.progress import Progress, silent
from data.records import Passage
from data.workspace import file_stem
from retrieval.protocol import Indexer, Made


@dataclass(frozen=True)
class IndexManifest:
    """What an index was made from and by; `files` are their sizes in bytes, so that a truncated one is noticed."""

    indexer: str
    engine: str
    corpus_hash: str
    count: int
    created: str
    files: dict[str, int]


def index_text(passage: Passage) -> str:
    """What is indexed of a passage: its title, where it has one, and its text."""
    return f"{passage.title} {passage.text}" if passage.title else passage.text


def index_folder(corpus: Corpus, indexer: Indexer[Any]) -> Path:
    """Where the index stands, or would."""
    return corpus.folder / "indexes" / file_stem(indexer.name)


def ensure_index(
    corpus: Corpus,
    indexer: Indexer[Made],
    *,
    wait: bool = True,
    rebuild: bool = False,
    progress: Progress = silent,
) -> Made:
    """The corpus's index, built if there is none that fits.

    Another process that builds it is waited for, or with `wait=False` reported as a `BerdseyeError`. A damaged index is
    built again.
    """
    if corpus.manifest.kind != "passages":
        raise BadInputError(
            f"Corpus '{corpus.name}' holds web pages, which are cut and searched for each question.",
            hint="It needs no index.",
        )
    folder = index_folder(corpus, indexer)
    if not rebuild and (index := _load(folder, corpus, indexer)) is not None:
        return index
    busy = BerdseyeError(
        f"The index {indexer.name} of '{corpus.name}' is being built by another process.",
        hint="Wait until it has finished.",
    )
    with locked(folder.parent / f".{folder.name}.lock", busy=None if wait else busy):
        if not rebuild and (index := _load(folder, corpus, indexer)) is not None:
            return index
        return _build(folder, corpus, indexer, progress)


def _build(folder: Path, corpus: Corpus, indexer: Indexer[Made], progress: Progress) -> Made:
    def batches() -> Iterator[list[Passage]]:
        done = 0
        for batch in corpus.batches():
            yield batch
            done += len(batch)
            progress(done, f"passages for {indexer.name}", corpus.manifest.count)

    building = folder.parent / f".{folder.name}.building"
    shutil.rmtree(building, ignore_errors=True)
    try:
        building.mkdir(parents=True)
        indexer.build(batches(), building)
        sync_folder(building)
        files = {p.name: p.stat().st_size for p in building.iterdir()}
        write_json(building / "manifest.json", asdict(_manifest(corpus, indexer, files)))
        shutil.rmtree(folder, ignore_errors=True)
        building.rename(folder)
        return indexer.load(folder)
    except OSError as error:
        raise BerdseyeError(
            f"The index could not be written: {error}.", where=folder, hint="Free some space and try again."
        ) from error
    except RuntimeError as error:  # FAISS's word for a full disk, for memory that ran out, and for its own failures
        raise BerdseyeError(
            f"The index could not be built: {' '.join(str(error).split())}.",
            where=folder,
            hint="Is there space left, on the disk and in memory?",
        ) from error
    finally:
        shutil.rmtree(building, ignore_errors=True)


def _load(folder: Path, corpus: Corpus, indexer: Indexer[Made]) -> Made | None:
    try:
        held = IndexManifest(**json.loads((folder / "manifest.json").read_text(encoding="utf-8")))
        if held != replace(_manifest(corpus, indexer, held.files), created=held.created):
            return None
        if any((folder / name).stat().st_size != size for name, size in held.files.items()):
            return None
        return indexer.load(folder)
    except Exception:  # whatever a truncated file makes a library say, the answer is to build again
        return None


def _manifest(corpus: Corpus, indexer: Indexer[Made], files: dict[str, int]) -> IndexManifest:
    return IndexManifest(
        indexer.name,
        indexer.engine,
        corpus.manifest.hash,
        corpus.manifest.count,
        datetime.now(UTC).isoformat(timespec="seconds"),
        files,
    )
