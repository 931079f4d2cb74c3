"""Words that a collection does not hold, with the nearest that it does.

Which words of a passage a question matches, the way BM25 sees them.
"""

import re
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher

from berdseye.data.corpora import Corpus
from berdseye.retrieval.indexes import index_text
from berdseye.retrieval.lexical.index import LexicalIndex
from berdseye.retrieval.lexical.ranker import LexicalIndexer
from berdseye.retrieval.lexical.tokenizers import TOKENIZERS
from berdseye.retrieval.passage_collections import Stored

_WORD = re.compile(r"\b\w\w+\b")


def matched_spans(text: str, query: str) -> Iterator[tuple[int, int]]:
    """Start and end of each word of `text` whose stem is a stem of the query's words (stop words aside)."""
    english = TOKENIZERS["english"]
    wanted = set(english.terms(query))
    for word in _WORD.finditer(text):
        if english.term(word.group().lower()) in wanted:
            yield word.span()


_NEAR, _NEAR_STEM = 0.75, 0.6
_LOOKED_AT, _READ = 10, 5
_LONGER = 2
_COMPARED = 20_000


def unknown_words(corpora: Sequence[Corpus], query: str, most: int = 3) -> dict[str, list[str]]:
    """The words of a query that none of the corpora (of passages) holds, each with at most `most` like it, the likest first.

    Those begin with the same letter, and are whole words as a passage has them.
    """
    held = [
        (corpus, Stored(corpus).index(LexicalIndexer())) for corpus in corpora if corpus.manifest.kind == "passages"
    ]
    if not held:
        return {}
    tokenizer = held[0][1].tokenizer
    asked = {term: word for word in tokenizer.split(query) if (term := tokenizer.term(word)) is not None}
    return {
        word: _like(held, word, term)[:most]
        for term, word in asked.items()
        if all(index.postings.find(term) is None for _, index in held)
    }


def _like(held: Sequence[tuple[Corpus, LexicalIndex]], word: str, term: str) -> list[str]:
    found: dict[str, tuple[float, int, Corpus, LexicalIndex, int]] = {}
    for corpus, index in held:
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
                found[other] = max(
                    found.get(other, (0.0, 0, corpus, index, 0)),
                    (matcher.ratio(), often, corpus, index, number),
                    key=lambda near: near[:2],
                )
    best = sorted(found.items(), key=lambda near: (-near[1][0], -near[1][1], near[0]))[:_LOOKED_AT]
    # Stems tell less than words: those of "elephant" and "elefant" are "eleph" and "elef".
    near: dict[str, tuple[float, int]] = {}
    for other, (_, often, corpus, index, number) in best:
        for like in _words(corpus, index, other, number):
            near[like] = (SequenceMatcher(a=like, b=word, autojunk=False).ratio(), often)
    return [like for like, (ratio, _) in sorted(near.items(), key=lambda n: n[1], reverse=True) if ratio >= _NEAR]


def _words(corpus: Corpus, index: LexicalIndex, term: str, number: int) -> set[str]:
    """The words of this term in the first passages that have it."""
    passages = corpus.passages(index.postings.of(number)[0][:_READ].tolist())
    return {w for p in passages for w in index.tokenizer.split(index_text(p)) if index.tokenizer.term(w) == term}
