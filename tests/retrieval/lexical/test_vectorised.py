"""NumPy's form of the loops over postings gives what the compiled loops give."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from berdseye.retrieval.lexical import compiled, vectorised

_TEXTS = st.lists(st.lists(st.integers(0, 6), max_size=12), max_size=8)
_SCORES = st.lists(st.sampled_from([0.0, 0.5, 1.0, 2.5, float("nan")]), max_size=30)


@settings(deadline=None)
@given(_TEXTS)
def test_the_same_postings_of_a_block(texts: list[list[int]]) -> None:
    tokens = np.array([token for text in texts for token in text], np.int32)
    ends = np.cumsum([len(text) for text in texts], dtype=np.int64)
    for ours, theirs in zip(vectorised.invert(tokens, ends, 7), compiled.invert(tokens, ends, 7), strict=True):
        assert ours.dtype == theirs.dtype
        assert ours.tolist() == theirs.tolist()


@settings(deadline=None)
@given(st.dictionaries(st.integers(0, 5), st.integers(0, 4)))
def test_the_same_places_of_a_segment(lengths: dict[int, int]) -> None:
    terms, sizes = np.array(sorted(lengths), np.int32), np.array([lengths[t] for t in sorted(lengths)], np.int32)
    docs = np.arange(sizes.sum(), dtype=np.int32)
    found = []
    for loops in (vectorised, compiled):
        cursors = np.arange(0, 60, 10, dtype=np.int64)
        all_docs, all_values = np.full(60, -1, np.int32), np.full(60, -1, np.float32)
        loops.scatter(terms, sizes, docs, docs.astype(np.float32), cursors, all_docs, all_values)
        found.append([cursors.tolist(), all_docs.tolist(), all_values.tolist()])
    assert found[0] == found[1]


@pytest.mark.parametrize("docs", [[], [0], [0, 2, 4], [0, 2, 2], [3, 1], [-1, 2], [2, 5]])
def test_the_same_verdict_on_the_documents_of_a_term(docs: list[int]) -> None:
    listed = np.array(docs, np.int32)
    assert vectorised.within(listed, 5) == compiled.within(listed, 5)


@settings(deadline=None)
@given(st.sets(st.binary(max_size=4)), st.binary(max_size=4))
def test_the_same_number_of_a_term(terms: set[bytes], wanted: bytes) -> None:
    ordered = sorted(terms)
    vocabulary = np.frombuffer(b"".join(ordered), np.uint8)
    ends = np.cumsum([len(term) for term in ordered], dtype=np.int64)
    for sought in (*ordered, wanted):
        given_ = (vocabulary, ends, np.frombuffer(sought, np.uint8))
        expected = ordered.index(sought) if sought in terms else -1
        assert vectorised.find(*given_) == compiled.find(*given_) == expected


@pytest.mark.parametrize("ends", [[1, -1, 3], [3, 2, 3], [1, 9, 3]])
def test_the_same_verdict_on_a_vocabulary_out_of_bounds(ends: list[int]) -> None:
    given_ = (np.frombuffer(b"abc", np.uint8), np.array(ends, np.int64), np.frombuffer(b"b", np.uint8))
    assert vectorised.find(*given_) == compiled.find(*given_) == -3


@settings(deadline=None)
@given(st.lists(st.sets(st.integers(0, 9)), max_size=4))
def test_the_same_totals_of_several_terms(terms: list[set[int]]) -> None:
    found = []
    for loops in (vectorised, compiled):
        totals, touched, count = np.full(10, -np.inf, np.float32), np.zeros(10, np.int32), 0
        for term in terms:
            docs = np.array(sorted(term), np.int32)
            scores = loops.gather(np.arange(10, dtype=np.float32) / 3, docs)
            count = loops.accumulate(docs, scores, totals, touched, count)
        found.append([totals.tolist(), touched[:count].tolist()])
    assert found[0] == found[1]


@settings(deadline=None)
@given(_SCORES, st.integers(1, 12))
def test_the_same_best_documents(scores: list[float], k: int) -> None:
    touched = np.random.default_rng(len(scores)).permutation(len(scores)).astype(np.int32)
    found = []
    for loops in (vectorised, compiled):
        totals = np.array(scores, np.float32)
        ids, kept, numbers = loops.best(touched, totals, k)
        assert (totals == -np.inf).all()
        assert (ids.dtype, kept.dtype) == (np.int64, np.float32)
        found.append((list(zip(kept.tolist(), ids.tolist(), strict=True)) if numbers else len(ids), bool(numbers)))
        if numbers:
            given_ = np.array(scores, np.float32)[touched]
            assert [each.tolist() for each in loops.ranked(touched, given_, k)] == [ids.tolist(), kept.tolist()]
    assert found[0] == found[1]
