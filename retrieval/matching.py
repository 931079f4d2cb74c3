"""Which words of a passage a question matches, the way BM25 sees them."""

import re
from collections.abc import Iterator

import Stemmer

from retrieval.bm25 import tokenize

_WORD = re.compile(r"\b\w\w+\b")


def matched_spans(text: str, query: str) -> Iterator[tuple[int, int]]:
    """Start and end of each word of `text` whose stem is a stem of the query's words (stop words aside)."""
    wanted = set(tokenize([query])[0])
    stem = Stemmer.Stemmer("english")
    for word in _WORD.finditer(text):
        if stem.stemWord(word.group().lower()) in wanted:
            yield word.span()
