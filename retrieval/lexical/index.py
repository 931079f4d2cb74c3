"""Searching an inverted index: the scores of a query's terms are summed per document, and the best documents are kept."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import numpy as np

from berdseye.data.errors import BadInputError
from berdseye.data.records import Ranking, Scores
from berdseye.retrieval.lexical.arrays import PIECE_BITS, Docs, Values
from berdseye.retrieval.lexical.kernels import accumulate, best, gather, ranked
from berdseye.retrieval.lexical.postings import Postings
from berdseye.retrieval.lexical.pruning import Candidates, QueryTerm, pruning_of
from berdseye.retrieval.lexical.scoring import Scoring, Statistics, TermStatistics
from berdseye.retrieval.lexical.tokenizers import Tokenizer

_CHUNK = 1 << 16  # postings scored at a time, so that intermediate results stay in the processor's cache
_KEPT_TERMS = 1 << 16
# Measured on 100,000 and on a million passages: with fewer, choosing postings takes longer than scoring them.
_LEAST_PRUNED = 500
# Fewer are scored in a fraction of a millisecond, while compiling the loops once takes seconds.
_LEAST_DOCUMENTS = 50_000
_DOCUMENTS_TO_K = 200


class _Known(NamedTuple):
    """A term of an index, by its number."""

    number: int
    statistics: TermStatistics


class LexicalIndex:
    """An inverted index on disk; documents without a word of the query are not retrieved."""

    def __init__(self, folder: Path, tokenizer: Tokenizer) -> None:
        self.postings, self.tokenizer = Postings(folder), tokenizer
        self._totals = _Pool(self.postings.documents)
        self._terms: dict[str, _Known | None] = {}
        self._pruning = pruning_of(self.postings)

    @property
    def count(self) -> int:
        return self.postings.documents

    def statistics(self, queries: Sequence[str]) -> Statistics:
        """The statistics of this index that a scoring function needs for these queries."""
        return self._statistics([self.tokenizer.terms(query) for query in queries])

    def _statistics(self, queries: Sequence[Sequence[str]]) -> Statistics:
        known = {term: self._known(term) for query in queries for term in query}
        terms = {term: found.statistics for term, found in known.items() if found is not None}
        return Statistics(self.postings.documents, self.postings.tokens, self.postings.mean_idf, terms)

    def search(
        self, queries: Sequence[str], k: int, scoring: Scoring, statistics: Statistics | None = None
    ) -> list[Ranking]:
        """A ranking of at most k documents for each query; the default of `statistics` is this index's own."""
        tokens = [self.tokenizer.terms(query) for query in queries]
        used = statistics or self._statistics(tokens)
        return [self._search_one(each, k, scoring, used) for each in tokens]

    def _search_one(self, tokens: list[str], k: int, scoring: Scoring, statistics: Statistics) -> Ranking:
        counts: dict[str, int] = {}
        for token in tokens:
            if token in statistics.terms:
                counts[token] = counts.get(token, 0) + 1
        found = [(QueryTerm(t, known.number, times), known) for t, times in counts.items() if (known := self._known(t))]
        terms, postings = [term for term, _ in found], sum(known.statistics.documents for _, known in found)
        many = postings >= max(_LEAST_PRUNED, self.count >> PIECE_BITS) and self.count >= _LEAST_DOCUMENTS
        if many and k * _DOCUMENTS_TO_K <= self.count and self._pruning is not None:
            candidates = self._pruning.candidates(terms, k, scoring, statistics)
            if candidates is not None:
                return self._best_of(candidates, terms, k, scoring, statistics)
        with self._totals.borrow() as totals:
            for term in terms:
                docs, values = self.postings.of(term.number)
                for start in range(0, len(docs), _CHUNK):
                    some, frequencies = docs[start : start + _CHUNK], values[start : start + _CHUNK]
                    self.postings.make_sure(some)
                    totals.add(some, self._scores(term, some, frequencies, scoring, statistics))
            touched = totals.touched[: totals.count]
            if scoring.of_documents:
                lengths = gather(self.postings.lengths, touched)
                totals.add(touched, scoring.document(sum(counts.values()), lengths, statistics))
            return totals.best(k)

    def _known(self, term: str) -> _Known | None:
        """The number and the statistics of a term, which are kept: finding and counting take as long as a short search."""
        if term in (kept := self._terms):
            return kept[term]
        number, known = self.postings.find(term), None
        if number is not None:
            docs, values = self.postings.of(number)
            known = _Known(number, TermStatistics(len(docs), int(values.sum(dtype=np.int64))))
        if len(kept) >= _KEPT_TERMS:
            self._terms = kept = {}
        kept[term] = known
        return known

    def _best_of(
        self, candidates: Candidates, terms: Sequence[QueryTerm], k: int, scoring: Scoring, statistics: Statistics
    ) -> Ranking:
        """The k best of a few documents, whose scores are summed in the order in which those of all would be."""
        if candidates.scores is not None:
            return Ranking(*ranked(candidates.docs, candidates.scores, k))
        totals = _Totals(len(candidates.docs))
        for term, frequencies in zip(terms, candidates.frequencies, strict=True):
            places = np.flatnonzero(frequencies).astype(np.int32)
            docs = candidates.docs[places]
            totals.add(places, self._scores(term, docs, frequencies[places], scoring, statistics))
        ranking = totals.best(k)
        return Ranking(candidates.docs[ranking.ids].astype(np.int64), ranking.scores)

    def _scores(
        self, term: QueryTerm, docs: Docs, frequencies: Values, scoring: Scoring, statistics: Statistics
    ) -> Scores:
        scores = scoring.term(term.term, frequencies, gather(self.postings.lengths, docs), statistics)
        return scores * np.float32(term.times) if term.times > 1 else scores


