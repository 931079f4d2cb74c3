"""Stored labels of pairs (of detectors, and gold labels): append-only Parquet segments, shared by all pages and commands."""

import hashlib
import shlex
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from uuid import uuid4

import duckdb
import numpy as np
import numpy.typing as npt
import pyarrow as pa

from berdseye.data.files.atomic import write_parquet
from berdseye.data.files.checksums import RECORD, FileSet
from berdseye.data.workspace import Workspace, file_stem

_GOLD = "gold"


class LabelStore:
    """P(supports) by pair key, for each label source (a detector or gold labels) and each of its versions.

    A source that tells opposing passages from those that take no side stores P(opposes) too. Reading raises `DamagedError` if a
    segment of the labels is damaged or missing.
    """

    def __init__(self, workspace: Workspace) -> None:
        self.folder = workspace.labels_folder

    def put(
        self,
        source: str,
        version: str,
        keys: Sequence[str],
        probabilities: Sequence[float],
        opposing: Sequence[float] | None = None,
        perspectives: Sequence[str] | None = None,
    ) -> None:
        """Append labels, and P(opposes) of each if the source tells; a newer value of a key replaces an older one.

        `perspectives` are the texts of the pairs' perspectives, which gold labels keep for `of_perspectives`.
        """
        if len(keys) == 0:
            return
        columns = {"pair": pa.array(keys, pa.string()), "probability": pa.array(np.asarray(probabilities, np.float32))}
        if opposing is not None:
            columns["opposes"] = pa.array(np.asarray(opposing, np.float32))
        if perspectives is not None:
            columns["perspective"] = pa.array(perspectives, pa.string())
        table = pa.table(columns)
        segment = self._folder(source, version) / f"{self._next(source, version):08d}-{uuid4().hex[:8]}.parquet"
        write_parquet(segment, table)
        segment_files(segment).seal()

    @contextmanager
    def replacing(self, source: str, version: str) -> Iterator[None]:
        """What is stored within replaces all older labels of this version of a source. The older ones are deleted at the end; an
        error or a crash keeps both."""
        older = list(self._folder(source, version).glob("*.parquet"))
        yield
        for segment in older:
            segment.with_suffix(RECORD).unlink(missing_ok=True)  # first: a record without its file means damage
            segment.unlink()

    def get(self, source: str, keys: Sequence[str], version: str | None = None) -> npt.NDArray[np.float32]:
        """P(supports) of each key, float32[n_keys], NaN for keys without a label; `version` None reads all versions."""
        return self._column("probability", source, keys, version)

    def opposing(self, source: str, keys: Sequence[str], version: str) -> npt.NDArray[np.float32]:
        """P(opposes) of each key, float32[n_keys], NaN for keys without a label and for sources that do not tell."""
        return self._column("opposes", source, keys, version)

    def _column(self, column: str, source: str, keys: Sequence[str], version: str | None) -> npt.NDArray[np.float32]:
        probabilities = np.full(len(keys), np.nan, dtype=np.float32)
        pattern = self._folder(source, version if version is not None else "*")
        segments = _checked_segments(pattern.parent, pattern.name)
        if not segments or not keys:
            return probabilities
        wanted = pa.table({"pair": pa.array(keys, pa.string()), "place": pa.array(np.arange(len(keys)))})
        with _reading(segments) as connection:
            connection.register("wanted", wanted)
            stored = connection.read_parquet(segments, filename=True, union_by_name=True)
            if column not in stored.columns:
                return probabilities
            connection.register("stored", stored)
            result = connection.execute(
                f"SELECT place, {column} FROM stored JOIN wanted USING (pair) WHERE {column} IS NOT NULL ORDER BY filename"
            ).fetchnumpy()
        places, values = result.values()
        probabilities[np.asarray(places)] = np.asarray(values)  # the last of several values for a place wins
        return probabilities

    def table(self, source: str, version: str) -> pa.Table:
        """All labels of a version of a source, each pair once, with the columns `pair`, `probability` and, if the source tells,
        `opposes`; the newest value of a pair counts."""
        folder = self._folder(source, version)
        segments = _checked_segments(folder.parent, folder.name)
        with _reading(segments) as connection:
            stored = connection.read_parquet(segments, filename=True, union_by_name=True)
            newest = [f"arg_max({c}, filename) AS {c}" for c in ("probability", "opposes") if c in stored.columns]
            return stored.aggregate(f"pair, {', '.join(newest)}", "pair").to_arrow_table()

    def of_perspectives(self, source: str, texts: Sequence[str]) -> dict[str, tuple[str, float]]:
        """Return the perspective and P(supports) of every pair with one of these perspectives, by the pair's key.

        Labels of gold sources from before 0.5 name no perspective, and are not found.
        """
        pattern = self._folder(source, "*")
        segments = _checked_segments(pattern.parent, pattern.name)
        if not segments or not texts:
            return {}
        with _reading(segments) as connection:
            stored = connection.read_parquet(segments, filename=True, union_by_name=True)
            if "perspective" not in stored.columns:
                return {}
            connection.register("stored", stored)
            connection.register("wanted", pa.table({"perspective": pa.array(sorted(set(texts)), pa.string())}))
            rows = connection.execute(
                "SELECT pair, any_value(perspective), arg_max(probability, filename) FROM stored "
                "SEMI JOIN wanted USING (perspective) GROUP BY pair"
            ).fetchall()
        return {pair: (text, float(probability)) for pair, text, probability in rows}

    def by_source(self, keys: Sequence[str]) -> list[tuple[str, str, str, float]]:
        """All stored labels of these pairs as (source, version, key, P), with the newest value per source and version.

        Sources and versions are the names of their folders.
        """
        segments = _checked_segments(self.folder, "*/*")
        if not segments or not keys:
            return []
        with _reading(segments) as connection:
            rows = connection.execute(
                """
                SELECT parse_path(filename)[-3] AS source, parse_path(filename)[-2] AS version, pair,
                       arg_max(probability, filename)
                FROM read_parquet($segments, filename = true, union_by_name = true) WHERE pair IN (SELECT unnest($keys))
                GROUP BY ALL ORDER BY ALL
                """,
                {"segments": segments, "keys": list(keys)},
            ).fetchall()
        return [(source, version, pair, float(p)) for source, version, pair, p in rows]

    def state(self, source: str) -> str:
        """12 hex digits that change whenever labels of this source are stored."""
        names = sorted(f"{p.parent.name}/{p.name}" for p in self._folder(source, "*").parent.glob("*/*.parquet"))
        return hashlib.blake2b("\n".join(names).encode(), digest_size=6).hexdigest()

    def sources(self) -> list[str]:
        """Sorted names of the folders with labels, one per label source."""
        return sorted(p.name for p in self.folder.glob("*") if any(p.rglob("*.parquet")))

    def _folder(self, source: str, version: str) -> Path:
        return self.folder / file_stem(source) / (version if version == "*" else file_stem(version))

    def _next(self, source: str, version: str) -> int:
        numbers = (int(path.stem.partition("-")[0]) for path in self._folder(source, version).glob("*.parquet"))
        return max(numbers, default=-1) + 1


