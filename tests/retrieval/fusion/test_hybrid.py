"""`hybrid(...)` in a pipeline."""

import numpy as np
import pytest

from berdseye.data.records import Ranking
from berdseye.retrieval.fusion import Hybrid
from berdseye.retrieval.passage_collections import InMemoryPassages
from berdseye.retrieval.pipeline import search_passages
from berdseye.retrieval.pipeline_registry import parse_pipeline
from berdseye.retrieval.protocol import Query
from tests.retrieval.corpus_files import CITY
from tests.retrieval.made_encoders import passages_of

PASSAGES = InMemoryPassages(passages_of(CITY))
QUERIES = ["cars in the city", "elephants", "xylophone"]


def ranked(pipeline: str, query: str, k: int = 6) -> list[tuple[int, float]]:
    ids, scores = search_passages(PASSAGES, parse_pipeline(pipeline), [query], k)
    return [(i, s) for i, s in zip(ids[0].tolist(), scores[0].tolist(), strict=True) if i >= 0]


def scores(pipeline: str, query: str) -> dict[int, float]:
    return dict(ranked(pipeline, query))


@pytest.mark.parametrize("query", QUERIES)
def test_the_first_retriever_counts_alpha_times(query: str) -> None:
    sparse, dense = scores("bm25", query), scores("dense(static)", query)
    fused = scores("hybrid(bm25,dense(static),alpha=0.25)", query)
    lowest = min(sparse.values(), default=0.0)
    assert fused == pytest.approx({p: 0.25 * sparse.get(p, lowest) + dense[p] for p in dense}, abs=1e-6)


@pytest.mark.parametrize("query", QUERIES)
def test_an_alpha_of_zero_leaves_the_second(query: str) -> None:
    assert ranked("hybrid(bm25,dense(static),alpha=0)", query) == ranked("dense(static)", query)
    # Passages that BM25 does not find share its lowest score.
    fused = ranked("hybrid(dense(static),bm25,alpha=0)", query)
    found = ranked("bm25", query)
    assert fused[: max(len(found) - 1, 0)] == found[: max(len(found) - 1, 0)]


def test_an_alpha_of_one_counts_both_alike() -> None:
    one, other = "hybrid(bm25,dense(static),alpha=1)", "hybrid(dense(static),bm25,alpha=1)"
    for query in QUERIES:
        assert scores(one, query) == pytest.approx(scores(other, query), abs=1e-6)


def test_three_retrievers_by_their_ranks() -> None:
    names, fused = ("bm25", "qld", "dense(static)"), scores("hybrid(bm25,qld,dense(static),rrf=60)", QUERIES[0])
    expected = dict.fromkeys(range(6), 0.0)
    for name in names:
        for place, (passage, _) in enumerate(ranked(name, QUERIES[0]), start=1):
            expected[passage] += 1 / (60 + place)
    assert fused == pytest.approx(expected, rel=1e-6)


def test_the_best_are_chosen_from_more_than_is_asked_for() -> None:
    """A passage that stands second in both lists comes first, also where one passage is asked for."""
    for pipeline in ("hybrid(bm25,dense(static),rrf=60)", "hybrid(bm25,dense(static),norm=z)"):
        whole = ranked(pipeline, QUERIES[0])
        for k in (1, 2, 4):
            assert ranked(pipeline, QUERIES[0], k) == whole[:k]


def test_equals_come_with_the_later_first() -> None:
    twins = InMemoryPassages(passages_of(["cars in the city", "trams"] * 4))
    for pipeline in ("hybrid(bm25,dense(static))", "hybrid(bm25,dense(static),norm=minmax)"):
        ids, _ = search_passages(twins, parse_pipeline(pipeline), ["cars"], 8)
        assert ids.tolist() == [[6, 4, 2, 0, 7, 5, 3, 1]]


def test_where_nobody_finds_anything() -> None:
    assert ranked("hybrid(bm25,qld)", "xylophone") == []
    assert ranked("hybrid(bm25,qld,rrf=60)", "xylophone") == []


def test_nested_hybrids_name_each_index_once() -> None:
    ranker = parse_pipeline("hybrid(hybrid(bm25,qld),hybrid(bm25,dense(static)),norm=z)").ranker
    assert isinstance(ranker, Hybrid)
    assert [i.name for i in ranker.indexers] == ["lexical(english)", "dense(static)"]
    found = ranker.rank(PASSAGES, [Query(QUERIES[0])], 3)
    assert isinstance(found[0], Ranking)
    assert (np.diff(found[0].scores) <= 0).all()
