"""Scoring functions against their formulas, written out, and against the libraries that have them too."""

from collections.abc import Callable, Sequence
from math import log
from pathlib import Path
from typing import Any

import bm25s
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rank_bm25 import BM25L, BM25Okapi, BM25Plus

from berdseye.data.errors import BadInputError
from berdseye.retrieval.lexical.bm25 import BM25, VARIANTS
from berdseye.retrieval.lexical.query_likelihood import QueryLikelihood
from tests.retrieval.lexical.made_indexes import as_dict, index_of
from tests.retrieval.lexical.naive_scores import bm25, log_likelihood

TEXTS = [
    "cars in the city the cars",
    "trams in the city",
    "the the the the the",
    "zoo",
    "cars trams buses bikes and the city of the cars that the trams pass",
    "the zoo of the city",
    "",
    "bikes bikes bikes",
]
DOCUMENTS = [t.split(" ") for t in TEXTS]
# Repeated words, words that most documents hold, words that none holds, the empty word.
QUERIES = ["cars", "the city", "cars cars bikes", "the the the zoo", "unicorn cars", "trams  bikes", ""]
PARAMETERS = [(0.9, 0.4), (1.2, 0.75), (2.0, 0.0), (1.5, 1.0), (0.0, 0.5), (0.0, 0.0), (1000.0, 1.0)]


@pytest.mark.parametrize("variant", sorted(VARIANTS))
@pytest.mark.parametrize(("k1", "b"), PARAMETERS)
def test_bm25_is_its_formula(tmp_path: Path, variant: str, k1: float, b: float) -> None:
    found = index_of(tmp_path, TEXTS).search(QUERIES, len(TEXTS), BM25(k1, b, variant))
    for query, ranking in zip(QUERIES, found, strict=True):
        assert as_dict(ranking) == pytest.approx(bm25(DOCUMENTS, query.split(" "), variant, k1, b), rel=1e-5, abs=1e-6)


WORDS = st.lists(st.sampled_from("abcdef"), max_size=12).map(" ".join)


@settings(max_examples=30, deadline=None)
@given(
    st.lists(WORDS, min_size=1, max_size=12),
    WORDS,
    st.sampled_from(sorted(VARIANTS)),
    st.floats(0, 5),
    st.floats(0, 1),
)
def test_bm25_is_its_formula_for_any_texts(
    tmp_path_factory: pytest.TempPathFactory, texts: list[str], query: str, variant: str, k1: float, b: float
) -> None:
    (found,) = index_of(tmp_path_factory.mktemp("index"), texts).search([query], 20, BM25(k1, b, variant))
    expected = bm25([t.split(" ") for t in texts], query.split(" "), variant, k1, b)
    assert as_dict(found) == pytest.approx(expected, rel=1e-4, abs=1e-5)


@pytest.mark.parametrize("method", ["lucene", "robertson", "atire"])
@pytest.mark.parametrize(("k1", "b"), [(0.9, 0.4), (1.2, 0.75), (2.0, 0.0)])
def test_bm25_scores_as_bm25s_does(tmp_path: Path, method: str, k1: float, b: float) -> None:
    peer = bm25s.BM25(k1=k1, b=b, method=method)
    peer.index(DOCUMENTS, show_progress=False)
    index = index_of(tmp_path, TEXTS)
    for query in QUERIES:
        expected = peer.get_scores([w for w in query.split(" ") if w in peer.vocab_dict])
        (found,) = index.search([query], len(TEXTS), BM25(k1, b, method))
        assert np.allclose(expected[found.ids], found.scores, rtol=1e-5)
        assert np.allclose(np.delete(expected, found.ids), 0)


def test_the_notebook_s_bm25_is_rank_bm25_s(tmp_path: Path) -> None:
    peer, index = BM25Okapi(DOCUMENTS), index_of(tmp_path, TEXTS)
    assert (log((8 - 5 + 0.5) / (5 + 0.5)) < 0) == (peer.idf["the"] != log((8 - 5 + 0.5) / (5 + 0.5)))
    for query in QUERIES:
        expected = peer.get_scores(query.split(" "))
        (found,) = index.search([query], len(TEXTS), BM25(1.5, 0.75, "okapi"))
        assert np.allclose(expected[found.ids], found.scores, rtol=1e-5)
        assert np.allclose(np.delete(expected, found.ids), 0)


