"""Facets and the map of passages."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from berdseye.data.errors import UnknownNameError
from berdseye.evaluation.charts import NEUTRAL, perspective_colour
from berdseye.evaluation.exploration.facets import facet_counts, kept_items
from berdseye.evaluation.exploration.passage_map import NONE, SEVERAL, UNKNOWN, UNSURE, map_chart, mapped, sides

VALUES = {
    "corpus": [["web"], ["web"], ["wiki"], ["web"]],
    "verdict": [["supports"], ["supports", "disputed"], [], ["unsure"]],
}


def test_values_of_a_facet_add_and_facets_narrow() -> None:
    assert kept_items(VALUES, {}) == [0, 1, 2, 3]
    assert kept_items(VALUES, {"verdict": ["supports", "unsure"]}) == [0, 1, 3]
    assert kept_items(VALUES, {"verdict": ["supports"], "corpus": ["wiki"]}) == []
    assert kept_items(VALUES, {"unheard of": ["x"], "corpus": []}) == [0, 1, 2, 3]
    assert facet_counts(VALUES, {"corpus": ["wiki"], "verdict": []}) == {
        "corpus": {"web": 3, "wiki": 1},
        "verdict": {"disputed": 0, "supports": 0, "unsure": 0},
    }
    assert facet_counts(VALUES, {"verdict": ["disputed"]})["corpus"] == {"web": 1, "wiki": 0}
    assert facet_counts({"corpus": []}, {}) == {"corpus": {}}


values = st.lists(st.lists(st.sampled_from("abc"), unique=True), min_size=4, max_size=4)


@given(values, values, st.sets(st.sampled_from("abc")), st.sampled_from("abc"))
def test_a_count_is_what_choosing_the_value_alone_leaves(
    first: list[list[str]], second: list[list[str]], chosen: set[str], value: str
) -> None:
    held = {"first": first, "second": second}
    counted = facet_counts(held, {"first": ["a"], "second": chosen})["first"].get(value, 0)
    assert counted == len(kept_items(held, {"first": [value], "second": chosen}))


def vectors(count: int) -> np.ndarray:
    return np.random.default_rng(3).normal(size=(count, 16)).astype(np.float32)


def test_pca_keeps_the_distances_of_what_lies_in_a_plane() -> None:
    plane = (
        np.random.default_rng(1).normal(size=(9, 2)) @ np.linalg.qr(np.random.default_rng(2).normal(size=(8, 2)))[0].T
    )
    points = mapped(plane.astype(np.float32))

    def distances(of: np.ndarray) -> np.ndarray:
        return np.linalg.norm(of[:, None] - of[None], axis=2)

    np.testing.assert_allclose(distances(points), distances(plane), atol=1e-5)


@pytest.mark.parametrize("method", ["PCA", "t-SNE"])
def test_a_map_is_the_same_at_every_drawing(method: str) -> None:
    first, again = (mapped(vectors(40), method, seed=4) for _ in range(2))  # type: ignore[arg-type]
    assert (first == again).all()
    assert np.isfinite(first).all()
    assert first.std(axis=0).min() > 0


@pytest.mark.parametrize("method", ["PCA", "t-SNE"])
@pytest.mark.parametrize("count", [0, 1, 2, 3, 6])
def test_few_and_equal_passages_have_places_too(method: str, count: int) -> None:
    for block in (vectors(count), np.ones((count, 16), np.float32)):
        points = mapped(block, method)  # type: ignore[arg-type]
        assert points.shape == (count, 2)
        assert np.isfinite(points).all()


def test_another_way_to_draw_is_refused() -> None:
    with pytest.raises(UnknownNameError, match="t-SNE"):
        mapped(vectors(3), "tsne")  # type: ignore[arg-type]


def test_sides_and_their_colours() -> None:
    labels = np.array([[1, 0], [np.nan, 1], [1, 1], [0, np.nan], [np.nan, np.nan]])
    sure = np.zeros(labels.shape, dtype=np.bool_)
    assert sides(labels, sure) == ["P1", "P2", SEVERAL, NONE, UNKNOWN]
    assert sides(np.zeros((2, 0)), np.zeros((2, 0), dtype=np.bool_)) == [UNKNOWN, UNKNOWN]
    frame = pd.DataFrame({"x": [0.0], "y": [0.0], "group": ["P2"], "number": [1], "title": ["t"], "corpus": ["c"]})
    unsure = np.array([[True, False], [False, False], [False, True], [True, False], [False, False]])
    assert sides(labels, unsure) == [UNSURE, "P2", "P1", UNSURE, UNKNOWN]
    colours = map_chart(frame, ["P1", "P2", UNSURE, "policy"]).to_dict()["encoding"]["color"]["scale"]["range"]
    assert colours[:3] == [perspective_colour(0), perspective_colour(1), NEUTRAL]
    assert colours[3] != NEUTRAL
