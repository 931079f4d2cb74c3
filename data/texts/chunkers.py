"""Chunkers, which cut documents into passages: `words(100)`, `blocks(100)`, `characters(2000)`, `sentences(100)` and
`whole`.

Sentences are split by deterministic rules, without a model or a download.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Protocol

from berdseye.data.errors import BadInputError, UnknownNameError
from berdseye.data.grammar import parse
from berdseye.data.texts.passages import PASSAGE_WORDS, clean, cut

_END = re.compile(r"(?:[.!?…]+[\"'”’»)\]]*|[。！？]+[」』”]*)(?=\s|$)|(?<=[。！？])(?=[^\s」』”])")
_OPENING = "\"'“‘«([¿¡-–—"
_TITLES = re.compile(
    r"(?:mr|mrs|ms|mx|dr|prof|rev|hon|st|sr|jr|gen|col|maj|capt|lt|sgt|cpl|gov|sen|rep|pres|supt|messrs|mme|mlle)",
    re.IGNORECASE,
)
_ABBREVIATIONS = re.compile(
    r"(?:vs?|approx|ca|cf|ch|chap|eds?|eqs?|esp|est|figs?|incl|jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec|nos?|op|pp?|"
    r"par|para|pt|ref|resp|sec|tab|viz|vols?|art|dept|min|max|misc|tel|univ)",
    re.IGNORECASE,
)
_OFTEN_LAST = re.compile(r"(?:etc|inc|ltd|co|corp|al|[ap]\.m)", re.IGNORECASE)
_INITIALS = re.compile(r"(?:[A-Za-z]\.)+[A-Za-z]|[A-HJ-Z]")
_CHARACTERS = 2_000


def split_sentences(text: str) -> list[str]:
    """The trimmed sentences of a paragraph in order; joined by spaces, they contain all of its words.

    A full stop does not end a sentence after a title (Dr.) or an initial (J.), or inside a number (3.5) or an address; after
    another abbreviation it does so only if a capital follows that could begin a sentence.
    """
    return [text[start:end] for start, end in sentence_spans(text)]


def sentence_spans(text: str) -> list[tuple[int, int]]:
    """The positions of the sentences in a text, as [start, end) in characters."""
    spans = []
    for start, end in _cuts(text):
        sentence = text[start:end]
        start += len(sentence) - len(sentence.lstrip())
        if trimmed := sentence.strip():
            spans.append((start, start + len(trimmed)))
    return spans


def _cuts(text: str) -> Iterator[tuple[int, int]]:
    start = 0
    for end in _END.finditer(text):
        if end.end() > start and _ends(text, start, end):
            yield start, end.end()
            start = end.end()
    yield start, len(text)


def _ends(text: str, start: int, end: re.Match[str]) -> bool:
    mark = end.group()
    following = text[end.end() : end.end() + 40].lstrip().lstrip(_OPENING)[:1]
    if following.islower():
        return False
    if not following or mark != ".":
        return True
    before = text[max(start, end.start() - 20) : end.start()].split()
    word = before[-1].lstrip(_OPENING) if before else ""
    if _OFTEN_LAST.fullmatch(word):
        return not following.isdigit()
    # After initials (J.R.R., U.S.) a sentence ends about half of the time; continuing it does less harm to a passage.
    return not any(pattern.fullmatch(word) for pattern in (_TITLES, _ABBREVIATIONS, _INITIALS))


class Chunker(Protocol):
    """A function that cuts a text into passages; its `str()` is its canonical name."""

    def __call__(self, text: str) -> list[str]:
        """The passages in order; none is empty, and no word is lost or repeated."""
        ...


@dataclass(frozen=True)
class Words:
    """Passages of about `words` words that keep paragraphs whole if they fit; see `berdseye.data.texts.passages.cut`."""

    words: int = PASSAGE_WORDS

    def __call__(self, text: str) -> list[str]:
        return list(cut(text, self.words))

    def __str__(self) -> str:
        return f"words({self.words})"


@dataclass(frozen=True)
class Blocks:
    """Passages of exactly `words` words in order, whatever the paragraphs, and the rest of the text as the last passage.

    DPR cut Wikipedia into such disjoint text blocks of 100 words (Karpukhin et al. 2020, section 4.1), and BERDS the web pages
    that it searched.
    """

    words: int = PASSAGE_WORDS

    def __call__(self, text: str) -> list[str]:
        tokens = clean(text).split()
        return [" ".join(tokens[start : start + self.words]) for start in range(0, len(tokens), self.words)]

    def __str__(self) -> str:
        return f"blocks({self.words})"


@dataclass(frozen=True)
class Characters:
    """Passages of at most `characters` characters, as many whole paragraphs as fit.

    A paragraph that does not fit is cut between sentences, a sentence that does not fit between words, and a word that
    does not fit anywhere.
    """

    characters: int = _CHARACTERS

    def __call__(self, text: str) -> list[str]:
        return list(_packed(_paragraphs(text), "\n", self.characters, _finer))

    def __str__(self) -> str:
        return f"characters({self.characters})"


@dataclass(frozen=True)
class Sentences:
    """Passages of whole sentences, as many as fit into `words` words; a longer sentence is cut every `words` words."""

    words: int = PASSAGE_WORDS

    def __call__(self, text: str) -> list[str]:
        return list(self._cut(text))

    def __str__(self) -> str:
        return f"sentences({self.words})"

    def _cut(self, text: str) -> Iterator[str]:
        buffer: list[str] = []
        for paragraph in _paragraphs(text):
            for sentence in split_sentences(paragraph):
                tokens = sentence.split()
                if buffer and len(buffer) + len(tokens) > self.words:
                    yield " ".join(buffer)
                    buffer = []
                buffer += tokens
                while len(buffer) > self.words:
                    yield " ".join(buffer[: self.words])
                    buffer = buffer[self.words :]
        if buffer:
            yield " ".join(buffer)


@dataclass(frozen=True)
class Whole:
    """Every text as one passage, for texts that are already cut."""

    def __call__(self, text: str) -> list[str]:
        whole = clean(text)
        return [whole] if whole else []

    def __str__(self) -> str:
        return "whole"


_CHUNKERS: dict[str, Callable[..., Chunker]] = {
    "words": Words,
    "blocks": Blocks,
    "characters": Characters,
    "sentences": Sentences,
    "whole": Whole,
}
DEFAULT_CHUNKER = str(Words())


def parse_chunker(name: str = DEFAULT_CHUNKER) -> Chunker:
    """The chunker of this name; raises `UnknownNameError` or `BadInputError` with the valid names."""
    first, *more = parse(name)
    if first.name not in _CHUNKERS:
        raise UnknownNameError("chunker", first.name, _CHUNKERS)
    sizes = [int(a) for a in first.args if isinstance(a, float) and a == int(a) >= 1]
    most = 0 if first.name == "whole" else 1
    plain = not more and not first.kwargs and first.keep is None and first.cutoff is None
    if not plain or len(sizes) != len(first.args) or len(sizes) > most:
        raise BadInputError(
            f"'{name}' is not a chunker.",
            hint="Write words(100), blocks(100), characters(2000), sentences(100) or whole.",
        )
    return _CHUNKERS[first.name](*sizes)


def _paragraphs(text: str) -> Iterator[str]:
    """Yield the lines that contain words, with single spaces between the words."""
    return (line for line in (" ".join(line.split()) for line in clean(text).splitlines()) if line)


def _finer(piece: str) -> tuple[Iterable[str], str]:
    """The next smaller pieces of a piece that is too long, and the text between them."""
    sentences = split_sentences(piece)
    if len(sentences) > 1:
        return sentences, " "
    words = piece.split()
    return (words, " ") if len(words) > 1 else (piece, "")


def _packed(
    pieces: Iterable[str], between: str, limit: int, finer: Callable[[str], tuple[Iterable[str], str]]
) -> Iterator[str]:
    """Yield pieces joined while they fit into `limit`; a piece that is too long is split into smaller ones first."""
    buffer = ""
    for piece in pieces:
        if buffer and len(buffer) + len(between) + len(piece) <= limit:
            buffer = f"{buffer}{between}{piece}"
            continue
        if buffer:
            yield buffer
        buffer = ""
        if len(piece) <= limit:
            buffer = piece
        else:
            smaller, gap = finer(piece)
            *full, buffer = _packed(smaller, gap, limit, finer)
            yield from full
    if buffer:
        yield buffer
