"""Cutting documents into passages of about 100 words."""

import re
from collections.abc import Iterator

PASSAGE_WORDS = 100
_SLACK = 10
_HEADING_WORDS = 12
_UNSAFE = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")


def clean(text: str) -> str:
    """`text` without control characters (NUL among them) and lone surrogates, which no store or browser takes."""
    if text.isprintable():  # a tenth of the time, and true of most lines
        return text.strip()
    return _UNSAFE.sub(" ", text).encode("utf-8", "replace").decode("utf-8").strip()


def cut(text: str, words: int = PASSAGE_WORDS) -> Iterator[str]:
    """Passages of at most `words` + 10 words, in order.

    Whole paragraphs are kept together while they fit, a heading with what it heads; a longer paragraph is cut every
    `words` words, as the 100-word passages of DPR and BERDS are. Words are what whitespace separates; nothing is lost
    or repeated.
    """
    limit = words + _SLACK
    held: list[str] = []
    for tokens in _blocks(text):
        if held and len(held) + len(tokens) > limit:
            yield " ".join(held)
            held = []
        held += tokens
        while len(held) > limit:
            yield " ".join(held[:words])
            held = held[words:]
    if held:
        yield " ".join(held)


def _blocks(text: str) -> Iterator[list[str]]:
    """The words of each paragraph, headings joined to the paragraph that follows."""
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
