"""Many queries at once are answered as each alone, bit for bit."""

import faiss
import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from berdseye.retrieval.dense import many_queries
from berdseye.retrieval.dense.index import DenseIndex
from berdseye.retrieval.dense.many_queries import FEWEST, multiplies, search_many


def index_of(vectors: npt.NDArray[np.float32]) -> faiss.IndexFlatIP:
    index = faiss.IndexFlatIP(vectors.shape[1])
    index.add(vectors)
    return index


@settings(deadline=None)
@given(
    count=st.integers(1, 400),
    dimension=st.sampled_from([1, 3, 16, 257]),
    distinct=st.integers(1, 400),
    k=st.integers(1, 60),
    blocks=st.sampled_from([1, 7, 64, 16_384]),
    scale=st.sampled_from([1e-20, 1.0, 1e6]),
    seed=st.integers(0, 1_000),
)
def test_every_ranking_is_that_of_its_query_alone(
    count: int, dimension: int, distinct: int, k: int, blocks: int, scale: float, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    few = (scale * rng.normal(size=(distinct, dimension))).astype(np.float32)
    there = DenseIndex(index_of(few[rng.integers(0, distinct, count)]), "dot", exact=True)
    queries = rng.normal(size=(FEWEST + 3, dimension)).astype(np.float32)
    queries[0] = 0
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(many_queries, "_BLOCK", blocks)
        patch.setattr(many_queries, "_QUERIES", 5)
        together = there.search(queries, k)
    for query, ranking in zip(queries, together, strict=True):
        (alone,) = there.search(query[None], k)
        assert ranking.ids.tolist() == alone.ids.tolist()
        assert ranking.scores.tobytes() == alone.scores.tobytes()


def test_scores_that_a_matrix_product_rounds_apart_are_settled() -> None:
    """Copies of one vector among others: products of a block's last rows may round otherwise than those of its first."""
    rng = np.random.default_rng(0)
    vectors = rng.normal(size=(40_001, 100)).astype(np.float32)
    vectors[::400] = vectors[0]
    scores, ids = search_many(index_of(vectors), np.stack([vectors[0]] * FEWEST), 101)
    assert ids.tolist() == [list(range(0, 40_001, 400))] * FEWEST
    assert len(np.unique(scores)) == 1


@pytest.mark.parametrize("damage", [np.nan, np.inf, -np.inf, 3e38])
def test_vectors_that_are_not_finite_are_left_to_faiss(damage: float) -> None:
    vectors = np.random.default_rng(0).normal(size=(50, 4)).astype(np.float32)
    vectors[17] = damage
    queries = np.full((FEWEST, 4), 2, np.float32)
    assert search_many(index_of(vectors), queries, 10) is None
    there = DenseIndex(index_of(vectors), "dot", exact=True)
    together, alone = there.search(queries, 10)[3], there.search(queries[3:4], 10)[0]
    assert together.ids.tolist() == alone.ids.tolist()


def test_other_indexes_are_searched_by_faiss() -> None:
    assert multiplies(index_of(np.ones((2, 4), np.float32)))
    assert not multiplies(faiss.IndexFlatL2(4))
    assert not multiplies(faiss.index_factory(4, "SQfp16", faiss.METRIC_INNER_PRODUCT))
