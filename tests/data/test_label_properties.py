"""The store of labels behaves as a dictionary, whatever the keys, the segments and their versions."""

import re
import resource
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from berdseye.data.errors import DamagedError
from berdseye.data.labels import Floats, LabelStore, _bits, segment_files
from berdseye.data.workspace import Workspace
from tests.retrieval.damages import forget

DIGITS = "0123456789abcdef"
FULL = st.text(DIGITS, min_size=32, max_size=32)
ALIKE = st.builds(lambda a, b: a * 16 + b * 16, st.sampled_from("0aA "), st.sampled_from("0aA "))
"""Keys that share one half with others, or differ in capitals and spaces, which converters of digits may ignore."""
COUNTED = st.integers(0, 3).map(lambda n: f"{n:032x}")
KEYS = st.one_of(st.sampled_from(["a", "b", ""]), COUNTED, ALIKE, FULL, st.text(max_size=34))
PERSPECTIVES = ("Yes.", "No.")


class Part(NamedTuple):
    """One call of `put`; `older` ones are written without the column `bits`, as versions before 0.5 wrote them."""

    source: str
    version: str
    keys: list[str]
    opposes: bool
    older: bool


PARTS = st.lists(
    st.builds(
        Part,
        st.sampled_from(["stance", "gold"]),
        st.sampled_from("12"),
        st.lists(KEYS, min_size=1, max_size=6),
        st.booleans(),
        st.booleans(),
    ),
    max_size=8,
)


def segments(workspace: Workspace) -> set[Path]:
    return set(workspace.labels_folder.glob("*/*/*.parquet"))


def made_older(segment: Path) -> None:
    """Write a segment again without bits and without a record."""
    pq.write_table(pq.read_table(segment, partitioning=None).drop_columns(["bits"]), segment, compression="zstd")
    segment_files(segment).record.unlink()
    forget()


@settings(max_examples=25, deadline=None)
@given(parts=PARTS, asked=st.lists(KEYS, max_size=8))
def test_a_store_equals_a_dictionary(parts: list[Part], asked: list[str]) -> None:
    with TemporaryDirectory() as folder:
        workspace = Workspace.create(Path(folder) / "w")
        store = LabelStore(workspace)
        supporting: dict[tuple[str, str], dict[str, float]] = {}
        opposing: dict[tuple[str, str], dict[str, float]] = {}
        value = 0.0
        for source, version, keys, opposes, older in parts:
            values = [value := value + 1 / 256 for _ in keys]
            before = segments(workspace)
            texts = [PERSPECTIVES[len(key) % 2] for key in keys]
            store.put(source, version, keys, values, [-v for v in values] if opposes else None, texts)
            supporting.setdefault((source, version), {}).update(zip(keys, values, strict=True))
            if opposes:
                opposing.setdefault((source, version), {}).update((k, -v) for k, v in zip(keys, values, strict=True))
            if older:
                (newest,) = segments(workspace) - before
                made_older(newest)
        asked = asked + [key for part in parts for key in part.keys]
        for (source, version), labels in supporting.items():
            nothing = opposing.get((source, version), {})
            assert_equal(store.get(source, asked, version), labels, asked)
            assert_equal(store.opposing(source, asked, version), nothing, asked)
            rows = {row.pop("pair"): row for row in store.table(source, version).to_pylist()}
            assert {key: row["probability"] for key, row in rows.items()} == labels
            assert {key: row["opposes"] for key, row in rows.items() if row.get("opposes") is not None} == nothing
        for source in ("stance", "gold"):
            every = supporting.get((source, "1"), {}) | supporting.get((source, "2"), {})
            assert_equal(store.get(source, asked), every, asked)
            found = store.of_perspectives(source, PERSPECTIVES[:1])
            assert found == {k: (PERSPECTIVES[0], v) for k, v in every.items() if len(k) % 2 == 0}
        assert store.by_source(asked) == sorted(
            (*of, key, value) for of, labels in supporting.items() for key, value in labels.items()
        )


def assert_equal(found: Floats, labels: dict[str, float], keys: list[str]) -> None:
    expected = np.array([labels.get(key, np.nan) for key in keys], np.float32)
    assert np.array_equal(found, expected, equal_nan=True)


@given(keys=st.lists(KEYS, min_size=1))
def test_bits_are_those_of_keys_of_32_digits_and_of_no_other_key(keys: list[str]) -> None:
    expected = [bytes.fromhex(key) if re.fullmatch("[0-9a-f]{32}", key) else None for key in keys]
    assert _bits(keys).storage.to_pylist() == expected
    assert _bits(keys).type == pa.uuid()


def test_keys_that_differ_in_their_last_digits_alone_are_read_in_linear_time(workspace: Workspace) -> None:
    """The first 64 bits of these keys are 0: joined by those alone, they would make 900 million rows."""
    keys = [f"{n:032x}" for n in range(30_000)]
    store = LabelStore(workspace)
    store.put("stance", "1", keys, np.arange(30_000).tolist())
    assert store.get("stance", keys[::-1], "1").tolist() == list(range(30_000))[::-1]


@pytest.mark.parametrize("column", ["bits", "probability"])
def test_a_page_that_claims_a_gigabyte_is_refused_without_using_one(workspace: Workspace, column: str) -> None:
    """DuckDB reserves what a page's header claims, here 2**30 bytes in place of a few, but writes to none of it."""
    store = LabelStore(workspace)
    store.put("stance", "1", ["00ff" * 8], [0.5])
    (segment,) = segments(workspace)
    segment_files(segment).record.unlink()  # as from a version before 0.5: nothing is compared
    forget()
    footer = pq.ParquetFile(segment).metadata.row_group(0)
    (chunk,) = (c for c in map(footer.column, range(footer.num_columns)) if c.path_in_schema == column)
    whole, start = segment.read_bytes(), chunk.data_page_offset
    kind, claim, size = whole[start : start + 2], whole[start + 2 : start + 4], whole[start + 4 : start + 6]
    assert kind == bytes([0x15, 0]) and claim[0] == size[0] == 0x15 and claim[1] == size[1] < 0x80  # noqa: PT018
    large = bytes([0x15, 0x80, 0x80, 0x80, 0x80, 0x08])  # of Thrift's compact protocol: a 32-bit number, 2**30
    segment.write_bytes(whole[:start] + kind + large + large + whole[start + 6 :])
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(DamagedError, match="damaged") as raised:
        store.get("stance", ["00ff" * 8], "1")
    assert raised.value.where == segment
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 200_000  # KiB
