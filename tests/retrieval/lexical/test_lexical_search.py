"""Searching an inverted index."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from berdseye.data.errors import BadInputError
from berdseye.data.records import Ranking
from berdseye.retrieval.lexical.bm25 import BM25, VARIANTS
from berdseye.retrieval.lexical.index import LexicalIndex
from berdseye.retrieval.lexical.kernels import best
from berdseye.retrieval.lexical.query_likelihood import QueryLikelihood
from berdseye.retrieval.lexical.scoring import Scoring, combined
from tests.retrieval.lexical.made_indexes import as_dict, index_of

CITY = [
    "Cars poison the air of the city and should be banned from its centre.",
    "Shops in the centre lose their customers when cars are banned.",
    "Trams carry more people than cars on the same street.",
    "The zoo keeps elephants, tigers and a very old tortoise.",
    "Elephants in the wild walk thirty kilometres a day.",
]
EVERY = [*(BM25(variant=v) for v in sorted(VARIANTS)), QueryLikelihood()]


@settings(deadline=None)
@given(
    st.dictionaries(st.integers(0, 200), st.sampled_from([-1.5, 0.0, 0.25, 0.5, 3.0]), min_size=1, max_size=80),
    st.integers(1, 90),
    st.randoms(use_true_random=False),
)
def test_the_heap_keeps_what_a_sort_puts_first(scored: dict[int, float], k: int, random: np.random.Generator) -> None:
    touched = list(scored)
    random.shuffle(touched)
    totals = np.full(201, np.nan, np.float32)
    totals[touched] = [scored[n] for n in touched]
    ids, scores, numbers = best(np.array(touched, np.int32), totals, k)
    assert numbers
    assert (totals[touched] == -np.inf).all()  # wiped for the next query
    expected = sorted(scored.items(), key=lambda item: (item[1], item[0]), reverse=True)[:k]
    found = sorted(zip(ids.tolist(), scores.tolist(), strict=True), key=lambda item: (item[1], item[0]), reverse=True)
    assert found == expected


@pytest.mark.parametrize("scoring", EVERY, ids=lambda s: s.name)
def test_equals_come_with_the_later_first_whatever_the_order(tmp_path: Path, scoring: Scoring) -> None:
    texts = [CITY[n % 3] for n in range(30)]
    for ordered in (texts, texts[::-1]):
        index = index_of(tmp_path, ordered, "english")
        (whole,) = index.search(["cars banned city"], 30, scoring)
        pairs = list(zip(whole.scores.tolist(), whole.ids.tolist(), strict=True))
        assert pairs == sorted(pairs, reverse=True)
        assert len(set(whole.scores.tolist())) == (2 if "robertson" in scoring.name else 3)
        for k in (1, 4, 10, 29):
            (some,) = index.search(["cars banned city"], k, scoring)
            assert some.ids.tolist() == whole.ids[:k].tolist()


def test_a_score_that_is_zero_still_is_one(tmp_path: Path) -> None:
    """A word that every document holds has no idf in atire's formula, but the documents were found."""
    (found,) = index_of(tmp_path, ["a b", "a c"]).search(["a"], 5, BM25(variant="atire"))
    assert as_dict(found) == {1: 0.0, 0: 0.0}


@pytest.mark.parametrize("texts", [[], [""], ["", "the", "..."]])
def test_where_there_are_no_words_nothing_is_found(tmp_path: Path, texts: list[str]) -> None:
    index = index_of(tmp_path, texts, "english")
    for scoring in EVERY:
        assert [r.ids.tolist() for r in index.search(["cars", "the", ""], 3, scoring)] == [[], [], []]


def test_words_with_line_breaks_and_lone_surrogates_are_found_again(tmp_path: Path) -> None:
    texts = ["a\nb c", "a b", "\ud800 x", "", "😀 \x00"]
    index = index_of(tmp_path, texts)
    queries = ["a\nb", "a", "\ud800", "\udfff?", "", "\x00 😀"]
    assert [r.ids.tolist() for r in index.search(queries, 5, BM25())] == [[0], [1], [2], [], [3], [4]]


