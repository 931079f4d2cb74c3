"""Several corpora searched as one, passages like a passage, and words that no corpus holds."""

import numpy as np
import pytest
from corpus_files import CITY, corpus_of

from berdseye.data.errors import BadInputError
from berdseye.data.records import Ranking
from berdseye.data.workspace import Workspace
from berdseye.retrieval.dense.ranker import has_neighbours, neighbours
from berdseye.retrieval.encoders.encoder_registry import open_encoder
from berdseye.retrieval.fusion import fused_over_corpora
from berdseye.retrieval.lexical.query_words import unknown_words


def ranking(*ids: int) -> Ranking:
    return Ranking(np.array(ids, dtype=np.int64), np.linspace(1, 0, len(ids), dtype=np.float32))


def test_lists_of_several_corpora_are_fused_by_their_ranks() -> None:
    found = fused_over_corpora(
        {("a", "bm25"): ranking(7, 8), ("b", "bm25"): ranking(7, 9), ("a", "dense(static)"): ranking(8, 7)}, 10, 0.0
    )
    # 1/1 + 1/2 for both of a; b's are other passages, though of the same id: 1/1 and 1/2
    assert [(f.corpus, f.id, pytest.approx(f.score)) for f in found] == [
        ("a", 7, 1.5),
        ("a", 8, 1.5),
        ("b", 7, 1.0),
        ("b", 9, 0.5),
    ]
    assert found[0].ranks == {"bm25": 1, "dense(static)": 2}
    assert len(fused_over_corpora({("a", "bm25"): ranking(1, 2, 3)}, 2)) == 2
    assert fused_over_corpora({}, 5) == []
    assert fused_over_corpora({("a", "bm25"): ranking()}, 5) == []


def test_neighbours_are_the_nearest_by_brute_force_and_leave_the_passage_out(workspace: Workspace) -> None:

    corpus = corpus_of(workspace, CITY)
    assert not has_neighbours(corpus)
    passages = corpus.passages(range(len(CITY)))
    vectors = open_encoder("static").encode_passages(passages)
    for place, passage in enumerate(passages):
        order = [int(i) for i in np.argsort(-(vectors @ vectors[place]), kind="stable") if i != place]
        found = neighbours(corpus, passage, 3)
        assert found.ids.tolist() == order[:3]
        assert (np.diff(found.scores) <= 0).all()
    assert has_neighbours(corpus)
    assert len(neighbours(corpus, passages[0], 50).ids) == len(CITY) - 1
    other = corpus_of(workspace, [CITY[3], CITY[0]], name="other")
    assert neighbours(other, passages[0], 1, itself=True).ids.tolist() == [1], "the same text, under another id"
    with pytest.raises(BadInputError, match="got 0"):
        neighbours(corpus, passages[0], 0)


def test_a_corpus_of_pages_has_no_neighbours(workspace: Workspace) -> None:
    pages = corpus_of(workspace, CITY, kind="pages")
    assert not has_neighbours(pages)
    with pytest.raises(BadInputError, match="web pages"):
        neighbours(pages, pages.passages([0])[0], 1)


def test_a_word_that_no_corpus_holds_is_named_with_the_likest(workspace: Workspace) -> None:
    corpora = [corpus_of(workspace, CITY), corpus_of(workspace, ["Uniforms make children equal."], name="other")]
    assert unknown_words(corpora, "Elefants and uniforms harm?") == {"elefants": ["elephants"], "harm": []}
    assert unknown_words(corpora, "elephants, TRAMS") == {}
    assert unknown_words(corpora, "") == unknown_words([], "elefants") == {}
    assert unknown_words(corpora[:1], "unifroms") == {"unifroms": []}
    assert unknown_words(corpora, "unifroms") == {"unifroms": ["uniforms"]}
