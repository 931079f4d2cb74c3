"""Tokenizers, which convert texts to index terms; their names are part of the names of indexes."""

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
    """A tokenizer: `split_all` returns the tokens of many texts, `split` those of one text.

    `term` returns the index term of a token, or None if it has none. A term depends on its token only, so that each distinct
    token is normalised once.
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
            return self.split_all(pa.array(map(_without_surrogates, texts), pa.string()))

    def terms(self, text: str) -> list[str]:
        """The index terms of a text, in order."""
        terms = (self.term(token) for token in self.split(_without_surrogates(text)))
        return [term for term in terms if term is not None]


def _without_surrogates(text: str) -> str:
    """The text with question marks in place of lone surrogates, which Arrow does not accept."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


def _all_words(texts: pa.StringArray) -> pa.ListArray:
    """Lower-cased runs of letters, digits and underscores."""
    return pc.split_pattern_regex(pc.utf8_lower(texts), r"[^\p{L}\p{N}_]+")


def _words(text: str) -> list[str]:
    """Lower-cased runs of letters, digits and underscores of one text.

    Lower-casing uses Arrow, which differs from Python for Turkish and Greek, unless all characters are ASCII, for which Python
    is quicker; splitting uses Python, since Arrow takes long to compile the pattern.
    """
    return _RUN.findall(text.lower() if text.isascii() else pc.utf8_lower(text).as_py())


def _all_spaced(texts: pa.StringArray) -> pa.ListArray:
    return pc.split_pattern(texts, " ")


def _spaced(text: str) -> list[str]:
    return text.split(" ")


def _word(token: str) -> str | None:
    """The token itself; tokens of one character have no term."""
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
        # Porter's original stemmer, as in Anserini's default analyzer.
        Tokenizer("porter", _all_words, _words, _stemmed("porter")),
        Tokenizer("words", _all_words, _words, _word),
        # As in PIR's released notebook: case and punctuation are kept, and an empty token counts as a token.
        Tokenizer("spaces", _all_spaced, _spaced, lambda token: token),
    )
}
SYNONYMS: Mapping[str, str] = {"whitespace": "spaces"}
"""Further names that a pipeline may use for a tokenizer; canonical names do not contain them."""
