"""Query likelihood with Dirichlet smoothing (Zhai and Lafferty, SIGIR 2001, table 1)."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from berdseye.data.grammar import show
from berdseye.data.records import Scores
from berdseye.retrieval.lexical.arrays import Docs, Values
from berdseye.retrieval.lexical.scoring import Statistics


@dataclass(frozen=True)
class QueryLikelihood:
    """log P(query | document) without the terms that are equal for all documents; tokens not in the collection do not count.

    mu = 1000 is the default of Anserini and Pyserini. There, a token that is rarer in the document than in the collection
    adds nothing; here it lowers the score, as in the paper.
    """

    mu: float = 1000.0

    @property
    def name(self) -> str:
        return f"qld(mu={show(self.mu)})"

    @property
    def of_documents(self) -> bool:
        return True

    @property
    def monotone(self) -> bool:
        return True

    def term(self, term: str, frequencies: Values, lengths: Docs, statistics: Statistics) -> Scores:
        expected = self.mu * statistics.terms[term].occurrences / max(statistics.tokens, 1)
        gained: Scores = np.log1p(self.shared(frequencies, lengths, statistics) / np.float32(expected))
        return gained

    def shared(self, frequencies: Values, lengths: Docs, statistics: Statistics) -> Scores:
        """The frequencies, float32[n]."""
        del lengths, statistics
        return frequencies.astype(np.float32)

    def table(self, terms: Sequence[str], shared: Scores, statistics: Statistics) -> Scores:
        """The scores float32[terms, n] of several tokens."""
        return np.stack([self.term(term, shared, np.empty(0, dtype=np.int32), statistics) for term in terms])

    def document(self, tokens: int, lengths: Docs, statistics: Statistics) -> Scores:
        del statistics
        smoothed: Scores = -np.log1p(lengths.astype(np.float32) / np.float32(self.mu))
        return np.float32(tokens) * smoothed
