"""Stored labels of pairs (of detectors, and gold labels): append-only Parquet segments, shared by all pages and commands.

A segment has the columns

- `pair`: the key of the pair, text;
- `bits`: the key as a 128-bit number (a Parquet UUID) if the key is 32 lower-case hexadecimal digits, as that of every real
  pair is; null for any other key;
- `probability`: P(supports), float32;
- `opposes`, `perspective` and `cut`, if the source has them: P(opposes), float32; the text of the perspective; and whether the
  detector read only a part of a text, boolean.

Labels are found by `bits`, since numbers are read and compared faster than texts. Two different keys never have the same
bits: 32 lower-case digits and a number of 128 bits determine each other. This is why `bits` is no shorter hash, for which
each match would have to be confirmed by the text. Labels whose `bits` are null are found by `pair`: those of other keys, and
all of segments from before 0.5, which lack the column.
"""

import hashlib
import shlex
from binascii import hexlify, unhexlify
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from uuid import uuid4

import duckdb
import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from berdseye.data.files.atomic import write_with
from berdseye.data.files.checksums import RECORD, FileSet
from berdseye.data.workspace import Workspace, file_stem

Floats = npt.NDArray[np.float32]
Places = npt.NDArray[np.int64]
_GOLD, _BITS = "gold", "bits"
_DIGITS = 32  # of the key of a pair
_STORED = "read_parquet($segments, union_by_name = true)"


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
        cut: Sequence[bool] | None = None,
    ) -> None:
        """Append labels, and P(opposes) of each if the source tells; a newer value of a key replaces an older one.

        The last value of a key that is given several times counts. `perspectives` are the texts of the pairs' perspectives,
        which gold labels keep for `of_perspectives`; `cut` says of which pairs the source read only a part of a text.
        """
        if len(keys) == 0:
            return
        columns = {
            "pair": pa.array(keys, pa.string()),
            _BITS: _bits(keys),
            "probability": pa.array(np.asarray(probabilities, np.float32)),
        }
        if opposing is not None:
            columns["opposes"] = pa.array(np.asarray(opposing, np.float32))
        if perspectives is not None:
            columns["perspective"] = pa.array(perspectives, pa.string())
        if cut is not None:
            columns["cut"] = pa.array(cut, pa.bool_())
        table = pa.table(columns)
        last = {key: place for place, key in enumerate(keys)}
        if len(last) < len(keys):
            table = table.take(list(last.values()))
        segment = self._folder(source, version) / f"{self._next(source, version):08d}-{uuid4().hex[:8]}.parquet"
        write_with(segment, partial(_write, table))
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

    def get(self, source: str, keys: Sequence[str], version: str | None = None) -> Floats:
        """P(supports) of each key, float32[n_keys], NaN for keys without a label; `version` None reads all versions."""
        return self._column("probability", source, keys, version)

    def opposing(self, source: str, keys: Sequence[str], version: str) -> Floats:
        """P(opposes) of each key, float32[n_keys], NaN for keys without a label and for sources that do not tell."""
        return self._column("opposes", source, keys, version)

    def count_cut(self, source: str, keys: Sequence[str], version: str) -> int:
        """Of how many distinct keys the source read only a part of a text; labels that do not record it do not count."""
        return int(np.nansum(self._column("cut", source, list(dict.fromkeys(keys)), version)))

    def _column(self, column: str, source: str, keys: Sequence[str], version: str | None) -> Floats:
        probabilities = np.full(len(keys), np.nan, dtype=np.float32)
        pattern = self._folder(source, version if version is not None else "*")
        places, values, _ = _found(_checked_segments(pattern.parent, pattern.name), keys, column)
        probabilities[places] = values  # the last of several values for a place counts
        return probabilities

    def table(self, source: str, version: str) -> pa.Table:
        """All labels of a version of a source, each pair once, with the columns `pair`, `probability` and, where known, `opposes`
        and `cut`; the newest value of a pair counts."""
        folder = self._folder(source, version)
        segments = _checked_segments(folder.parent, folder.name)
        with _reading(segments) as connection:
            counts = _counts(connection, segments)
            newest = [f"arg_max({c}, file_index) AS {c}" for c in ("probability", "opposes", "cut") if c in counts]
            query = f"SELECT pair, {', '.join(newest)} FROM {_STORED} GROUP BY pair"
            return connection.sql(query, params={"segments": segments}).to_arrow_table()

    def of_perspectives(self, source: str, texts: Sequence[str]) -> dict[str, tuple[str, float]]:
        """Return the perspective and P(supports) of every pair with one of these perspectives, by the pair's key.

        Labels of gold sources from before 0.5 name no perspective, and are not found.
        """
        pattern = self._folder(source, "*")
        segments = _checked_segments(pattern.parent, pattern.name)
        if not segments or not texts:
            return {}
        with _reading(segments) as connection:
            if "perspective" not in _counts(connection, segments):
                return {}
            connection.register("wanted", pa.table({"perspective": pa.array(sorted(set(texts)), pa.string())}))
            rows = connection.execute(
                "SELECT pair, any_value(perspective), arg_max(probability, file_index) "
                f"FROM {_STORED} SEMI JOIN wanted USING (perspective) GROUP BY pair",
                {"segments": segments},
            ).fetchall()
        return {pair: (text, float(probability)) for pair, text, probability in rows}

    def by_source(self, keys: Sequence[str]) -> list[tuple[str, str, str, float]]:
        """All stored labels of these pairs as (source, version, key, P), with the newest value per source and version.

        Sources and versions are the names of their folders.
        """
        segments = _checked_segments(self.folder, "*/*")
        newest: dict[tuple[str, str, str], float] = {}
        for place, value, segment in zip(*(c.tolist() for c in _found(segments, keys, "probability")), strict=True):
            source, version = Path(segments[segment]).parts[-3:-1]
            newest[source, version, keys[place]] = value
        return sorted((*of, value) for of, value in newest.items())

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


