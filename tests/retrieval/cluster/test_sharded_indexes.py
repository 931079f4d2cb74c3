"""What shards find together is what one index finds, bit for bit; without a cluster."""

import numpy as np
import pytest
from built_here import CutHere, build_here, lay_out_here
from one_index import QUERIES, assert_same
from tied_corpus import write_tied_corpus

from berdseye.data.corpora import Corpus
from berdseye.data.errors import BadInputError, BerdseyeError
from berdseye.data.workspace import Workspace
from berdseye.retrieval.cluster.searching import search_only
from berdseye.retrieval.cluster.shards import ShardPlan
from berdseye.retrieval.dense.ranker import DenseIndexer
from berdseye.retrieval.lexical.ranker import LexicalIndexer
from berdseye.retrieval.lexical.scoring import Statistics
from berdseye.retrieval.pipeline import search, search_passages
from berdseye.retrieval.pipeline_registry import parse_pipeline

WORDS, VECTORS = LexicalIndexer(), DenseIndexer("static")


def test_there_are_ties_to_break(tied: Corpus) -> None:
    for name in ("bm25", "qld", "dense(static)"):
        ids, scores = search(tied, parse_pipeline(name), QUERIES[:1], 100)
        assert len(set(ids[0].tolist())) == 100
        assert len(set(scores[0].tolist())) < 10, name


@pytest.mark.parametrize("shards", [1, 2, 3, 5])
def test_shards_rank_as_one_index(tied: Corpus, shards: int) -> None:
    for indexer in (WORDS, VECTORS):
        build_here(tied, indexer, shards)
    assert_same(tied, CutHere(tied, shards))


def test_more_shards_than_passages(workspace: Workspace) -> None:
    corpus = write_tied_corpus(workspace, 3, distinct=2)
    for indexer in (WORDS, VECTORS):
        build_here(corpus, indexer, 5)
    assert_same(corpus, CutHere(corpus, 5))


@pytest.mark.parametrize("layout", ["sq8", "ivf", "ivfpq", "rabitq"])
def test_layouts_that_are_trained_learn_once_for_all_shards(tied: Corpus, layout: str) -> None:
    lay_out_here(tied, DenseIndexer("static", layout), 3)
    pipeline = parse_pipeline(f"dense(static,index={layout})")
    ids, scores = search(tied, pipeline, QUERIES, 1000)
    found_ids, found_scores = search_passages(CutHere(tied, 3), pipeline, QUERIES, 1000)
    assert np.array_equal(found_scores, scores)
    settled = scores > scores[:, -1:]  # a layout that is not exact does not settle the ties at its end
    assert np.array_equal(found_ids[settled], ids[settled])


def test_a_graph_for_each_shard_finds_as_much(tied: Corpus) -> None:
    lay_out_here(tied, DenseIndexer("static", "hnsw"), 3)
    exact = search(tied, parse_pipeline("dense(static,index=sq8)"), QUERIES, 100)[1]
    found = search_passages(CutHere(tied, 3), parse_pipeline("dense(static,index=hnsw)"), QUERIES, 100)[1]
    assert np.mean(found == exact) > 0.95


def test_forms_that_no_index_can_search_see_every_vector(tied: Corpus) -> None:
    build_here(tied, VECTORS, 3)
    pipeline = parse_pipeline("dense(static) >> pap+")
    ids, scores = search(tied, pipeline, QUERIES, 1000)
    found_ids, found_scores = search_passages(CutHere(tied, 3), pipeline, QUERIES, 1000)
    assert np.allclose(found_scores, scores, atol=1e-6)
    assert np.mean(found_ids == ids) > 0.99  # a matrix product may round the same vector otherwise in another block


def test_a_node_that_searches_opens_no_encoder(tied: Corpus, monkeypatch: pytest.MonkeyPatch) -> None:
    plan, indexer = build_here(tied, VECTORS, 2), search_only(VECTORS)
    queries = VECTORS.encode_queries(["cars"])
    monkeypatch.setattr(DenseIndexer, "open", lambda _: pytest.fail("an encoder was opened"))
    index = indexer.load(plan.place(plan.shard(1)))
    assert len(index.search(queries, 5)[0].ids) == 5
    monkeypatch.undo()
    assert search_only(WORDS) == WORDS
    assert search_only(DenseIndexer("static", similarity="euclidean")) == DenseIndexer("static", similarity="euclidean")


def test_a_vocabulary_in_parts_has_no_mean_idf(tied: Corpus) -> None:
    build_here(tied, WORDS, 2)
    with pytest.raises(BadInputError, match="okapi variant requires the idf of the whole vocabulary"):
        search_passages(CutHere(tied, 2), parse_pipeline("bm25(variant=okapi)"), QUERIES, 5)


def test_statistics_are_those_of_the_whole(tied: Corpus) -> None:
    build_here(tied, WORDS, 5)
    questions = [q.text for q in QUERIES]
    one: Statistics = WORDS.load(build_here(tied, WORDS, 1).folder / "00000").statistics(questions)
    assert CutHere(tied, 5).index(WORDS).statistics(questions) == one._replace(mean_idf=None)
    assert CutHere(tied, 1).index(WORDS).statistics(questions) == one


class Forgetful(CutHere):
    """Its last shard leaves out a query."""

    def ask(self, plan: ShardPlan, *call: object, **of: object) -> list[object]:  # type: ignore[override]
        *answers, last = super().ask(plan, *call, **of)  # type: ignore[arg-type]
        return [*answers, last[1:] if isinstance(last, list) else last]


def test_a_shard_that_answers_too_little_is_an_error(tied: Corpus) -> None:
    build_here(tied, WORDS, 2)
    with pytest.raises(BerdseyeError, match=r"shard 1 \(passages 1,200 to 2,399\) answered 5 of 6 queries"):
        search_passages(Forgetful(tied, 2), parse_pipeline("bm25"), QUERIES, 5)
