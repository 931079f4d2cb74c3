"""Cutting documents into passages of about 100 words."""

import re
from collections.abc import Iterator

PASSAGE_WORDS = 100
_SLACK = 10
_HEADING_WORDS = 12
_UNSAFE = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")


def clean(text: str) -> str:
    """Remove control characters (including NUL) and lone surrogates, and whitespace at both ends."""
    return safe(text).strip()


def safe(text: str) -> str:
    """Replace control characters (including NUL) and lone surrogates, which no store or browser accepts; keep the spaces."""
    if text.isprintable():  # takes a tenth of the time, and is true for most lines
        return text
    return _UNSAFE.sub(" ", text).encode("utf-8", "replace").decode("utf-8")


def cut(text: str, words: int = PASSAGE_WORDS) -> Iterator[str]:
    """Yield passages of at most `words` + 10 words, in order.

    Paragraphs stay whole while they fit, and a heading stays with the paragraph after it; a longer paragraph is cut every
    `words` words, like the 100-word passages of DPR and BERDS. Words are separated by whitespace; none is lost or repeated.
    """
    limit = words + _SLACK
    buffer: list[str] = []
    for tokens in _blocks(text):
        if buffer and len(buffer) + len(tokens) > limit:
            yield " ".join(buffer)
            buffer = []
        buffer += tokens
        while len(buffer) > limit:
            yield " ".join(buffer[:words])
            buffer = buffer[words:]
    if buffer:
        yield " ".join(buffer)


def _blocks(text: str) -> Iterator[list[str]]:
    """Yield the words of each paragraph, with headings joined to the paragraph that follows."""
    heading: list[str] = []
    for line in clean(text).splitlines():
        tokens = line.split()
        if not tokens:
            continue
        if len(tokens) <= _HEADING_WORDS and tokens[-1][-1].isalnum():
            heading += tokens
        else:
            yield heading + tokens
            heading = []
    if heading:
        yield heading
