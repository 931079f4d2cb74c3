"""Lucene indexes made by Pyserini's own indexer, and corpora of the same documents."""

import json
from collections.abc import Mapping, Sequence
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pytest

from berdseye.data.corpora import Corpus, add_corpus, open_corpus
from berdseye.data.workspace import Workspace
from berdseye.retrieval.lucene.java import in_java

needs_pyserini = pytest.mark.skipif(
    find_spec("pyserini") is None or find_spec("jnius") is None, reason="Pyserini is not installed"
)


def lucene_index(folder: Path, rows: Sequence[Mapping[str, object]], *, stored: Sequence[str] = ("Raw",)) -> Path:
    """An index of rows with `id` and `contents`, which stores what `stored` says (Raw, Contents) of each."""
    indexers = in_java(lambda _: import_module("pyserini.index.lucene"))
    args = ["-index", str(folder), *(f"-store{field}" for field in stored)]
    indexer = indexers.LuceneIndexer(args=args, threads=1)
    for row in rows:
        indexer.add_doc_raw(json.dumps(row))
    indexer.close()
    return folder


def corpus_of_rows(workspace: Workspace, rows: Sequence[Mapping[str, object]], name: str = "c") -> Corpus:
    """A corpus whose passages are the rows."""
    source = workspace.folder / f"{name}.jsonl"
    source.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    add_corpus(workspace, name, source, chunker="whole", replace=True)
    return open_corpus(workspace, name)
