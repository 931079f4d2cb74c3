"""The interface of scoring functions, which convert the postings of a query term to scores, and the statistics they use.

Statistics describe a collection, of which the searched index may be a part.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

from berdseye.data.records import Scores
from berdseye.retrieval.lexical.arrays import Docs, Values


class TermStatistics(NamedTuple):
    """The number of documents with a term, and the number of its occurrences in all of them."""

    documents: int
    occurrences: int


class Statistics(NamedTuple):
    """The statistics of a collection: the numbers of documents and tokens, and the counts of each query term.

    `mean_idf` is the mean of ln((N - df + 0.5) / (df + 0.5)) over the vocabulary; None for a collection in several parts,
    whose joint vocabulary was not counted.
    """

    documents: int
    tokens: int
    mean_idf: float | None
    terms: dict[str, TermStatistics]

    @property
    def mean_length(self) -> float:
        return self.tokens / max(self.documents, 1)


def combined(parts: Sequence[Statistics]) -> Statistics:
    """Combine the statistics of a collection's parts, which share no document."""
    terms: dict[str, TermStatistics] = {}
    for part in parts:
        for term, (documents, occurrences) in part.terms.items():
            earlier = terms.get(term, TermStatistics(0, 0))
            terms[term] = TermStatistics(earlier.documents + documents, earlier.occurrences + occurrences)
    return Statistics(
        sum(p.documents for p in parts),
        sum(p.tokens for p in parts),
        parts[0].mean_idf if len(parts) == 1 else None,
        terms,
    )


class Scoring(Protocol):
    """A scoring function.

    A document's score is the sum of `term` over the query's tokens it contains, plus, with `of_documents`, the score that
    `document` returns for the document itself.
    """

    @property
    def name(self) -> str: ...

    @property
    def of_documents(self) -> bool: ...

    @property
    def monotone(self) -> bool:
        """Whether the score of a token never falls as its frequency grows, and never rises as the document's length does."""
        ...

    def term(self, term: str, frequencies: Values, lengths: Docs, statistics: Statistics) -> Scores:
        """Scores float32[n] of one token in n documents with these `frequencies` of the token and these `lengths`."""
        ...

    def shared(self, frequencies: Values, lengths: Docs, statistics: Statistics) -> Any:
        """What the scores of all tokens share for these `frequencies` and `lengths` of n documents.

        Of the statistics, it depends on the numbers of documents and tokens alone.
        """
        ...

    def table(self, terms: Sequence[str], shared: Any, statistics: Statistics) -> Scores:
        """Scores float32[terms, n] of several tokens, each as `term` returns them, bit for bit; `shared` is as above."""
        ...

    def document(self, tokens: int, lengths: Docs, statistics: Statistics) -> Scores:
        """Scores float32[n] of n documents that depend only on their lengths and on the query's number of known tokens."""
        ...
