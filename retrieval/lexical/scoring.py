"""What a scoring function is: it turns the postings of one query term into scores.

What scoring functions ask of a collection, which may be larger than the part that is searched.
"""

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from berdseye.data.records import Scores
from berdseye.retrieval.lexical.arrays import Docs, Values


class TermStatistics(NamedTuple):
    """In how many documents a term stands, and how often in all."""

    documents: int
    occurrences: int


class Statistics(NamedTuple):
    """Of a collection: documents, tokens, and each query term's counts.

    `mean_idf` is the mean of ln((N - df + 0.5) / (df + 0.5)) over the vocabulary; nothing where a vocabulary that
    stands in several parts was not counted.
    """

    documents: int
    tokens: int
    mean_idf: float | None
    terms: dict[str, TermStatistics]

    @property
    def mean_length(self) -> float:
        return self.tokens / max(self.documents, 1)


def combined(parts: Sequence[Statistics]) -> Statistics:
    """The statistics of a collection from those of its parts, which share no document."""
    terms: dict[str, TermStatistics] = {}
    for part in parts:
        for term, (documents, occurrences) in part.terms.items():
            held = terms.get(term, TermStatistics(0, 0))
            terms[term] = TermStatistics(held.documents + documents, held.occurrences + occurrences)
    return Statistics(
        sum(p.documents for p in parts),
        sum(p.tokens for p in parts),
        parts[0].mean_idf if len(parts) == 1 else None,
        terms,
    )


class Scoring(Protocol):
    """A document's score is the sum of `term` over the query's tokens it holds, and with `of_documents`
    what `document` gives for the document alone."""

    @property
    def name(self) -> str: ...

    @property
    def of_documents(self) -> bool: ...

    def term(self, term: str, frequencies: Values, lengths: Docs, statistics: Statistics) -> Scores:
        """Score float32[n] of one token in n documents, which hold it `frequencies` times and are `lengths` long."""
        ...

    def document(self, tokens: int, lengths: Docs, statistics: Statistics) -> Scores:
        """What the documents get, float32[n], for a query of so many known tokens whichever they hold."""
        ...
