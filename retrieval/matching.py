"""Which words of a passage a question matches, the way BM25 sees them."""

import re
from collections.abc import Iterator

from berdseye.retrieval.lexical.tokenizers import TOKENIZERS

_WORD = re.compile(r"\b\w\w+\b")


def matched_spans(text: str, query: str) -> Iterator[tuple[int, int]]:
    """Start and end of each word of `text` whose stem is a stem of the query's words (stop words aside)."""
    english = TOKENIZERS["english"]
    wanted = set(english.terms(query))
    for word in _WORD.finditer(text):
        if english.term(word.group().lower()) in wanted:
            yield word.span()
