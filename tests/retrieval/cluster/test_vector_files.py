"""Vectors that wait for their index."""

from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from berdseye.retrieval.cluster.encoding import VectorFiles

COUNT = 40
VECTORS = np.random.default_rng(0).normal(size=(COUNT, 3)).astype(np.float32)
RANGES = st.lists(st.tuples(st.integers(0, COUNT - 1), st.integers(1, 15)), max_size=8)


@settings(deadline=None)
@given(ranges=RANGES, start=st.integers(0, COUNT), end=st.integers(0, COUNT))
def test_what_is_missing_and_what_is_there_make_the_whole(ranges: list[tuple[int, int]], start: int, end: int) -> None:
    """Files may overlap: what is lost with a node is encoded again, in other batches."""
    with TemporaryDirectory() as folder:
        files = VectorFiles(Path(folder), 3, half=False)
        held = set()
        for begin, count in ranges:
            files.write(begin, VECTORS[begin : begin + count])
            held |= set(range(begin, min(begin + count, COUNT)))
        wanted = set(range(start, end))
        missing = [i for a, b in files.missing(start, end) for i in range(a, b)]
        assert sorted(wanted - held) == missing
        there = np.concatenate([np.empty((0, 3), np.float32), *files.read(start, end)])
        assert np.array_equal(there, VECTORS[sorted(wanted & held)])


def test_rows_are_those_of_the_ids(tmp_path: Path) -> None:
    files = VectorFiles(tmp_path, 3, half=True)
    for begin in (0, 7, 20):
        files.write(begin, VECTORS[begin : {0: 7, 7: 20, 20: COUNT}[begin]])
    ids = np.array([0, 6, 7, 19, 20, 39])
    assert np.array_equal(np.concatenate(list(files.rows(ids))), VECTORS[ids].astype(np.float16).astype(np.float32))


def test_files_of_a_range_are_removed(tmp_path: Path) -> None:
    files = VectorFiles(tmp_path, 3, half=True)
    for begin in (0, 10, 20, 30):
        files.write(begin, VECTORS[begin : begin + 10])
    files.remove(10, 30)
    assert list(files.missing(0, COUNT)) == [(10, 30)]
