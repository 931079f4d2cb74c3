"""Rankings against other programs that compute the same."""

from collections import Counter
from math import log

import numpy as np
import pytest
from rank_bm25 import BM25Okapi

from data.demo.content import topics
from data.static_embedding import static_embedding
from retrieval.bm25 import BM25, tokenize
from retrieval.dense import Dense

TEXTS = [passage["text"] for topic in topics() for passage in topic["passages"]]
QUERIES = [topic["question"] for topic in topics()]
TOKENS = tokenize(TEXTS)
FREQUENCIES = Counter(word for tokens in TOKENS for word in set(tokens))
IDF = {word: log(1 + (len(TEXTS) - n + 0.5) / (n + 0.5)) for word, n in FREQUENCIES.items()}
"""Lucene's inverse document frequency, which is never negative (BM25Similarity.idf)."""


@pytest.mark.parametrize(("k1", "b"), [(0.9, 0.4), (1.2, 0.75), (2.0, 0.0)])
def test_bm25_is_the_formula(k1: float, b: float) -> None:
    """Robertson and Zaragoza, 2009, equation 3.15, without the constant factor k1 + 1, as in Lucene since version 8."""
    counts = [Counter(tokens) for tokens in TOKENS]
    mean = sum(map(len, TOKENS)) / len(TOKENS)
    for query, found in zip(QUERIES, BM25(k1, b).build([TEXTS]).search(QUERIES, len(TEXTS)), strict=True):
        expected = np.zeros(len(TEXTS))
        for word in tokenize([query])[0]:
            for n, (count, tokens) in enumerate(zip(counts, TOKENS, strict=True)):
                if word in count:
                    saturation = count[word] + k1 * (1 - b + b * len(tokens) / mean)
                    expected[n] += IDF[word] * count[word] / saturation
        assert set(found.ids.tolist()) == set(np.flatnonzero(expected).tolist())
        assert np.allclose(found.scores, expected[found.ids], rtol=1e-5)


def test_bm25_ranks_as_rank_bm25_does() -> None:
    """rank_bm25's Okapi weights with Lucene's idf in place of its own; it keeps the factor k1 + 1."""
    peer = BM25Okapi(TOKENS, k1=0.9, b=0.4)
    peer.idf = IDF
    for query, found in zip(QUERIES, BM25().build([TEXTS]).search(QUERIES, 20), strict=True):
        expected = peer.get_scores(tokenize([query])[0]) / 1.9
        assert np.allclose(found.scores, np.sort(expected)[::-1][: len(found.ids)], rtol=1e-5)
        assert np.allclose(found.scores, expected[found.ids], rtol=1e-5)


def test_static_vectors_are_means_of_token_vectors() -> None:
    encoder = static_embedding()
    for text, vector in zip(TEXTS[:20], encoder.encode(TEXTS[:20]), strict=True):
        ids = encoder.tokenizer.encode(text, add_special_tokens=False).ids
        mean = encoder.table[ids].astype(np.float64).mean(axis=0)
        assert np.allclose(vector, mean / np.linalg.norm(mean), atol=1e-6)


def test_dense_is_a_matrix_product() -> None:
    encoder = static_embedding()
    products = encoder.encode(QUERIES).astype(np.float64) @ encoder.encode(TEXTS).astype(np.float64).T
    for found, expected in zip(Dense().build([TEXTS]).search(QUERIES, 20), products, strict=True):
        assert np.allclose(found.scores, np.sort(expected)[::-1][:20], atol=1e-6)
        assert np.allclose(expected[found.ids], found.scores, atol=1e-6)
