"""Leaving out postings that cannot matter gives the documents, scores and order that scoring all of them gives."""

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from berdseye.data.errors import DamagedError
from berdseye.data.records import Ranking
from berdseye.retrieval.lexical import index as searching
from berdseye.retrieval.lexical import pruning
from berdseye.retrieval.lexical.arrays import CLASSES, PIECE
from berdseye.retrieval.lexical.bm25 import BM25, VARIANTS
from berdseye.retrieval.lexical.index import LexicalIndex
from berdseye.retrieval.lexical.kernels import pieces as loops
from berdseye.retrieval.lexical.pruning import Candidates, Pruning, QueryTerm
from berdseye.retrieval.lexical.query_likelihood import QueryLikelihood
from berdseye.retrieval.lexical.scoring import Scoring, combined
from tests.retrieval.lexical.made_indexes import index_of

SCORINGS: list[Scoring] = [
    *(BM25(variant=variant) for variant in sorted(VARIANTS)),
    *(BM25(k1, b) for k1, b in ((0.0, 0.5), (2.0, 0.0), (1.5, 1.0), (1000.0, 1.0))),
    QueryLikelihood(),
]
ACROSS = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
WORDS = [f"w{n}" for n in range(40)]


@pytest.fixture(autouse=True)
def always(monkeypatch: pytest.MonkeyPatch) -> None:
    """Small indexes are pruned too."""
    monkeypatch.setattr(searching, "_LEAST_PRUNED", 0)
    monkeypatch.setattr(searching, "_LEAST_DOCUMENTS", 0)
    monkeypatch.setattr(searching, "_DOCUMENTS_TO_K", 0)


def tied(rng: np.random.Generator) -> Iterator[str]:
    """Five texts again and again, so that thousands of documents have one score."""
    texts = ["w0 w1 w2", "w0 w1", "w0 w3 w3 w4", "w2 w4", "w0"]
    yield from (texts[n] for n in rng.integers(0, 5, 3 * PIECE + 17))


