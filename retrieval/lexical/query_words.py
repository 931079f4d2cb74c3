"""The words of a query: which words of a passage they match in BM25, and which are missing in a collection."""

import re
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher

from berdseye.data.corpora import Corpus
from berdseye.retrieval.indexes import index_text
from berdseye.retrieval.lexical.index import LexicalIndex
from berdseye.retrieval.lexical.ranker import LexicalIndexer
from berdseye.retrieval.lexical.tokenizers import TOKENIZERS
from berdseye.retrieval.passage_collections import StoredCorpus

_WORD = re.compile(r"\b\w\w+\b")
_NEAR, _NEAR_STEM = 0.75, 0.6
_CANDIDATES, _READ = 10, 5
_LONGER = 2
_COMPARED = 20_000


def matched_spans(text: str, query: str) -> Iterator[tuple[int, int]]:
    """Yield the start and end of each word of `text` whose stem is that of a word of the query, except stop words."""
    english = TOKENIZERS["english"]
    wanted = set(english.terms(query))
    for word in _WORD.finditer(text):
        if english.term(word.group().lower()) in wanted:
            yield word.span()


def unknown_words(corpora: Sequence[Corpus], query: str, most: int = 3) -> dict[str, list[str]]:
    """The words of a query that no corpus (of passages) contains, each with at most `most` similar words, best first.

    Similar words begin with an equal letter, and are complete words of a passage.
    """
    indexes = [
        (corpus, StoredCorpus(corpus).index(LexicalIndexer()))
        for corpus in corpora
        if corpus.manifest.kind == "passages"
    ]
    if not indexes:
        return {}
    tokenizer = indexes[0][1].tokenizer
    words_by_term = {term: word for word in tokenizer.split(query) if (term := tokenizer.term(word)) is not None}
    return {
        word: _similar(indexes, word, term)[:most]
        for term, word in words_by_term.items()
        if all(index.postings.find(term) is None for _, index in indexes)
    }


def _similar(indexes: Sequence[tuple[Corpus, LexicalIndex]], word: str, term: str) -> list[str]:
    candidates: dict[str, tuple[float, int, Corpus, LexicalIndex, int]] = {}
    for corpus, index in indexes:
        numbers = index.postings.starting_with(term[:1])
        if len(numbers) > _COMPARED:
            numbers = index.postings.starting_with(term[:2])
        matcher = SequenceMatcher(b=term, autojunk=False)
        for number in numbers:
            other = index.postings.term(number)
            if abs(len(other) - len(term)) > _LONGER:
                continue
            matcher.set_seq1(other)
            if matcher.quick_ratio() >= _NEAR_STEM and matcher.ratio() >= _NEAR_STEM:
                often = len(index.postings.of(number)[0])
                candidates[other] = max(
                    candidates.get(other, (0.0, 0, corpus, index, 0)),
                    (matcher.ratio(), often, corpus, index, number),
                    key=lambda near: near[:2],
                )
    best = sorted(candidates.items(), key=lambda near: (-near[1][0], -near[1][1], near[0]))[:_CANDIDATES]
    # Stems are less informative than words: those of "elephant" and "elefant" are "eleph" and "elef".
    near: dict[str, tuple[float, int]] = {}
    for other, (_, often, corpus, index, number) in best:
        for like in _words(corpus, index, other, number):
            near[like] = (SequenceMatcher(a=like, b=word, autojunk=False).ratio(), often)
    return [like for like, (ratio, _) in sorted(near.items(), key=lambda n: n[1], reverse=True) if ratio >= _NEAR]


def _words(corpus: Corpus, index: LexicalIndex, term: str, number: int) -> set[str]:
    """The words with this term in the first passages that contain it."""
    passages = corpus.passages(index.postings.of(number)[0][:_READ].tolist())
    return {w for p in passages for w in index.tokenizer.split(index_text(p)) if index.tokenizer.term(w) == term}
