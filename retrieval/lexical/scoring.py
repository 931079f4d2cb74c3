"""What a scoring function is: it turns the postings of one query term into scores."""

from typing import Protocol

from berdseye.data.records import Scores
from berdseye.retrieval.lexical.arrays import Docs, Values
from berdseye.retrieval.lexical.statistics import Statistics


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
