"""Exact search on a GPU, as far as a machine without one can show: FAISS's processor functions stand in for it."""

from types import SimpleNamespace
from typing import Any

import faiss
import numpy as np
import pytest

from berdseye.retrieval.dense.gpu import MOST_RESULTS
from berdseye.retrieval.dense.index import DenseIndex

COUNT, DIMENSION = 3_000, 8


@pytest.fixture
def vectors() -> Any:
    index = faiss.IndexFlatIP(DIMENSION)
    index.add(np.random.default_rng(0).normal(size=(COUNT, DIMENSION)).astype(np.float32))
    return index


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The numbers of results that the GPU was asked for."""
    numbers: list[int] = []

    class Copy:
        def __init__(self, index: Any) -> None:
            self.index = faiss.clone_index(index)

        def search(self, queries: Any, k: int) -> Any:
            numbers.append(k)
            return self.index.search(queries, k)

    def to_all_gpus(index: Any, co: Any) -> Copy:
        assert co.shard
        return Copy(index)

    monkeypatch.setattr("berdseye.retrieval.dense.gpu.FEWEST", COUNT)
    monkeypatch.setattr(faiss, "get_num_gpus", lambda: 1)
    monkeypatch.setattr(faiss, "GpuMultipleClonerOptions", SimpleNamespace, raising=False)
    monkeypatch.setattr(faiss, "index_cpu_to_all_gpus", to_all_gpus)
    return numbers


def test_a_gpu_finds_the_same_and_more_results_than_it_gives_come_from_the_processor(
    vectors: Any, asked: list[int]
) -> None:
    there = DenseIndex(vectors, "dot", exact=True)
    queries = np.random.default_rng(1).normal(size=(5, DIMENSION)).astype(np.float32)
    few, many = there.search(queries, 10), there.search(queries, MOST_RESULTS)
    assert asked == [10 + 32]
    for query, one, other in zip(queries, few, many, strict=True):
        exact = np.argsort(-(vectors.reconstruct_n(0, COUNT) @ query))
        assert one.ids.tolist() == exact[:10].tolist()
        assert other.ids.tolist() == exact[:MOST_RESULTS].tolist()


def test_vectors_that_do_not_fit_stay_with_the_processor(
    vectors: Any, asked: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: Any, **__: Any) -> Any:
        raise RuntimeError("out of memory")

    monkeypatch.setattr(faiss, "index_cpu_to_all_gpus", full)
    queries = np.ones((1, DIMENSION), np.float32)
    assert len(DenseIndex(vectors, "dot", exact=True).search(queries, 10)[0].ids) == 10
    assert asked == []


def test_few_vectors_stay_with_the_processor(asked: list[int]) -> None:
    few = faiss.IndexFlatIP(DIMENSION)
    few.add(np.ones((COUNT - 1, DIMENSION), np.float32))
    DenseIndex(few, "dot", exact=True).search(np.ones((1, DIMENSION), np.float32), 10)
    assert asked == []


def test_other_layouts_stay_with_the_processor(vectors: Any, asked: list[int]) -> None:
    DenseIndex(vectors, "dot", exact=False).search(np.ones((1, DIMENSION), np.float32), 10)
    assert asked == []
