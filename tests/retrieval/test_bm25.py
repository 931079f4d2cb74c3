"""BM25 indexes."""

from pathlib import Path

import numpy as np
from corpus_files import CITY

from retrieval.bm25 import BM25, tokenize


def test_words_are_stemmed_and_stop_words_left_out() -> None:
    assert tokenize(["The Cars are a banned BANNING x!", ""]) == [["car", "ban", "ban"], []]


def test_the_order_of_passages_does_not_matter() -> None:
    forward = BM25().build([CITY[:4], CITY[4:]]).search(["elephants and cars in the city"], 6)[0]
    backward = BM25().build([CITY[::-1]]).search(["elephants and cars in the city"], 6)[0]
    ranked = [CITY[i] for i in forward.ids]
    assert len(ranked) == 5
    assert [CITY[::-1][i] for i in backward.ids] == ranked
    assert np.allclose(forward.scores, backward.scores)


def test_equal_passages_come_with_the_later_first() -> None:
    found = BM25().build([["same words"] * 5]).search(["words"], 3)[0]
    assert found.ids.tolist() == [4, 3, 2]


def test_unknown_words_find_nothing() -> None:
    index = BM25().build([CITY])
    unknown, stop, known = index.search(["xylophone qwerty", "the of and", "xylophone tortoise"], 3)
    assert unknown.ids.tolist() == stop.ids.tolist() == []
    assert known.ids.tolist() == [3]


def test_an_empty_corpus_finds_nothing(tmp_path: Path) -> None:
    for batches in ([], [[]], [["", "the"]]):
        index = BM25().build(batches)
        index.save(tmp_path)
        for held in (index, BM25().load(tmp_path)):
            assert held.search(["anything at all"], 5)[0].ids.tolist() == []


def test_an_index_comes_back_as_it_was(tmp_path: Path) -> None:
    index = BM25(k1=1.2, b=0.75).build([CITY])
    index.save(tmp_path)
    queries = ["cars", "elephants in the zoo", "homework"]
    for one, other in zip(
        index.search(queries, 4), BM25(k1=1.2, b=0.75).load(tmp_path).search(queries, 4), strict=True
    ):
        assert np.array_equal(one.ids, other.ids)
        assert np.array_equal(one.scores, other.scores)


def test_parameters_change_scores_and_names() -> None:
    assert [BM25().name, BM25(b=0.4, k1=1.2).name, BM25(0.12345678, 0.0).name] == [
        "bm25",
        "bm25(k1=1.2)",
        "bm25(k1=0.12345678,b=0)",
    ]
    default, other = (engine.build([CITY]).search(["cars banned"], 3)[0] for engine in (BM25(), BM25(k1=2.0)))
    assert not np.allclose(default.scores, other.scores)