def test_no_queries(tmp_path: Path) -> None:
    assert index_of(tmp_path, CITY).search([], 3, BM25()) == []


def test_queries_asked_together_and_alone_rank_alike(tmp_path: Path) -> None:
    """The running totals are wiped between queries."""
    index = index_of(tmp_path, CITY, "english")
    queries = ["cars", "elephants zoo", "xylophone", "cars banned", "cars"]
    together = index.search(queries, 3, BM25())
    for query, ranking in zip(queries, together, strict=True):
        assert as_dict(ranking) == as_dict(index.search([query], 3, BM25())[0])


def test_long_postings_are_scored_in_pieces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    index = index_of(tmp_path, [f"a {'b ' * (n % 5)}{'c' if n % 3 else ''}" for n in range(300)])
    whole = index.search(["a b c", "c c"], 300, BM25())
    monkeypatch.setattr("berdseye.retrieval.lexical.index._CHUNK", 7)
    for one, other in zip(whole, index.search(["a b c", "c c"], 300, BM25()), strict=True):
        assert np.array_equal(one.ids, other.ids)
        assert np.array_equal(one.scores, other.scores)


def test_threads_do_not_disturb_each_other(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    texts = [" ".join(f"word{w}" for w in rng.zipf(1.4, 30) % 500) for _ in range(3000)]
    index = index_of(tmp_path, texts, "english")
    queries = [f"word{n} word{3 * n % 200} word1" for n in range(120)]
    alone = [as_dict(r) for r in index.search(queries, 20, BM25())]
    with ThreadPoolExecutor(8) as pool:
        together = list(pool.map(lambda q: as_dict(index.search([q], 20, BM25())[0]), queries * 3))
    assert together == alone * 3


def merged(parts: Sequence[tuple[int, Ranking]]) -> dict[int, float]:
    return {start + doc: score for start, ranking in parts for doc, score in as_dict(ranking).items()}


@settings(max_examples=25, deadline=None)
@given(
    st.lists(st.lists(st.sampled_from("abcdef"), max_size=8).map(" ".join), min_size=1, max_size=12),
    st.lists(st.sampled_from("abcdefg"), min_size=1, max_size=5).map(" ".join),
    st.integers(1, 5),
    st.sampled_from([s for s in EVERY if "okapi" not in s.name]),
)
def test_parts_with_combined_statistics_score_as_the_whole(
    tmp_path_factory: pytest.TempPathFactory, texts: list[str], query: str, size: int, scoring: Scoring
) -> None:
    folder = tmp_path_factory.mktemp("index")
    starts = range(0, len(texts), size)
    shards = [index_of(folder, texts[start : start + size]) for start in starts]
    statistics = combined([shard.statistics([query]) for shard in shards])
    whole = index_of(folder, texts)
    found = merged([(at, s.search([query], 20, scoring, statistics)[0]) for at, s in zip(starts, shards, strict=True)])
    assert found == as_dict(whole.search([query], 20, scoring)[0])


def test_only_an_index_in_one_piece_can_score_by_okapi(tmp_path: Path) -> None:
    shards: list[LexicalIndex] = [index_of(tmp_path, CITY[:2], "english"), index_of(tmp_path, CITY[2:], "english")]
    parts = [shard.statistics(["cars"]) for shard in shards]
    with pytest.raises(BadInputError, match="index in shards"):
        shards[0].search(["cars"], 3, BM25(variant="okapi"), combined(parts))
    alone = shards[0].search(["cars"], 3, BM25(variant="okapi"), combined(parts[:1]))[0]
    assert as_dict(alone) == as_dict(shards[0].search(["cars"], 3, BM25(variant="okapi"))[0])
