"""Dense indexes."""

from pathlib import Path

import numpy as np
from corpus_files import CITY

from data.static_embedding import static_embedding
from retrieval.dense import Dense
from retrieval.ranking import top_k

WORDS = ("car", "tram", "zoo", "tree", "school", "river", "music")
TEXTS = [f"{one} {other}" for one in WORDS for other in WORDS]
QUERIES = ["a tram by the river", "music at school", "zoo"]


def test_faiss_is_exact_search() -> None:
    encoder = static_embedding()
    products = encoder.encode(QUERIES) @ encoder.encode(TEXTS).T
    for found, scores in zip(Dense().build([TEXTS[:20], TEXTS[20:]]).search(QUERIES, 10), products, strict=True):
        assert np.allclose(found.scores, np.sort(scores)[::-1][:10], atol=1e-6)
        assert np.allclose(scores[found.ids], found.scores, atol=1e-6)


def test_equals_are_ranked_by_id_however_many_there_are() -> None:
    """More equals than the search asks for beyond k: all of one score, the last ids come first."""
    texts = ["trees by the river"] * 200 + ["a school for music"] * 3
    (found,) = Dense().build([texts]).search(["trees by the river"], 5)
    assert found.ids.tolist() == [199, 198, 197, 196, 195]


def test_ties_are_those_of_exact_search() -> None:
    texts = [TEXTS[n % len(TEXTS)] for n in range(3 * len(TEXTS))]
    index = Dense().build([texts])
    scores, ids = index.vectors.search(index.encoder.encode(QUERIES), len(texts))
    for k in (1, 4, 50):
        for found, all_ids, all_scores in zip(index.search(QUERIES, k), ids, scores, strict=True):
            assert found.ids.tolist() == top_k(all_ids, all_scores, k).ids.tolist()


def test_all_passages_are_candidates_and_no_more() -> None:
    (found,) = Dense().build([CITY]).search(["anything"], 50)
    assert sorted(found.ids.tolist()) == list(range(len(CITY)))
    assert Dense().build([]).search(["anything"], 5)[0].ids.tolist() == []


def test_texts_without_words_score_nothing() -> None:
    (found,) = Dense().build([["", "tram"]]).search(["tram"], 2)
    assert found.ids.tolist() == [1, 0]
    assert np.allclose(found.scores, [1.0, 0.0])


def test_an_index_comes_back_as_it_was(tmp_path: Path) -> None:
    index = Dense().build([TEXTS])
    index.save(tmp_path)
    for one, other in zip(index.search(QUERIES, 5), Dense().load(tmp_path).search(QUERIES, 5), strict=True):
        assert np.array_equal(one.ids, other.ids)
        assert np.array_equal(one.scores, other.scores)
