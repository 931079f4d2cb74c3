"""The documents of a question: found by several searches of corpora, merged, ranked again, and read when they are needed.

A row refers to its documents by corpus and passages, since several steps and all points of view of a question share them. The
hash of the text says whether the corpus has changed since.
"""

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any

from berdseye.data.errors import BadInputError, StaleError
from berdseye.data.language_models.cost import TOKENS_PER_WORD
from berdseye.data.records import Passage
from berdseye.evaluation.construction.working import Working

if TYPE_CHECKING:
    from berdseye.data.texts.chunkers import Blocks
    from berdseye.evaluation.answering.chunks import Chunk, ChunkSource
    from berdseye.retrieval.pipeline import Pipeline

Reference = Mapping[str, Any]
"""A document as a row refers to it: `number`, `corpus`, `source_id`, `title`, `url`, `passages`, `words` and `hash`."""
DOCUMENTS, FEWEST = 5, 3
"""A question gets the 5 best documents, and is dropped with fewer than 3 (DebateQA, section 3)."""
CHUNK_TOKENS = 1_000
_CHARACTERS = 400_000  # 80,000 tokens are about 60,000 words
_REACH = 150  # passages of 100 words
_A_SEARCH = 10
_RERANKER = re.compile(r"\s*crossencoder\(")
_ADDRESS = re.compile(r"(?:https?://|www\.)\S+", re.IGNORECASE)
_UNDERLINE = re.compile(r"_{2,}|(?<=\s)_(?=\s)")


class Documents:
    """The documents of a construction's corpora. Corpora, pipeline and reranker are those of the settings.

    Raises `UnknownNameError` for an unknown corpus, and `BadInputError` if none is named or if a corpus has no addresses by which
    to recognise trusted sites.
    """

    def __init__(self, working: Working) -> None:
        self.working = working
        names = [name for name in re.split(r"[\s,]+", str(working.settings.get("corpora") or "")) if name]
        if not names:
            raise BadInputError(
                "The construction has no corpus to search for documents.",
                hint='Name one or more: --corpora "web debates". `berdseye corpus add-web` adds a corpus of the web.',
            )
        self.sources = {name: self._source(name) for name in names}

    def _source(self, name: str) -> "ChunkSource":
        from berdseye.data.corpora import open_corpus
        from berdseye.evaluation.answering.chunks import ChunkSource

        settings = self.working.settings
        corpus = open_corpus(self.working.workspace, name)
        return ChunkSource(
            corpus,
            self._pipeline(str(settings["pipeline"])),
            characters=_CHARACTERS,
            trusted_only=str(settings["trusted"]) != "all",
            day=settings["day"] if corpus.manifest.kind == "web" else None,
            trusted_list="debateqa" if str(settings["trusted"]) == "all" else str(settings["trusted"]),
            reach=_REACH,
        )

    @cached_property
    def reranker(self) -> "Pipeline":
        """The pipeline that ranks the documents found for a question; `crossencoder(NAME)` follows `dense(static)`."""
        name = str(self.working.settings["reranker"])
        written = f"dense(static) >> {name}" if _RERANKER.match(name) else name
        return self._pipeline(written)

    def _pipeline(self, written: str) -> "Pipeline":
        from berdseye.retrieval.pipeline_registry import parse_pipeline
        from berdseye.retrieval.protocol import PipelineContext

        return parse_pipeline(written, PipelineContext(self.working.workspace))

    def check(self) -> None:
        """Raise an error if a pipeline is unknown, or cannot search one of the corpora."""
        _ = self.reranker

    def found(self, question: str, queries: Sequence[str]) -> list[Reference]:
        """Return the best documents for a question, best first, numbered from 1.

        A document that several searches find counts once, and so do documents of equal text.
        """
        from berdseye.retrieval.passage_collections import InMemoryPassages
        from berdseye.retrieval.pipeline import search_passages
        from berdseye.retrieval.protocol import Query

        merged: dict[tuple[str, str], tuple[str, Chunk]] = {}
        for name, source in self.sources.items():
            for chunks in source.find(queries, _A_SEARCH):
                for chunk in chunks:
                    on_web = source.corpus.manifest.kind != "passages" and chunk.url
                    merged.setdefault(("", chunk.url) if on_web else (name, chunk.source_id), (name, chunk))
        texts: dict[str, tuple[str, Chunk]] = {}
        for name, chunk in merged.values():
            texts.setdefault(self.sources[name].text(chunk.passages), (name, chunk))
        texts.pop("", None)
        if not texts:
            return []
        passages = [
            Passage(place, chunk.source_id, chunk.title, text, chunk.url)
            for place, (text, (_, chunk)) in enumerate(texts.items())
        ]
        count = int(self.working.settings["documents"])
        ids, _ = search_passages(InMemoryPassages(passages), self.reranker, [Query(question, root=question)], count)
        best = [int(place) for place in ids[0].tolist() if place >= 0]
        origins = list(texts.values())
        return [
            {
                "number": number,
                "corpus": origins[place][0],
                "source_id": origins[place][1].source_id,
                "title": origins[place][1].title,
                "url": origins[place][1].url,
                "passages": list(origins[place][1].passages),
                "words": len(passages[place].text.split()),
                "hash": _hash(passages[place].text),
            }
            for number, place in enumerate(best, start=1)
        ]

    def text(self, reference: Reference) -> str:
        """Return the whole text of a document; raises `StaleError` if its corpus has changed."""
        name = str(reference["corpus"])
        if name not in self.sources:
            self.sources[name] = self._source(name)
        text = self.sources[name].text(tuple(reference["passages"]))
        if _hash(text) != reference["hash"]:
            raise StaleError(
                f"A document in '{name}' is no longer what it was: {reference['title'] or reference['source_id']}.",
                hint="Restore the corpus, or begin a new construction.",
            )
        return text

    def shown(self, references: Sequence[Reference]) -> str:
        """Return documents as a prompt shows them: numbered, without addresses and underlines, within the limits of length.

        One document has at most `document_tokens` tokens. If all together have more than `total_tokens`, the longest are cut, so
        that no document is lost.
        """
        each, total = (
            int(int(self.working.settings[name]) / TOKENS_PER_WORD) for name in ("document_tokens", "total_tokens")
        )
        words = [without_addresses(self.text(reference)).split()[:each] for reference in references]
        limit = fair_limit([len(text) for text in words], total)
        return "\n\n".join(
            f"[Document {reference['number']}] {' '.join(text[:limit])}"
            for reference, text in zip(references, words, strict=True)
        )


def fair_limit(lengths: Sequence[int], total: int) -> int:
    """Return the largest length to which each text can be cut so that all together have at most `total`; at least 1."""
    left, waiting = total, len(lengths)
    for length in sorted(lengths):
        if length * waiting > left:
            return max(1, left // waiting)
        left, waiting = left - length, waiting - 1
    return max(lengths, default=1) or 1


def without_addresses(text: str) -> str:
    """Return a text without web addresses and runs of underlines, with single spaces."""
    return " ".join(_UNDERLINE.sub(" ", _ADDRESS.sub(" ", text)).split())


def chunks_of(text: str) -> Iterator[str]:
    """Yield a text in chunks of about 1000 tokens."""
    yield from _chunker()(text)


@lru_cache(maxsize=1)
def _chunker() -> "Blocks":
    from berdseye.data.texts.chunkers import Blocks

    return Blocks(int(CHUNK_TOKENS / TOKENS_PER_WORD))


def _hash(text: str) -> str:
    return hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=8).hexdigest()
