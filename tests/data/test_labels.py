"""Labels of pairs."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from berdseye.data.labels import LabelStore
from berdseye.data.workspace import Workspace


@pytest.fixture
def store(workspace: Workspace) -> LabelStore:
    return LabelStore(workspace)


def test_the_newer_label_wins(store: LabelStore) -> None:
    for number in range(12):  # more than nine, so that the order of numbers is not that of texts
        store.put("embedded", "1", ["a"], [number / 100])
    store.put("embedded", "1", ["b"], [1.0])
    assert store.get("embedded", ["b", "a"], "1").tolist() == pytest.approx([1.0, 0.11])


def test_a_table_has_each_pair_once_with_its_newest_value(store: LabelStore) -> None:
    store.put("stance", "1", ["a", "b"], [0.25, 0.5], [0.5, 0.25])
    store.put("stance", "1", ["a"], [0.75], [0.125])
    store.put("stance", "2", ["c"], [1.0], [0.0])
    assert store.table("stance", "1").sort_by("pair").to_pylist() == [
        {"pair": "a", "probability": 0.75, "opposes": 0.125},
        {"pair": "b", "probability": 0.5, "opposes": 0.25},
    ]
    store.put("embedded", "1", ["a"], [0.5])
    assert store.table("embedded", "1").column_names == ["pair", "probability"]
    store.put("lora(a)", "1", ["a", "b"], [0.5, 0.5], cut=[True, False])
    assert store.table("lora(a)", "1").sort_by("pair")["cut"].to_pylist() == [True, False]


def test_replaced_labels_are_gone_and_newer_ones_win(store: LabelStore) -> None:
    for key in "abc":
        store.put("gold", "debate", [key], [1.0])
    store.put("gold", "other", ["b"], [1.0])
    with pytest.raises(RuntimeError), store.replacing("gold", "debate"):
        raise RuntimeError
    with store.replacing("gold", "debate"):
        store.put("gold", "debate", ["a"], [0.5])
    assert store.table("gold", "debate").to_pylist() == [{"pair": "a", "probability": 0.5}]
    for value in (0.25, 0.75):
        store.put("gold", "debate", ["a"], [value])
    assert store.get("gold", ["a", "b"]).tolist() == [0.75, 1.0]


def test_what_is_not_labelled_is_nan(store: LabelStore) -> None:
    assert np.isnan(store.get("embedded", ["a", "b"])).all()
    store.put("embedded", "1", ["b"], [0.0])
    found = store.get("embedded", ["a", "b", "b"])
    assert found.dtype == np.float32
    assert np.isnan(found[0])
    assert found[1:].tolist() == [0.0, 0.0]
    assert store.get("embedded", []).shape == (0,)


def test_versions_and_sources_are_kept_apart(store: LabelStore) -> None:
    store.put("nli(a/model)", "1", ["a"], [0.1])
    store.put("nli(a/model)", "2", ["a", "b"], [0.2, 0.3])
    store.put("embedded", "1", ["a"], [0.9])
    assert store.get("nli(a/model)", ["a"], "1").tolist() == pytest.approx([0.1])
    assert store.get("nli(a/model)", ["a"], "2").tolist() == pytest.approx([0.2])
    assert np.isnan(store.get("nli(a/model)", ["b"], "1")[0])
    assert store.get("nli(a/model)", ["b"]).tolist() == pytest.approx([0.3])
    assert store.sources() == ["embedded", "nli(a~model)"]


def test_nothing_is_stored_of_nothing(store: LabelStore) -> None:
    store.put("embedded", "1", [], [])
    assert store.sources() == []


def test_segments_of_older_versions_are_read_beside_new_ones(store: LabelStore) -> None:
    real = [f"{n:032x}" for n in range(3)]
    folder = store.folder / "stance" / "1"
    folder.mkdir(parents=True)
    older = pa.table({"pair": [*real, "a"], "probability": pa.array([0.0, 0.25, 0.5, 0.75], pa.float32())})
    pq.write_table(older, folder / "00000000-0123abcd.parquet")
    assert store.get("stance", [*real, "a"], "1").tolist() == [0.0, 0.25, 0.5, 0.75]
    store.put("stance", "1", [real[1], "b"], [1.0, 0.125])
    pq.write_table(older.slice(2), folder / "00000002-0123abcd.parquet")
    store.put("stance", "1", ["a", "a"], [0.0, 0.375])
    assert store.get("stance", [*real, "a", "b"]).tolist() == [0.0, 1.0, 0.5, 0.375, 0.125]
    assert [row[2:] for row in store.by_source(["b", real[1], "c"])] == [(real[1], 1.0), ("b", 0.125)]
    assert len(store.table("stance", "1")) == 5


def test_many_labels_in_one_asking(store: LabelStore) -> None:
    keys = [f"{n:032x}" for n in range(20_000)]
    store.put("embedded", "1", keys, list(np.arange(20_000) / 20_000))
    order = np.random.default_rng(0).permutation(20_000)
    found = store.get("embedded", [keys[i] for i in order])
    assert np.array_equal(found, (order / 20_000).astype(np.float32))
