"""Milliseconds to read labels of a million stored pairs: by 128-bit numbers, and by text as before version 0.5.

Alternating in one process, BERDSEYE_BENCH_ROUNDS rounds, 7 unless it is set. The labels are ten segments of one detector.
"""

import hashlib
import os
import random
import statistics
import time
from collections.abc import Callable
from pathlib import Path

import duckdb
import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from berdseye.data.labels import LabelStore
from berdseye.data.workspace import Workspace

ROUNDS = int(os.environ.get("BERDSEYE_BENCH_ROUNDS", "7"))
_LABELS, _SEGMENT = 1_000_000, 100_000
_SOURCE = "stance"
Values = npt.NDArray[np.float32]


def former_get(folder: Path, keys: list[str]) -> Values:
    """Read P(supports) by joining texts, in the order of the segments' names."""
    found = np.full(len(keys), np.nan, np.float32)
    with duckdb.connect() as connection:
        connection.register("wanted", pa.table({"pair": pa.array(keys, pa.string()), "place": np.arange(len(keys))}))
        stored = connection.read_parquet(_segments(folder), filename=True, union_by_name=True)
        connection.register("stored", stored)
        places, values = (
            connection.execute(
                "SELECT place, probability FROM stored JOIN wanted USING (pair) WHERE probability IS NOT NULL ORDER BY filename"
            )
            .fetchnumpy()
            .values()
        )
    found[np.asarray(places)] = np.asarray(values)
    return found


def former_by_source(folder: Path, keys: list[str]) -> int:
    """Read all labels of some pairs by comparing texts; return their number."""
    with duckdb.connect() as connection:
        rows = connection.execute(
            """
            SELECT parse_path(filename)[-3] AS source, parse_path(filename)[-2] AS version, pair, arg_max(probability, filename)
            FROM read_parquet($segments, filename = true, union_by_name = true) WHERE pair IN (SELECT unnest($keys))
            GROUP BY ALL ORDER BY ALL
            """,
            {"segments": _segments(folder), "keys": keys},
        ).fetchall()
    return len(rows)


def former_table(folder: Path) -> int:
    """Read the newest label of every pair, grouped by text; return the number of labels."""
    with duckdb.connect() as connection:
        stored = connection.read_parquet(_segments(folder), filename=True, union_by_name=True)
        return len(stored.aggregate("pair, arg_max(probability, filename) AS probability", "pair").to_arrow_table())


def _segments(folder: Path) -> list[str]:
    return sorted(str(path) for path in folder.rglob("*.parquet"))


def _size(folder: Path) -> float:
    return sum(Path(path).stat().st_size for path in _segments(folder)) / 1e6


@pytest.mark.benchmark
def test_reading_by_numbers_and_by_text(tmp_path: Path) -> None:
    new, old = (Workspace.create(tmp_path / name) for name in ("new", "old"))
    keys = [hashlib.blake2b(str(n).encode(), digest_size=16).hexdigest() for n in range(_LABELS)]
    values = np.random.default_rng(0).random(_LABELS).astype(np.float32)
    began = time.perf_counter()
    for start in range(0, _LABELS, _SEGMENT):
        part = slice(start, start + _SEGMENT)
        LabelStore(new).put(_SOURCE, "1", keys[part], values[part].tolist())
    stored = time.perf_counter() - began
    (old.labels_folder / _SOURCE / "1").mkdir(parents=True)
    for path in map(Path, _segments(new.labels_folder)):
        texts = pq.read_table(path, partitioning=None).drop_columns(["bits"])
        pq.write_table(texts, old.labels_folder / _SOURCE / "1" / path.name, compression="zstd")
    print(
        f"\n{_LABELS:,} labels in {_LABELS // _SEGMENT} segments: {_size(new.labels_folder):.1f} MB, "
        f"{_size(old.labels_folder):.1f} MB without numbers; stored in {stored:.1f} s"
    )
    print("milliseconds          former code  without numbers  with numbers  ratio  of CPU time")

    def compare(name: str, *ways: Callable[[], object]) -> None:
        """Print the medians, and that of the last way as a share of the first."""
        taken = np.array([[_seconds(way) for way in ways] for _ in range(ROUNDS)])
        elapsed, cpu = (np.array([statistics.median(column) for column in taken[:, :, kind].T]) for kind in (0, 1))
        before, between, now = (1000 * elapsed).round().astype(int)
        print(
            f"{name:20}  {before:11,}  {between:15,}  {now:12,}  {elapsed[-1] / elapsed[0]:5.2f}  {cpu[-1] / cpu[0]:11.2f}"
        )

    def get(workspace: Workspace, wanted: list[str]) -> Values:
        return LabelStore(workspace).get(_SOURCE, wanted, "1")

    for count in (1_000, 50_000, 1_000_000):
        wanted = random.Random(count).sample(keys, count)
        assert np.array_equal(former_get(old.labels_folder, wanted), get(new, wanted))
        assert np.array_equal(get(old, wanted), get(new, wanted))
        compare(
            f"get, {count:,} keys",
            lambda wanted=wanted: former_get(old.labels_folder, wanted),  # type: ignore[misc]
            lambda wanted=wanted: get(old, wanted),  # type: ignore[misc]
            lambda wanted=wanted: get(new, wanted),  # type: ignore[misc]
        )
    few = keys[:20]
    assert former_by_source(old.labels_folder, few) == len(LabelStore(new).by_source(few)) == len(few)
    compare(
        f"by_source, {len(few)} keys",
        lambda: former_by_source(old.labels_folder, few),
        lambda: LabelStore(old).by_source(few),
        lambda: LabelStore(new).by_source(few),
    )
    assert former_table(old.labels_folder) == len(LabelStore(new).table(_SOURCE, "1")) == _LABELS
    compare(
        "table",
        lambda: former_table(old.labels_folder),
        lambda: LabelStore(old).table(_SOURCE, "1"),
        lambda: LabelStore(new).table(_SOURCE, "1"),
    )


def _seconds(way: Callable[[], object]) -> tuple[float, float]:
    """Elapsed and CPU seconds of one call."""
    began, used = time.perf_counter(), time.process_time()
    way()
    return time.perf_counter() - began, time.process_time() - used
