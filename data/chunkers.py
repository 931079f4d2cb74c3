"""Cutting documents into passages, each way by its name: `words(100)`, `characters(2000)`, `sentences(100)`, `whole`."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Protocol

from berdseye.data.errors import BadInputError, UnknownNameError
from berdseye.data.grammar import parse
from berdseye.data.passages import PASSAGE_WORDS, clean, cut
from berdseye.data.sentences import split_sentences

_CHARACTERS = 2_000


class Chunker(Protocol):
    """Cuts a text; `str()` of it is its canonical name."""

    def __call__(self, text: str) -> list[str]:
        """Passages in order, none of them empty; no word is lost or repeated."""
        ...


@dataclass(frozen=True)
class Words:
    """Passages of about `words` words, as DPR and BERDS cut Wikipedia; see `berdseye.data.passages.cut`."""

    words: int = PASSAGE_WORDS

    def __call__(self, text: str) -> list[str]:
        return list(cut(text, self.words))

    def __str__(self) -> str:
        return f"words({self.words})"


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
        held: list[str] = []
        for paragraph in _paragraphs(text):
            for sentence in split_sentences(paragraph):
                tokens = sentence.split()
                if held and len(held) + len(tokens) > self.words:
                    yield " ".join(held)
                    held = []
                held += tokens
                while len(held) > self.words:
                    yield " ".join(held[: self.words])
                    held = held[self.words :]
        if held:
            yield " ".join(held)


@dataclass(frozen=True)
class Whole:
    """Every text one passage, for what was cut already."""

    def __call__(self, text: str) -> list[str]:
        whole = clean(text)
        return [whole] if whole else []

    def __str__(self) -> str:
        return "whole"


_CHUNKERS: dict[str, Callable[..., Chunker]] = {
    "words": Words,
    "characters": Characters,
    "sentences": Sentences,
    "whole": Whole,
}
DEFAULT_CHUNKER = str(Words())


def parse_chunker(name: str = DEFAULT_CHUNKER) -> Chunker:
    """The chunker of this name; raises `UnknownNameError` or `BadInputError` with what may be written instead."""
    first, *more = parse(name)
    if first.name not in _CHUNKERS:
        raise UnknownNameError("chunker", first.name, _CHUNKERS)
    sizes = [int(a) for a in first.args if isinstance(a, float) and a == int(a) >= 1]
    most = 0 if first.name == "whole" else 1
    plain = not more and not first.kwargs and first.keep is None and first.cutoff is None
    if not plain or len(sizes) != len(first.args) or len(sizes) > most:
        raise BadInputError(
            f"'{name}' is no chunker.", hint="Write words(100), characters(2000), sentences(100) or whole."
        )
    return _CHUNKERS[first.name](*sizes)


def _paragraphs(text: str) -> Iterator[str]:
    """Lines that hold words, their words a space apart."""
    return (line for line in (" ".join(line.split()) for line in clean(text).splitlines()) if line)


def _finer(piece: str) -> tuple[Iterable[str], str]:
    """The next smaller pieces of a piece that is too long, and what stands between them."""
    sentences = split_sentences(piece)
    if len(sentences) > 1:
        return sentences, " "
    words = piece.split()
    return (words, " ") if len(words) > 1 else (piece, "")


def _packed(
    pieces: Iterable[str], between: str, limit: int, finer: Callable[[str], tuple[Iterable[str], str]]
) -> Iterator[str]:
    """Pieces joined while they fit; one that does not fit by itself is packed from its own pieces."""
    held = ""
    for piece in pieces:
        if held and len(held) + len(between) + len(piece) <= limit:
            held = f"{held}{between}{piece}"
            continue
        if held:
            yield held
        held = ""
        if len(piece) <= limit:
            held = piece
        else:
            smaller, gap = finer(piece)
            *full, held = _packed(smaller, gap, limit, finer)
            yield from full
    if held:
        yield held