def _bits(keys: Sequence[str]) -> pa.Array:
    """The keys of 32 lower-case hexadecimal digits as numbers of 128 bits, uuid[n_keys]; null for any other key."""
    texts = pa.array(keys, pa.string())
    _, ends, digits = texts.buffers()
    numbers, missing = _number(digits or pa.py_buffer(b"")), None
    if numbers is None or (np.diff(np.frombuffer(ends, np.int32)[: len(keys) + 1]) != _DIGITS).any():
        each = [_number(pa.py_buffer(key.encode())) if len(key) == _DIGITS else None for key in keys]
        numbers = b"".join(number or bytes(_DIGITS // 2) for number in each)
        missing = pa.py_buffer(np.packbits([number is not None for number in each], bitorder="little"))
    column = pa.Array.from_buffers(pa.binary(_DIGITS // 2), len(keys), [missing, pa.py_buffer(numbers)])
    return pa.ExtensionArray.from_storage(pa.uuid(), column)


def _number(digits: pa.Buffer) -> bytes | None:
    """The bytes that lower-case hexadecimal digits stand for; None for any other text."""
    try:
        number = unhexlify(digits)
    except ValueError:
        return None
    return number if digits.equals(pa.py_buffer(hexlify(number))) else None  # `unhexlify` accepts capitals too


def _write(table: pa.Table, path: Path) -> None:
    """Numbers do not become smaller by compression or dictionaries, and are read faster without them."""
    texts = [name for name in table.column_names if pa.types.is_string(table.schema.field(name).type)]
    compression = {name: "zstd" if name in texts else "none" for name in table.column_names}
    pq.write_table(table, path, compression=compression, use_dictionary=[name for name in texts if name != "pair"])


def _found(segments: list[str], keys: Sequence[str], column: str) -> tuple[Places, Floats, Places]:
    """Every stored value of a column for these keys, older segments first: places of the keys, values, places of the segments.

    All three have the shape [n_values].
    """
    found: list[tuple[Places, Floats, Places]] = [
        (np.empty(0, np.int64), np.empty(0, np.float32), np.empty(0, np.int64))
    ]
    if segments and len(keys) > 0:
        with _reading(segments) as connection:
            counts = _counts(connection, segments)
            queries = {}
            if counts.get(_BITS):
                queries[_BITS] = "true"
            if counts.get(_BITS) != counts.get("pair"):
                queries["pair"] = f"stored.{_BITS} IS NULL" if _BITS in counts else "true"
            for by, condition in queries.items() if column in counts else ():
                names = _bits(keys) if by == _BITS else pa.array(keys, pa.string())
                connection.register("wanted", pa.table({by: names, "place": np.arange(len(keys))}))
                columns = connection.execute(
                    f"SELECT place, {column}, file_index FROM {_STORED} AS stored JOIN wanted USING ({by}) "
                    f"WHERE {column} IS NOT NULL AND {condition}",
                    {"segments": segments},
                ).fetchnumpy()
                place, value, segment = columns.values()
                found.append((np.asarray(place), np.asarray(value), np.asarray(segment, np.int64)))
    of = np.concatenate([segment for _, _, segment in found])
    order = np.argsort(of, kind="stable")
    places = np.concatenate([place for place, _, _ in found])
    return places[order], np.concatenate([value for _, value, _ in found])[order], of[order]


def _counts(connection: duckdb.DuckDBPyConnection, segments: list[str]) -> dict[str, int]:
    """How many values of all segments are not null, by column, from the segments' footers."""
    rows = connection.execute(
        "SELECT path_in_schema, sum(num_values - coalesce(stats_null_count, 0)) FROM parquet_metadata($segments) GROUP BY ALL",
        {"segments": segments},
    ).fetchall()
    return {str(column): int(count) for column, count in rows}


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
    except (duckdb.Error, UnicodeDecodeError) as error:  # the latter if a message quotes a damaged name
        damaged = next((Path(s) for s in segments if s in str(error)), Path(segments[-1]))
        raise segment_files(damaged).unreadable(damaged, error) from error
