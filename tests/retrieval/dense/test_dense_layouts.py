"""Layouts that trade a little recall for size and speed."""

from pathlib import Path
from tempfile import mkdtemp

import faiss
import numpy as np
import pytest

from berdseye.retrieval.dense.building import build_vectors
from berdseye.retrieval.dense.index import DenseIndex, load, save
from berdseye.retrieval.dense.layouts import LAYOUTS, Layout, lists
from berdseye.retrieval.dense.ranker import Dense
from berdseye.retrieval.encoders.protocol import Vectors
from berdseye.retrieval.passage_collections import InMemoryPassages
from berdseye.retrieval.protocol import Query
from tests.retrieval.made_encoders import TableEncoder, passages_of, rows, use_encoder

COUNT, DIMENSION, K = 10_000, 16, 10
FLOORS = {"flat": 1.0, "fp16": 0.99, "sq8": 0.95, "hnsw": 0.95, "ivf": 0.95, "ivfpq": 0.95, "rabitq": 0.95}
"""Least recall of the ten nearest; measured were 0.997 for fp16 and 0.976 or 0.977 for those that quantise to bytes."""
TOLERANCE = {"flat": 0.0, "fp16": 1e-3, "sq8": 0.02, "hnsw": 0.02, "ivf": 0.02, "ivfpq": 0.02, "rabitq": 1e-3}
"""Most that a stored vector's number may be off; the numbers are between -1 and 1."""


def unit(vectors: Vectors) -> Vectors:
    return (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)


@pytest.fixture(scope="module")
def clustered() -> tuple[Vectors, Vectors]:
    """Passages around 300 topics, and queries near some passages."""
    rng = np.random.default_rng(0)
    topics = rng.normal(size=(300, DIMENSION))
    passages = unit(topics[rng.integers(0, 300, COUNT)] + 0.4 * rng.normal(size=(COUNT, DIMENSION)))
    return passages, unit(passages[rng.integers(0, COUNT, 100)] + 0.05 * rng.normal(size=(100, DIMENSION)))


