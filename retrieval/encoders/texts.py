"""Texts as an encoder's tokenizer can take them."""

import re
from collections.abc import Iterable

from berdseye.data.records import Passage
from berdseye.retrieval.indexes import index_text

_WORD = re.compile(r"\S+\s*")
_ORDINARY = 20
_LONGEST = 200


def encodable(texts: Iterable[str], most: int) -> list[str]:
    """The texts without lone surrogates, and cut after `most` words where they are far longer.

    A word is a token or more, so a model that reads `most` tokens sees the same.
    """
    return [_cut(text.encode("utf-8", "replace").decode("utf-8"), most) for text in texts]


def titled(passage: Passage, separator: str = " ") -> str:
    """Title and text as one text, or the text alone where there is no title."""
    return f"{passage.title}{separator}{passage.text}" if passage.title and separator != " " else index_text(passage)


def _cut(text: str, most: int) -> str:
    if len(text) <= _ORDINARY * most:
        return text
    text = text[: _LONGEST * most]
    words = list(_WORD.finditer(text))
    return text[: words[most - 1].end()] if len(words) > most else text