@pytest.mark.parametrize(("variant", "peer"), [("l", BM25L), ("plus", BM25Plus)])
def test_l_and_plus_score_single_words_as_rank_bm25_does(
    tmp_path: Path, variant: str, peer: Callable[[Sequence[Sequence[str]]], BM25L]
) -> None:
    """Its BM25Plus counts delta for words that a document lacks as well, and its BM25L multiplies by the frequency once
    more; neither stands in the papers. So they are asked for one word at a time, and BM25L's surplus is divided out."""
    known, index = peer(DOCUMENTS), index_of(tmp_path, TEXTS)
    for word in ("cars", "the", "zoo", "bikes", ""):
        (found,) = index.search([word], len(TEXTS), BM25(1.5, 0.75, variant))
        assert len(found.ids) == sum(word in d for d in DOCUMENTS)
        surplus = [DOCUMENTS[n].count(word) if variant == "l" else 1 for n in found.ids]
        assert np.allclose(known.get_scores([word])[found.ids] / surplus, found.scores, rtol=1e-5)


@pytest.mark.parametrize("mu", [1e-6, 0.5, 10.0, 1000.0, 1e9])
def test_query_likelihood_is_the_log_of_a_probability(tmp_path: Path, mu: float) -> None:
    """Scores leave out what is the same for every document: the sum of log P(word | collection)."""
    collection = [word for d in DOCUMENTS for word in d]
    index = index_of(tmp_path, TEXTS)
    for query in QUERIES:
        words = [w for w in query.split(" ") if w in collection]
        same = sum(log(collection.count(w) / len(collection)) for w in words)
        (found,) = index.search([query], len(TEXTS), QueryLikelihood(mu))
        expected = {n: s - same for n, s in log_likelihood(DOCUMENTS, query.split(" "), mu).items()}
        # float32 holds about seven digits of the largest part of the sum.
        assert as_dict(found) == pytest.approx(expected, rel=1e-5, abs=1e-5 if mu < 1e6 else 1e-9)


def test_the_least_smoothing_still_distinguishes_documents(tmp_path: Path) -> None:
    """With mu = 1e9 documents differ by 1e-8 and less, which a difference of logs near 0 would lose."""
    (found,) = index_of(tmp_path, ["a b", "a b c d e f", "a"]).search(["a"], 3, QueryLikelihood(1e9))
    assert found.ids.tolist() == [2, 0, 1]


@pytest.mark.parametrize("scoring", [*(BM25(variant=v) for v in VARIANTS), QueryLikelihood()], ids=lambda s: s.name)
def test_a_corpus_of_one_document(tmp_path: Path, scoring: BM25 | QueryLikelihood) -> None:
    index = index_of(tmp_path, ["cars cars trams"])
    known, unknown = index.search(["cars", "zoo"], 5, scoring)
    assert known.ids.tolist() == [0]
    assert np.isfinite(known.scores).all()
    assert unknown.ids.tolist() == []


def test_a_variant_is_a_name_of_its_own(tmp_path: Path) -> None:
    index = index_of(tmp_path, TEXTS)
    scores = {v: tuple(index.search(["cars city"], 3, BM25(variant=v))[0].scores.tolist()) for v in VARIANTS}
    assert len(set(scores.values())) == len(VARIANTS)
    assert len({BM25(variant=v).name for v in VARIANTS}) == len(VARIANTS)


def test_okapi_needs_a_whole_vocabulary(tmp_path: Path) -> None:
    index = index_of(tmp_path, TEXTS)
    part = index.statistics(["cars"])._replace(mean_idf=None)
    with pytest.raises(BadInputError, match="okapi variant requires the idf of the whole vocabulary"):
        index.search(["cars"], 3, BM25(variant="okapi"), part)


@pytest.mark.parametrize(
    "scoring", [*(BM25(variant=v) for v in sorted(VARIANTS)), QueryLikelihood()], ids=lambda s: s.name
)
def test_terms_scored_together_score_as_alone(tmp_path: Path, scoring: BM25 | QueryLikelihood) -> None:
    words = ["cars", "city", "the", "zoo"]
    statistics = index_of(tmp_path, TEXTS).statistics(words)
    frequencies, lengths = np.arange(1, 40, dtype=np.uint16), np.arange(40, 1, -1, dtype=np.int32)
    shared: Any = scoring.shared(frequencies, lengths, statistics)
    together = scoring.table(words, shared, statistics)
    alone = [scoring.term(word, frequencies, lengths, statistics) for word in words]
    assert (together.dtype, together.shape) == (np.float32, (4, 39))
    assert [row.tobytes() for row in together] == [scores.tobytes() for scores in alone]
