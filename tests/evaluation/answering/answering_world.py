"""A corpus of a few documents, a model that is scripted, and what asks it."""

import json
from collections.abc import Callable
from typing import Any

from berdseye.data.corpora import Corpus, add_corpus, open_corpus
from berdseye.data.language_models.cache import CompletionCache
from berdseye.data.workspace import Workspace
from berdseye.evaluation.answering.asking import Asker
from berdseye.evaluation.answering.chunks import ChunkSource
from berdseye.retrieval.pipeline_registry import parse_pipeline
from tests.data.language_models.scripted import ScriptedModel

DOCUMENTS = {
    "protect": "Zoos protect rare animals. Many animals live on in zoos alone.",
    "harm": "Cages harm animals. Elephants in zoos die young.",
    "cost": "Tickets pay for zoos. A ticket costs ten euros.",
    "trams": "Trams are quiet.",
    "cars": "Cars are loud.",
}
ZOOS, CARS = "Should zoos exist?", "Should cars be banned?"


def documents(workspace: Workspace, name: str = "web") -> Corpus:
    """The documents above as a corpus of passages, one each; all but the last stand on trusted sites."""
    source = workspace.folder / f"{name}.jsonl"
    rows = [
        {"id": i, "title": i, "text": t, "url": f"https://{i}.{'com' if i == 'cars' else 'org'}/"}
        for i, t in DOCUMENTS.items()
    ]
    source.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    add_corpus(workspace, name, source)
    return open_corpus(workspace, name)


def source_of(workspace: Workspace, **options: Any) -> ChunkSource:
    """The documents as chunks that BM25 finds."""
    return ChunkSource(documents(workspace), parse_pipeline("bm25"), **options)


def asker_of(workspace: Workspace, answer: Callable[[str], str], **options: Any) -> tuple[Asker, ScriptedModel]:
    model = ScriptedModel(answer)
    return Asker(model, CompletionCache(workspace), **options), model