def segment_files(segment: Path) -> FileSet:
    """The file of a segment of labels with its record.

    A segment is written once under a unique name, and its record after it. A segment without a record was interrupted in
    between, or is from an older version; it is complete nevertheless.
    """
    source, version = segment.parts[-3], segment.parts[-2]
    if source == _GOLD:
        command = f"add the gold labels again: `berdseye dataset add {version} FILE --replace`."
    else:
        command = f"compute the labels again: `berdseye evaluate --run RUN --labels {shlex.quote(source)}`."
    rebuild = f"Delete {segment.stem}.* in this folder, then {command}"
    return FileSet(segment.with_suffix(RECORD), (segment.name,), lambda: rebuild)


def _checked_segments(folder: Path, pattern: str) -> list[str]:
    """Sorted paths of the segments in the matching folders; raises `DamagedError` if one differs from its record."""
    segments: list[str] = []
    for place in sorted(folder.glob(pattern)):
        for path in place.iterdir() if place.is_dir() else ():
            if path.suffix == RECORD:
                segment_files(path.with_suffix(".parquet")).check(waiting=False)
            elif path.suffix == ".parquet":
                segments.append(str(path))
    return sorted(segments)


@contextmanager
def _reading(segments: Sequence[str]) -> Iterator[duckdb.DuckDBPyConnection]:
    try:
        with duckdb.connect() as connection:
            yield connection
    except duckdb.Error as error:
        damaged = next((Path(s) for s in segments if s in str(error)), Path(segments[-1]))
        raise segment_files(damaged).unreadable(damaged, error) from error