@pytest.fixture(scope="module")
def stored(clustered: tuple[Vectors, Vectors], tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """An index of each layout on disk; the vectors come in blocks of several sizes."""
    folders = {}
    threads = faiss.omp_get_max_threads()
    faiss.omp_set_num_threads(1)  # on a busy machine several wait for each other most of the time
    for name, layout in LAYOUTS.items():
        folder = tmp_path_factory.mktemp(name)
        blocks = np.split(clustered[0], [1, 4000, 4000, 9000])
        save(build_vectors(blocks, DIMENSION, faiss.METRIC_INNER_PRODUCT, layout, folder / "scratch"), folder)
        assert [p.name for p in folder.iterdir()] == ["vectors.faiss"]
        folders[name] = folder
    faiss.omp_set_num_threads(threads)
    return folders


def opened(folder: Path, layout: Layout, probes: int | None = None) -> DenseIndex:
    return load(folder, "dot", exact=layout.exact, probes=probes or layout.probes)


def recall(index: DenseIndex, queries: Vectors, passages: Vectors) -> float:
    best = np.argsort(-(queries @ passages.T), axis=1)[:, :K]
    found = index.search(queries, K)
    return float(np.mean([len(set(b.tolist()) & set(f.ids.tolist())) / K for b, f in zip(best, found, strict=True)]))


@pytest.mark.parametrize("name", LAYOUTS)
def test_the_nearest_are_found(name: str, stored: dict[str, Path], clustered: tuple[Vectors, Vectors]) -> None:
    index = opened(stored[name], LAYOUTS[name])
    assert index.count == COUNT
    assert recall(index, clustered[1], clustered[0]) >= FLOORS[name]


@pytest.mark.parametrize("name", LAYOUTS)
def test_an_index_comes_back_as_it_was(
    name: str, stored: dict[str, Path], clustered: tuple[Vectors, Vectors], tmp_path: Path
) -> None:
    layout = LAYOUTS[name]
    first = opened(stored[name], layout)
    save(first.vectors, tmp_path)
    for one, other in zip(first.search(clustered[1], K), opened(tmp_path, layout).search(clustered[1], K), strict=True):
        assert np.array_equal(one.ids, other.ids)
        assert np.array_equal(one.scores, other.scores)


@pytest.mark.parametrize("name", LAYOUTS)
def test_vectors_can_be_read_back(
    name: str, stored: dict[str, Path], clustered: tuple[Vectors, Vectors], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("berdseye.retrieval.dense.index._BLOCK", 4_000)
    blocks = list(opened(stored[name], LAYOUTS[name]).blocks())
    assert [start for start, _ in blocks] == [0, 4_000, 8_000]
    assert np.allclose(np.concatenate([vectors for _, vectors in blocks]), clustered[0], atol=TOLERANCE[name])


def test_smaller_layouts_are_smaller(stored: dict[str, Path]) -> None:
    sizes = {name: (folder / "vectors.faiss").stat().st_size / COUNT / DIMENSION for name, folder in stored.items()}
    assert sizes["flat"] == pytest.approx(4, rel=0.01)
    assert sizes["fp16"] == pytest.approx(2, rel=0.01)
    assert sizes["sq8"] == pytest.approx(1, rel=0.01)


@pytest.mark.parametrize("name", ["ivf", "ivfpq", "rabitq", "hnsw"])
def test_more_probes_find_more(name: str, stored: dict[str, Path], clustered: tuple[Vectors, Vectors]) -> None:
    one, usual = (
        recall(opened(stored[name], LAYOUTS[name], probes), clustered[1], clustered[0]) for probes in (1, None)
    )
    assert one < usual


@pytest.mark.parametrize("name", LAYOUTS)
@pytest.mark.parametrize("count", [0, 1, 2, 50])
@pytest.mark.parametrize("dimension", [2, 16, 50])
def test_few_passages(monkeypatch: pytest.MonkeyPatch, name: str, count: int, dimension: int) -> None:
    """So few that there is nothing to learn from: every passage is still found as its own nearest."""
    vectors = unit(np.random.default_rng(count).normal(size=(max(count, 1), dimension)))
    use_encoder(monkeypatch, TableEncoder(rows("p", vectors)))
    names = [f"p{n}" for n in range(count)]
    found = Dense("table", name).rank(InMemoryPassages(passages_of(names)), [Query("p0"), *map(Query, names)], 60)
    assert [sorted(r.ids.tolist()) for r in found] == [list(range(count))] * (count + 1)
    if dimension > 2:
        assert [r.ids.tolist()[:1] for r in found[1:]] == [[n] for n in range(count)]


@pytest.mark.parametrize("count", [50, 5_000, 50_000, 22_000_000])
def test_every_layout_can_be_made_of_every_dimension(count: int) -> None:
    for layout in LAYOUTS.values():
        for dimension in (*range(1, 70), 96, 300, 384, 768, 1024, 1536):
            faiss.index_factory(dimension, layout.description(count, dimension), faiss.METRIC_INNER_PRODUCT)


def test_there_is_enough_to_learn_from() -> None:
    """FAISS warns of fewer than 39 vectors a centroid: a list, or one of the 256 codes of a piece."""
    for name in ("ivf", "ivfpq", "rabitq"):
        layout = LAYOUTS[name]
        for count in (layout.fewest, 10_000, 100_000, 10**6, 22 * 10**6):
            assert layout.training(count) >= 39 * lists(count)
            assert name != "ivfpq" or layout.training(count) >= 39 * 256


def test_a_sample_is_learned_from_and_all_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("berdseye.retrieval.dense.layouts._MOST_TRAINING", 100)
    vectors = unit(np.random.default_rng(0).normal(size=(5_000, 8)))
    folder = Path(mkdtemp())
    assert LAYOUTS["sq8"].training(5_000) == 64 * lists(5_000)
    index = build_vectors([vectors], 8, faiss.METRIC_INNER_PRODUCT, LAYOUTS["sq8"], folder / "scratch")
    assert index.ntotal == 5_000
    assert not (folder / "scratch").exists()
