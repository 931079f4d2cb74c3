"""Chunks of about 2,000 characters for answers with retrieval, from corpora with passages of about 100 words.

If whole pages are available (corpora of pages and of the web), each page is cut into chunks by `characters(2000)`, and the
pipeline ranks the chunks. Otherwise the pipeline ranks the passages of the corpus, and each hit, best first, is extended to a
chunk by its neighbours in the same document, alternately after and before it, as long as they fit; a hit that is already part of
a chunk gives no further chunk, and no text is in two chunks. Neighbours are passages that were cut from one document (`id#3`,
`id#4`) and, in the dumps of DPR and Sphere, which consist of passages, those of equal title and address. A passage that is longer
than a chunk is cut, and the pipeline chooses the piece.
"""

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

from berdseye.data.corpora import Corpus
from berdseye.data.errors import BadInputError, UnknownNameError
from berdseye.data.progress import Progress, silent
from berdseye.data.records import Passage
from berdseye.data.texts.chunkers import Characters
from berdseye.data.web.settings import TRUSTED_LISTS, is_trusted
from berdseye.retrieval.passage_collections import rank_pages
from berdseye.retrieval.pipeline import Pipeline, search
from berdseye.retrieval.protocol import Query, as_queries
from berdseye.retrieval.ranking import LARGEST_K

CHARACTERS = 2_000
_LEAST_DEPTH, _DEPTH_A_CHUNK = 100, 10
_REACH = 25
_PLACE = re.compile(r"(.*)#(\d+)", re.DOTALL)
_CUT_BEFORE = ("DPR", "Sphere")


class Chunk(NamedTuple):
    """A part of one document that a model reads; `passages` are the ids of its passages in the corpus, in reading order."""

    text: str
    title: str = ""
    url: str = ""
    source_id: str = ""
    passages: tuple[int, ...] = ()

    def shown(self, number: int) -> str:
        """Return the chunk as it appears in a prompt, with its number, title and address."""
        head = " – ".join(part for part in (self.title, self.url) if part)
        return f"[{number}] {head}\n{self.text}" if head else f"[{number}] {self.text}"


