"""Labels of pairs by detectors (and gold labels): append-only Parquet segments, shared by every page and command."""

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
    """P(supports) by pair key, for each detector (or source of gold labels) and each of its versions.

    Reading raises `DamagedError` where a segment of what is read is damaged or missing.
    """

    def __init__(self, workspace: Workspace) -> None:
        self.folder = workspace.labels_folder

    def put(self, source: str, version: str, keys: Sequence[str], probabilities: Sequence[float]) -> None:
        """Append labels; a key that is stored already is answered with the newer value."""
        if len(keys) == 0:
            return
        table = pa.table(
            {
                "pair": pa.array(keys, pa.string()),
                "probability": pa.array(np.asarray(probabilities, np.float32)),
            }
        )
        segment = self._folder(source, version) / f"{self._next(source, version):08d}-{uuid4().hex[:8]}.parquet"
        write_parquet(segment, table)
        segment_files(segment).seal()

    def get(self, source: str, keys: Sequence[str], version: str | None = None) -> npt.NDArray[np.float32]:
        """P of each key, float32[n_keys]; NaN where there is none. `version` None reads every version."""
        found = np.full(len(keys), np.nan, dtype=np.float32)
        pattern = self._folder(source, version if version is not None else "*")
        segments = _sound(pattern.parent, pattern.name)
        if not segments or not keys:
            return found
        asked = pa.table({"pair": pa.array(keys, pa.string()), "place": pa.array(np.arange(len(keys)))})
        with _reading(segments) as connection:
            connection.register("asked", asked)
            result = connection.execute(
                """
                SELECT asked.place, stored.probability
                FROM read_parquet($segments, filename = true) stored JOIN asked USING (pair) ORDER BY stored.filename
                """,
                {"segments": segments},
            ).fetchnumpy()
        places, values = result.values()
        found[np.asarray(places)] = np.asarray(values)  # of several values for a place the last stays
        return found

    def held(self, keys: Sequence[str]) -> list[tuple[str, str, str, float]]:
        """Everything that is stored of some pairs: (source, version, key, P), the newest value of each source and version.

        Sources and versions go by the names of their folders.
        """
        segments = _sound(self.folder, "*/*")
        if not segments or not keys:
            return []
        with _reading(segments) as connection:
            found = connection.execute(
                """
                SELECT parse_path(filename)[-3] AS source, parse_path(filename)[-2] AS version, pair,
                       arg_max(probability, filename)
                FROM read_parquet($segments, filename = true) WHERE pair IN (SELECT unnest($keys))
                GROUP BY ALL ORDER BY ALL
                """,
                {"segments": segments, "keys": list(keys)},
            ).fetchall()
        return [(source, version, pair, float(p)) for source, version, pair, p in found]

    def state(self, source: str) -> str:
        """12 hex digits that change whenever labels of the source are stored."""
        names = sorted(f"{p.parent.name}/{p.name}" for p in self._folder(source, "*").parent.glob("*/*.parquet"))
        return hashlib.blake2b("\n".join(names).encode(), digest_size=6).hexdigest()

    def sources(self) -> list[str]:
        """Names of the folders labels are kept under."""
        return sorted(p.name for p in self.folder.glob("*") if any(p.rglob("*.parquet")))

    def _folder(self, source: str, version: str) -> Path:
        return self.folder / file_stem(source) / (version if version == "*" else file_stem(version))

    def _next(self, source: str, version: str) -> int:
        return sum(1 for _ in self._folder(source, version).glob("*.parquet"))


def segment_files(segment: Path) -> FileSet:
    """A segment of labels. It is written once under a name of its own, and its record after it: one without was cut off
    between the two, or is older, and is whole nevertheless."""
    source, version = segment.parts[-3], segment.parts[-2]
    if source == _GOLD:
        how = f"add the gold labels again: `berdseye dataset add {version} FILE --replace`."
    else:
        how = f"compute its labels again: `berdseye evaluate --run RUN --labels {shlex.quote(source)}`."
    cure = f"Delete {segment.stem}.* there, and {how}"
    return FileSet(segment.with_suffix(RECORD), (segment.name,), lambda: cure)


def _sound(folder: Path, pattern: str) -> list[str]:
    """The segments of the folders that match, in order, each as it was written."""
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
        bad = next((Path(s) for s in segments if s in str(error)), Path(segments[-1]))
        raise segment_files(bad).unreadable(bad, error) from error
