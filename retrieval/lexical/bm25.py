"""BM25 (Robertson and Zaragoza, 2009, equation 3.15) in its common variants.

Kamphuis et al. (ECIR 2020, table 1) compare the variants. With n = 1 - b + b * length / mean length, a token adds
idf * (tf + s n) / (tf + c n) times a constant, plus another constant.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from berdseye.data.errors import BadInputError
from berdseye.data.grammar import show
from berdseye.data.records import Scores
from berdseye.retrieval.lexical.arrays import Docs, Values
from berdseye.retrieval.lexical.scoring import Statistics

Idf = Callable[[int, Statistics], float]

_EPSILON = 0.25
_UNSCALED = ("lucene", "robertson")  # variants without the factor k1 + 1
# Lv and Zhai: BM25L (SIGIR 2011) and BM25+ (CIKM 2011).
_DELTA_L, _DELTA_PLUS = 0.5, 1.0


def _lucene(df: int, statistics: Statistics) -> float:
    return math.log1p((statistics.documents - df + 0.5) / (df + 0.5))


def _unbounded(df: int, statistics: Statistics) -> float:
    """The idf that is negative for a token in more than half of the documents."""
    return math.log((statistics.documents - df + 0.5) / (df + 0.5))


def _robertson(df: int, statistics: Statistics) -> float:
    """The idf, or 0 where it would be negative, as in bm25s."""
    return max(0.0, _unbounded(df, statistics))


def _okapi(df: int, statistics: Statistics) -> float:
    """The idf, or a quarter of the mean idf where it would be negative, as in rank-bm25's BM25Okapi."""
    if statistics.mean_idf is None:
        raise BadInputError(
            "The okapi variant requires the idf of the whole vocabulary, which an index in shards does not have.",
            hint="Use another variant, or an index without shards.",
        )
    idf = _unbounded(df, statistics)
    return idf if idf >= 0 else _EPSILON * statistics.mean_idf


def _atire(df: int, statistics: Statistics) -> float:
    return math.log(statistics.documents / df)


def _l(df: int, statistics: Statistics) -> float:
    return math.log((statistics.documents + 1) / (df + 0.5))


def _plus(df: int, statistics: Statistics) -> float:
    return math.log((statistics.documents + 1) / df)


VARIANTS: Mapping[str, Idf] = {
    "lucene": _lucene,
    "robertson": _robertson,
    "okapi": _okapi,
    "atire": _atire,
    "l": _l,
    "plus": _plus,
}


@dataclass(frozen=True)
class BM25:
    """BM25; the defaults are Lucene's idf and the parameters of Anserini and Pyserini, k1 = 0.9 and b = 0.4."""

    k1: float = 0.9
    b: float = 0.4
    variant: str = "lucene"

    @property
    def name(self) -> str:
        return f"bm25(k1={show(self.k1)},b={show(self.b)},variant={self.variant})"

    @property
    def of_documents(self) -> bool:
        return False

    @property
    def monotone(self) -> bool:
        return self.k1 >= 0 and 0 <= self.b <= 1

    def term(self, term: str, frequencies: Values, lengths: Docs, statistics: Statistics) -> Scores:
        scores: Scores = self.table((term,), self.shared(frequencies, lengths, statistics), statistics)[0]
        return scores

    def shared(self, frequencies: Values, lengths: Docs, statistics: Statistics) -> tuple[Scores, Scores]:
        """The fraction by which the idf is multiplied: its numerator and denominator, both float32[n]."""
        tf = frequencies.astype(np.float32)
        norm: Scores = (np.float32(1 - self.b) + np.float32(self.b / statistics.mean_length) * lengths).astype(
            np.float32
        )
        if self.variant == "l":
            return tf + np.float32(_DELTA_L) * norm, tf + np.float32(self.k1 + _DELTA_L) * norm
        return tf, tf + np.float32(self.k1) * norm

    def table(self, terms: Sequence[str], shared: tuple[Scores, Scores], statistics: Statistics) -> Scores:
        """The scores float32[terms, n] of several tokens, which share all but their idf."""
        idf_of, (above, below) = VARIANTS[self.variant], shared
        idf = np.array([[idf_of(statistics.terms[term].documents, statistics)] for term in terms], dtype=np.float32)
        scaled = idf if self.variant in _UNSCALED else idf * np.float32(self.k1 + 1)
        scores: Scores = scaled * above
        scores /= below
        if self.variant == "plus":
            scores += idf * np.float32(_DELTA_PLUS)
        return scores

    def document(self, tokens: int, lengths: Docs, statistics: Statistics) -> Scores:
        """Zeros, since only tokens count in BM25."""
        del tokens, statistics
        return np.zeros(len(lengths), dtype=np.float32)