@dataclass(frozen=True)
class ChunkSource:
    """A corpus as chunks that a pipeline retrieves.

    `trusted_only` restricts the sites to the domain endings that the corpus names, otherwise to those of `trusted_list`
    (`data.web.settings.TRUSTED_LISTS`): on the web, no other page is fetched; in other corpora, chunks with other addresses or
    without an address are left out. `day` is for the web. A hit is extended by at most `reach` passages after and before it.
    """

    corpus: Corpus
    pipeline: Pipeline
    characters: int = CHARACTERS
    trusted_only: bool = False
    day: str | None = None
    trusted_list: str = "debateqa"
    reach: int = _REACH

    def __post_init__(self) -> None:
        if self.trusted_list not in TRUSTED_LISTS:
            raise UnknownNameError("list of trusted domain endings", self.trusted_list, TRUSTED_LISTS)
        if self.characters < 1:
            raise BadInputError(
                f"A chunk must have at least 1 character, got {self.characters}.", hint="The default is 2000."
            )
        if self._sifting and not any(p.url for p in next(self.corpus.batches(), [])):
            raise BadInputError(
                f"The passages of '{self.corpus.name}' have no addresses, so trusted sites cannot be selected.",
                hint="Use a corpus of the web, or one with the field url.",
            )

    def find(
        self,
        queries: Sequence[Query | str],
        count: int,
        read: Sequence[Collection[int]] | None = None,
        *,
        progress: Progress = silent,
    ) -> list[list[Chunk]]:
        """Return up to `count` best chunks for each query; `read` holds the ids of passages that each query has already read."""
        all_queries = as_queries(queries)
        seen = read if read is not None else [()] * len(all_queries)
        depth = min(LARGEST_K, max(_LEAST_DEPTH, _DEPTH_A_CHUNK * count + max(map(len, seen), default=0)))
        if self._sifting:
            depth = LARGEST_K  # because most hits may be on other sites
        places = self._answerable(all_queries, progress)
        tuned = self.pipeline.tuned(self._cut)
        ids, _ = search(self._cut, tuned, [all_queries[n] for n in places], depth, day=self.day, progress=progress)
        chunks: list[list[Chunk]] = [[] for _ in all_queries]
        for place, row in zip(places, ids.tolist(), strict=True):
            hits = [i for i in row if i >= 0]
            chunks[place] = list(self._chunks(all_queries[place], hits, count, set(seen[place])))
        return chunks

    def text(self, passages: Sequence[int]) -> str:
        """Return the text of a chunk, by the ids of its passages; raises `StaleError` if the corpus no longer has one."""
        return " ".join(p.text for p in self._cut.passages(passages))[: self.characters]

    @cached_property
    def _cut(self) -> Corpus:
        """The corpus; if it has pages, they are cut into chunks."""
        if self.corpus.manifest.kind == "passages":
            return self.corpus
        web = dict(self.corpus.manifest.web)
        if self.trusted_only and self.corpus.manifest.kind == "web":
            web["trusted"] = list(self.endings)
        corpus = Corpus(self.corpus.folder)
        corpus.manifest = replace(corpus.manifest, chunker=str(Characters(self.characters)), web=web)
        return corpus

    @property
    def endings(self) -> tuple[str, ...]:
        """The trusted domain endings; empty if every site is allowed."""
        own = tuple(self.corpus.manifest.web.get("trusted", ()))
        return own or (TRUSTED_LISTS[self.trusted_list] if self.trusted_only else ())

    @property
    def _sifting(self) -> bool:
        return self.trusted_only and self.corpus.manifest.kind != "web"

    def _answerable(self, queries: Sequence[Query], progress: Progress) -> list[int]:
        """Return the places of queries with passages to rank: on the web, those that find a page."""
        if self.corpus.manifest.kind != "web":
            return list(range(len(queries)))
        from berdseye.data.corpora.web import web_pages
        from berdseye.data.web.pages import NothingFoundError

        pages, places = web_pages(self._cut.folder, self._cut.manifest), []
        for place, query in enumerate(queries):
            try:
                pages.pages_for(query.root or query.text, self.day, progress)
            except NothingFoundError:
                continue
            places.append(place)
        return places

    def _chunks(self, query: Query, hits: Sequence[int], count: int, taken: set[int]) -> Iterator[Chunk]:
        yielded = 0
        passages = {p.id: p for p in self._cut.passages(hits)} if self._sifting or self._cut is not self.corpus else {}
        for hit in hits:
            if yielded == count:
                return
            if hit in taken or (self._sifting and not is_trusted(passages[hit].url, self.endings)):
                continue
            parts = [passages[hit]] if self._cut is not self.corpus else self._extended(hit, taken)
            taken.update(p.id for p in parts)
            text = " ".join(p.text for p in parts)
            if len(text) > self.characters:
                text = self._best_piece(query, parts[0])
            yielded += 1
            yield Chunk(text, parts[0].title, parts[0].url, _document(parts[0]), tuple(p.id for p in parts))

    def _extended(self, hit: int, taken: Collection[int]) -> list[Passage]:
        """Return the passage and its neighbours that fit into a chunk, in reading order."""
        first, last = max(0, hit - self.reach), min(self.corpus.manifest.count - 1, hit + self.reach)
        near = {p.id: p for p in self.corpus.passages(range(first, last + 1))}
        parts = [near[hit]]
        length = len(near[hit].text)
        growing = {1: True, -1: True}
        while any(growing.values()):
            for step in (1, -1):
                if not growing[step]:
                    continue
                edge = parts[-1 if step == 1 else 0]
                following = near.get(edge.id + step)
                fits = (
                    following is not None
                    and following.id not in taken
                    and length + 1 + len(following.text) <= self.characters
                    and self._follows(*((edge, following) if step == 1 else (following, edge)))
                )
                growing[step] = fits
                if following is not None and fits:
                    length += 1 + len(following.text)
                    parts.insert(len(parts) if step == 1 else 0, following)
        return parts

    def _follows(self, one: Passage, next_one: Passage) -> bool:
        """Whether two passages follow each other in one document."""
        places = (_PLACE.fullmatch(one.source_id), _PLACE.fullmatch(next_one.source_id))
        if places[0] and places[1]:
            return places[0][1] == places[1][1] and int(places[0][2]) + 1 == int(places[1][2])
        came_cut = any(name in self.corpus.manifest.format for name in _CUT_BEFORE)
        return came_cut and bool(one.title) and (one.title, one.url) == (next_one.title, next_one.url)

    def _best_piece(self, query: Query, passage: Passage) -> str:
        best = rank_pages([passage._replace(id=0)], self.pipeline.ranker, query, 1, Characters(self.characters))
        pieces = Characters(self.characters)(passage.text)
        return pieces[int(best.ids[0])] if len(best.ids) else pieces[0]


def _document(passage: Passage) -> str:
    """Return the id of the document from which a passage was cut."""
    match = _PLACE.fullmatch(passage.source_id)
    return match[1] if match else passage.source_id
