"""Indexes of corpora on disk: built once, under a lock, and built anew when the corpus or the engine has changed."""

import json
import shutil
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path

from filelock import FileLock, Timeout

from data.atomic import write_json
from data.corpora import Corpus
from data.errors import BadInputError, BerdseyeError
from data.progress import Progress, silent
from data.records import Passage
from data.workspace import file_stem
from retrieval.protocol import Index, Retriever


@dataclass(frozen=True)
class IndexManifest:
    """What an index was made from and by."""

    retriever: str
    engine: str
    corpus_hash: str
    count: int
    created: str


def index_text(passage: Passage) -> str:
    """What is indexed of a passage: its title, where it has one, and its text."""
    return f"{passage.title} {passage.text}" if passage.title else passage.text


def ensure_index(
    corpus: Corpus,
    retriever: Retriever,
    *,
    wait: bool = True,
    rebuild: bool = False,
    progress: Progress = silent,
) -> Index:
    """The corpus's index, built if there is none that fits.

    Another process that builds it is waited for, or with `wait=False` reported as a `BerdseyeError`. A damaged index is
    built again.
    """
    if corpus.manifest.kind == "pages":
        raise BadInputError(
            f"Corpus '{corpus.name}' holds web pages, which are cut and searched for each question.",
            hint="It needs no index.",
        )
    folder = corpus.folder / "indexes" / file_stem(retriever.name)
    if not rebuild and (index := _load(folder, corpus, retriever)) is not None:
        return index
    folder.parent.mkdir(parents=True, exist_ok=True)
    lock = FileLock(folder.parent / f".{folder.name}.lock")
    try:
        lock.acquire(timeout=-1 if wait else 0)
    except Timeout as error:
        raise BerdseyeError(
            f"The index {retriever.name} of '{corpus.name}' is being built by another process.",
            hint="Wait until it has finished.",
        ) from error
    try:
        if not rebuild and (index := _load(folder, corpus, retriever)) is not None:
            return index
        return _build(folder, corpus, retriever, progress)
    finally:
        lock.release()


def _build(folder: Path, corpus: Corpus, retriever: Retriever, progress: Progress) -> Index:
    def texts() -> Iterator[list[str]]:
        done = 0
        for batch in corpus.batches():
            yield [index_text(p) for p in batch]
            done += len(batch)
            progress(done, f"passages for {retriever.name}")

    building = folder.parent / f".{folder.name}.building"
    shutil.rmtree(building, ignore_errors=True)
    try:
        building.mkdir(parents=True)
        index = retriever.build(texts())
        index.save(building)
        write_json(building / "manifest.json", asdict(_manifest(corpus, retriever)))
        shutil.rmtree(folder, ignore_errors=True)
        building.rename(folder)
    except (OSError, RuntimeError) as error:  # FAISS reports a full disk as a RuntimeError
        raise BerdseyeError(
            f"The index could not be written: {error}.", where=folder, hint="Free some space and try again."
        ) from error
    finally:
        shutil.rmtree(building, ignore_errors=True)
    return index


def _load(folder: Path, corpus: Corpus, retriever: Retriever) -> Index | None:
    try:
        held = IndexManifest(**json.loads((folder / "manifest.json").read_text(encoding="utf-8")))
        wanted = _manifest(corpus, retriever)
        if (held.engine, held.corpus_hash, held.retriever) != (
            wanted.engine,
            wanted.corpus_hash,
            wanted.retriever,
        ):
            return None
        return retriever.load(folder)
    except Exception:  # whatever a truncated file makes a library say, the answer is to build again
        return None


def _manifest(corpus: Corpus, retriever: Retriever) -> IndexManifest:
    return IndexManifest(
        retriever.name,
        retriever.engine,
        corpus.manifest.hash,
        corpus.manifest.count,
        datetime.now(UTC).isoformat(timespec="seconds"),
    )
