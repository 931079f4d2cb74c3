"""From a text to its index terms, named so that an index says how its texts were taken apart."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc
import Stemmer

# The stop words of Lucene's EnglishAnalyzer.
_STOP_WORDS = frozenset(
    [
        *("a", "an", "and", "are", "as", "at", "be", "but", "by", "for", "if", "in", "into", "is", "it", "no", "not"),
        *("of", "on", "or", "such", "that", "the", "their", "then", "there", "these", "they", "this", "to", "was"),
        *("will", "with"),
    ]
)
_RUN = re.compile(r"\w+")


@dataclass(frozen=True)
class Tokenizer:
    """`split_all` gives the tokens of many texts at once, `split` the same of one; `term` gives a token's index term, or
    nothing where it has none.

    A term depends on its token alone, so that each distinct token is normalised once.
    """

    name: str
    split_all: Callable[[pa.StringArray], pa.ListArray]
    split: Callable[[str], list[str]]
    term: Callable[[str], str | None]

    def tokens(self, texts: Sequence[str]) -> pa.ListArray:
        """The tokens of each text."""
        try:
            return self.split_all(pa.array(texts, pa.string()))
        except UnicodeEncodeError:
            return self.split_all(pa.array(map(_whole, texts), pa.string()))

    def terms(self, text: str) -> list[str]:
        """The index terms of a text, in its order."""
        found = (self.term(token) for token in self.split(_whole(text)))
        return [term for term in found if term is not None]


def _whole(text: str) -> str:
    """With question marks for lone surrogates, which Arrow does not take."""
    return text.encode("utf-8", "replace").decode()


def _all_words(texts: pa.StringArray) -> pa.ListArray:
    """Lower-cased runs of letters, digits and underscores."""
    return pc.split_pattern_regex(pc.utf8_lower(texts), r"[^\p{L}\p{N}_]+")


def _words(text: str) -> list[str]:
    """The same: Arrow lower-cases Turkish and Greek otherwise than Python, and takes long to compile the pattern."""
    return _RUN.findall(pc.utf8_lower(text).as_py())


def _all_spaced(texts: pa.StringArray) -> pa.ListArray:
    return pc.split_pattern(texts, " ")


def _spaced(text: str) -> list[str]:
    return text.split(" ")


def _word(token: str) -> str | None:
    """Words of one character are none."""
    return token if len(token) > 1 else None


def _stemmed(algorithm: str) -> Callable[[str], str | None]:
    stem = Stemmer.Stemmer(algorithm).stemWord

    def term(token: str) -> str | None:
        return None if len(token) < 2 or token in _STOP_WORDS else stem(token)

    return term


TOKENIZERS: Mapping[str, Tokenizer] = {
    t.name: t
    for t in (
        # Lucene's English stop words and the Snowball English stemmer: the default of bm25s as well.
        Tokenizer("english", _all_words, _words, _stemmed("english")),
        # Porter's own stemmer, as Anserini's default analyser has it.
        Tokenizer("porter", _all_words, _words, _stemmed("porter")),
        Tokenizer("words", _all_words, _words, _word),
        # What the released PIR notebook does: case and punctuation are kept, and an empty token is a token.
        Tokenizer("spaces", _all_spaced, _spaced, lambda token: token),
    )
}