class WeightedIndex:
    """An inverted index of learned weights; a score is the inner product of the weights of query and document."""

    def __init__(self, folder: Path) -> None:
        self.postings = Postings(folder)
        self._totals = _Pool(self.postings.documents)

    @property
    def count(self) -> int:
        return self.postings.documents

    def search(self, queries: Sequence[dict[str, float]], k: int) -> list[Ranking]:
        """A ranking of at most k documents for each query, given as the weights of its terms."""
        with self._totals.borrow() as totals:
            return [self._search_one(query, k, totals) for query in queries]

    def _search_one(self, query: dict[str, float], k: int, totals: "_Totals") -> Ranking:
        for term, weight in query.items():
            number = self.postings.find(term)
            if number is not None:
                docs, values = self.postings.of(number)
                self.postings.make_sure(docs)
                totals.add(docs, values * np.float32(weight))
        return totals.best(k)


class _Totals:
    """The running scores of all documents; scores that were written are reset after each query."""

    def __init__(self, count: int) -> None:
        self.scores: Scores = np.full(count, -np.inf, dtype=np.float32)
        self.touched: Docs = np.empty(count, dtype=np.int32)
        self.count = 0

    def add(self, docs: Docs, scores: Scores) -> None:
        self.count = accumulate(docs, scores, self.scores, self.touched, self.count)

    def best(self, k: int) -> Ranking:
        """The k best documents by the tie rule; resets the totals for the next query."""
        ids, scores, numbers = best(self.touched[: self.count], self.scores, k)
        self.count = 0
        if not numbers:
            raise BadInputError("A score is NaN.", hint="The index or its encoder is damaged; build the index again.")
        return Ranking(ids, scores)


class _Pool:
    """Totals for reuse, since creating them takes longer than a query; one thread at a time uses each."""

    def __init__(self, count: int) -> None:
        self._count, self._free = count, list[_Totals]()

    @contextmanager
    def borrow(self) -> Iterator[_Totals]:
        """Lend totals for a batch of queries; after an error, they are discarded."""
        try:
            totals = self._free.pop()
        except IndexError:
            totals = _Totals(self._count)
        yield totals
        self._free.append(totals)