def clustered(rng: np.random.Generator) -> Iterator[str]:
    """Frequent words anywhere, and rare ones in runs of documents, as a document's passages share a topic."""
    for n in range(5 * PIECE):
        frequent = rng.zipf(1.6, 8) % 20
        topical = 20 + (n // 500 + rng.integers(0, 2, 3)) % 20
        yield " ".join(f"w{w}" for w in (*frequent, *topical))


def uneven(rng: np.random.Generator) -> Iterator[str]:
    """More lengths than classes, and frequencies that have no score of their own in a table."""
    for n in range(2 * PIECE):
        yield " ".join(f"w{w}" for w in rng.zipf(1.5, int(rng.integers(1, 900)) if n % 8 == 0 else 12) % 40)


@pytest.fixture(scope="module", params=[tied, clustered, uneven], ids=lambda made: made.__name__)
def large(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> LexicalIndex:
    texts = list(request.param(np.random.default_rng(5)))
    return index_of(tmp_path_factory.mktemp("index"), texts, batch=len(texts))


def exhaustive(index: LexicalIndex) -> LexicalIndex:
    """The same index, which scores all postings."""
    plain = LexicalIndex(index.postings.folder, index.tokenizer)
    plain._pruning = None
    return plain


def equal(one: Sequence[Ranking], other: Sequence[Ranking]) -> bool:
    return all(
        np.array_equal(a.ids, b.ids) and a.scores.tobytes() == b.scores.tobytes()
        for a, b in zip(one, other, strict=True)
    )


@settings(ACROSS, max_examples=40)
@given(
    st.lists(st.lists(st.sampled_from("abcdef"), max_size=8).map(" ".join), min_size=1, max_size=12),
    st.lists(st.sampled_from("abcdefg"), max_size=6).map(" ".join),
    st.integers(1, 15),
    st.sampled_from(SCORINGS),
)
def test_small_indexes_rank_alike(
    tmp_path_factory: pytest.TempPathFactory, texts: list[str], query: str, k: int, scoring: Scoring
) -> None:
    index = index_of(tmp_path_factory.mktemp("index"), texts)
    assert equal(index.search([query], k, scoring), exhaustive(index).search([query], k, scoring))


@ACROSS
@given(
    st.lists(st.sampled_from([*WORDS, "unknown"]), min_size=1, max_size=14).map(" ".join),
    st.sampled_from([1, 2, 10, 100, 1000, 10 * PIECE]),
    st.sampled_from(SCORINGS),
)
def test_indexes_of_many_pieces_rank_alike(large: LexicalIndex, query: str, k: int, scoring: Scoring) -> None:
    """Repeated words, unknown words, ties of thousands, and a k beyond all documents among them."""
    assert equal(large.search([query], k, scoring), exhaustive(large).search([query], k, scoring))


@ACROSS
@given(st.lists(st.sampled_from(WORDS), min_size=1, max_size=8).map(" ".join), st.sampled_from([1, 10, 100]))
def test_parts_with_the_statistics_of_the_whole_rank_alike(large: LexicalIndex, query: str, k: int) -> None:
    statistics = combined([large.statistics([query]), large.statistics([query, "w1"])])
    found = large.search([query], k, BM25(), statistics)
    assert equal(found, exhaustive(large).search([query], k, BM25(), statistics))


def asked(index: LexicalIndex, query: str, k: int, scoring: Scoring) -> Candidates | None:
    """The candidates for distinct words."""
    terms = [QueryTerm(word, number, 1) for word in query.split() if (number := index.postings.find(word)) is not None]
    return Pruning(index.postings).candidates(terms, k, scoring, index.statistics([query]))


def test_few_documents_are_left_of_many_that_hold_a_word(tmp_path: Path) -> None:
    index = index_of(tmp_path, list(clustered(np.random.default_rng(5))))
    candidates = asked(index, "w0 w1 w2 w25", 10, BM25())
    assert candidates is not None
    assert len(index.postings.of(index.postings.find("w1") or 0)[0]) > 2 * PIECE
    assert 10 <= len(candidates.docs) < 100
    assert (np.diff(candidates.docs) > 0).all()


@pytest.mark.parametrize("scoring", [QueryLikelihood(), BM25(b=1.5), BM25(b=-0.1), BM25(k1=-0.5)], ids=lambda s: s.name)
def test_scores_that_nothing_bounds_are_not_pruned(tmp_path: Path, scoring: Scoring) -> None:
    assert asked(index_of(tmp_path, ["w0 w1", "w0"]), "w0 w1", 1, scoring) is None


def test_negative_scores_are_not_pruned(tmp_path: Path) -> None:
    """With two words that all documents hold, the mean idf is negative, and so is okapi's least idf."""
    index = index_of(tmp_path, ["w0 w1"] * 5)
    assert index.postings.mean_idf < 0
    assert asked(index, "w0", 1, BM25(variant="okapi")) is None
    assert asked(index, "w0", 1, BM25()) is not None


@pytest.mark.parametrize("variant", sorted(VARIANTS))
def test_bounds_are_the_greatest_scores_of_their_pieces(tmp_path: Path, variant: str) -> None:
    """Where each length is a class and no frequency is above 3, nothing is lost."""
    rng, scoring = np.random.default_rng(2), BM25(variant=variant)
    texts = [" ".join(["w0"] * rng.integers(0, 4) + [f"x{n}"] * rng.integers(1, 30)) for n in range(2 * PIECE + 9)]
    index = index_of(tmp_path, texts)
    docs, values = index.postings.of(0)
    statistics = index.statistics(["w0"])
    scores = scoring.term("w0", values, index.postings.lengths[docs], statistics)
    kept = Pruning(index.postings)
    pieces, lengths = kept._pieces(0), kept._classes()
    shared, _ = kept._shared_by_all(scoring, pieces.most, statistics)
    tables = pruning._tables([QueryTerm("w0", 0, 1)], shared, len(lengths.shortest), scoring, statistics)
    bounds = loops.bound(pieces.parts[np.newaxis], tables)
    assert bounds[0].tolist() == [scores[docs // PIECE == n].max() for n in range(3)]


@settings(deadline=None)
@given(
    st.one_of(
        st.lists(st.integers(0, 300), min_size=1, max_size=30),
        st.lists(st.integers(0, 200_000), min_size=300, max_size=600),
        st.just([*range(300), 70_000, 90_000]),
    )
)
def test_classes_hold_the_lengths_between_their_least_and_greatest(lengths: list[int]) -> None:
    of = np.array(lengths, np.int32)
    found = pruning._classified(of)
    assert len(found.shortest) == len(found.longest) <= CLASSES
    assert (found.shortest[found.classes] <= of).all()
    assert (of <= found.longest[found.classes]).all()
    assert found.exact == bool((found.shortest == found.longest).all())
    if len(set(lengths)) <= CLASSES and max(lengths) < 1 << 16:
        assert found.exact


def test_threads_do_not_disturb_each_other_in_pieces(large: LexicalIndex) -> None:
    queries = [f"w{n} w{(3 * n) % 40} w1" for n in range(40)]
    alone = exhaustive(large).search(queries, 20, BM25())
    fresh = LexicalIndex(large.postings.folder, large.tokenizer)
    with ThreadPoolExecutor(8) as pool:
        together = list(pool.map(lambda query: fresh.search([query], 20, BM25())[0], queries * 3))
    assert equal(together, alone * 3)


def test_the_pieces_that_are_kept_are_few(large: LexicalIndex, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = Pruning(large.postings)
    each = kept._pieces(0).parts.nbytes
    monkeypatch.setattr(pruning, "_KEPT_BYTES", 2 * each)
    numbers = [large.postings.find(word) for word in ("w0", "w1", "w2", "w0", "w4")]
    for number in numbers:
        assert number is not None
        kept._all_pieces([number])
    assert list(kept._kept) == numbers[-2:]
    assert kept._bytes == 2 * each


def test_an_index_without_numba_scores_all_postings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pruned = index_of(tmp_path, ["w0 w1", "w0", "w1"]).search(["w0 w1"], 2, BM25())
    monkeypatch.setattr(pruning, "loops", None)
    plain = index_of(tmp_path, ["w0 w1", "w0", "w1"])
    assert plain._pruning is None
    assert equal(plain.search(["w0 w1"], 2, BM25()), pruned)


@pytest.mark.parametrize("after_a_search", [False, True])
@pytest.mark.parametrize("damage", ["negative", "beyond", "reversed"])
def test_documents_that_decay_are_reported_and_not_followed(tmp_path: Path, after_a_search: bool, damage: str) -> None:
    index = index_of(tmp_path, ["w0 w1", "w0", "w1"] * PIECE)
    if after_a_search:
        index.search(["w0 w1"], 2, BM25())
    path = index.postings.folder / "postings.docs"
    docs = np.memmap(path, np.int32, mode="r+")
    docs[:] = {"negative": docs - (1 << 30), "beyond": docs + (1 << 30), "reversed": docs[::-1].copy()}[damage]
    docs.flush()
    with pytest.raises(DamagedError, match=r"postings\.docs"):
        index.search(["w0 w1"], 2, BM25())
