"""The second pass of adding a corpus: drop rows that repeat a document id or a text, assign ids, and compute the hash.

DuckDB compares the keys and sorts on disk what does not fit into memory, so memory does not limit the size of a corpus.
"""

from collections.abc import Iterator
from hashlib import blake2b
from pathlib import Path
from typing import Literal

import duckdb
import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from berdseye.data.corpora.corpus import part_path, write_part
from berdseye.data.corpora.loading import Loading
from berdseye.data.documents import BadRow
from berdseye.data.errors import StaleError
from berdseye.data.files.atomic import write_with
from berdseye.data.progress import Progress
from berdseye.data.texts.near_duplicates import NearDuplicates, without_first

Reason = Literal["id", "text", "near"]
_MEMORY = "512MB"
_SCHEMA = pa.schema([("row", pa.int64()), ("reason", pa.string())])
_REPEATED_IDS = """
    CREATE TEMP TABLE again AS
    SELECT document, first FROM read_parquet($documents) JOIN (
        SELECT high, low, min(document) AS first FROM read_parquet($documents) GROUP BY high, low HAVING count(*) > 1
    ) USING (high, low) WHERE document > first
"""
_REPEATED_DOCUMENTS = """
    SELECT later.id, later.line, later.file, earlier.line, earlier.file
    FROM again JOIN read_parquet($documents) AS later USING (document)
    JOIN read_parquet($documents) AS earlier ON earlier.document = again.first
    ORDER BY document
"""
_REPEATED = """
    WITH kept AS (SELECT row, high, low FROM read_parquet($keys) ANTI JOIN again USING (document)),
    repeated AS (SELECT high, low, min(row) AS first FROM kept GROUP BY high, low HAVING count(*) > 1)
    SELECT row, 'text' AS reason FROM kept JOIN repeated USING (high, low) WHERE row > first
    UNION ALL SELECT row, 'id' AS reason FROM read_parquet($keys) SEMI JOIN again USING (document)
    ORDER BY row
"""


def repeated_id(source_id: str, line: int, file: str, first_line: int, first_file: str) -> BadRow:
    """Return the report of a document whose id an earlier document has."""
    where = "" if file == first_file else f" of {first_file}"
    return BadRow(source_id, line, f"line {first_line}{where} already has this id; ids must be unique")


class Finalising:
    """Drops and numbers the rows of a load whose source has been read to its end."""

    def __init__(self, loading: Loading) -> None:
        self.loading = loading
        self._duckdb = duckdb.connect(config={"memory_limit": _MEMORY, "temp_directory": str(loading.folder / "spill")})
        self._documents, self._keys = (sorted(map(str, f.iterdir())) for f in (loading.documents, loading.keys))
        if self._documents:
            self._duckdb.execute(_REPEATED_IDS, {"documents": self._documents})

    def __enter__(self) -> "Finalising":
        return self

    def __exit__(self, *_: object) -> None:
        self._duckdb.close()

    def repeated_ids(self) -> Iterator[BadRow]:
        """Yield the documents that repeat an earlier id, in order."""
        if not self._documents:
            return
        result = self._duckdb.execute(_REPEATED_DOCUMENTS, {"documents": self._documents})
        while row := result.fetchone():
            yield repeated_id(*row)

    def find_dropped(self, near: NearDuplicates | None) -> None:
        """Write down which rows to drop and why.

        These are rows of documents that repeat an earlier id, rows that repeat an earlier title and text, and, if `near` is
        given, rows that are near-duplicates of another remaining row.
        """
        path = self.loading.dropped
        if path.exists():
            return
        repeated = self._duckdb.sql(_REPEATED, params={"keys": self._keys}).to_arrow_reader(100_000)
        if near is None:
            _write_rows(path, repeated)
            return
        exact = path.with_suffix(".exact")
        _write_rows(exact, repeated)
        rows = list(without_first(near.groups(lambda: self._texts_left(exact))))
        nearly = pa.table({"row": rows, "reason": ["near"] * len(rows)}, schema=_SCHEMA)
        _write_rows(path, pa.concat_tables([pq.read_table(exact), nearly]).sort_by("row").to_reader())

    def count_dropped(self, reason: Reason) -> int:
        """The number of rows dropped for this reason."""
        query = "SELECT count(*) FROM read_parquet($path) WHERE reason = $reason"
        return int(self._duckdb.execute(query, {"path": str(self.loading.dropped), "reason": reason}).fetchall()[0][0])

    def place(self, folder: Path, progress: Progress) -> tuple[int, str]:
        """Number the remaining rows and move them into the parts of `folder`; returns their count and hash.

        A part without a dropped row in it or before it is only renamed. An interrupted call can be repeated.
        """
        digest, before = blake2b(digest_size=16), 0
        (folder / "passages").mkdir(parents=True, exist_ok=True)
        for half_written in (folder / "passages").glob(".*.tmp"):
            half_written.unlink()
        total = sum(pq.read_metadata(path).num_rows for path in self._keys)
        for path in map(Path, self._keys):
            keys = pq.read_table(path, columns=["row", "high", "low"])
            first = int(path.stem)
            kept = self._kept(self.loading.dropped, first, keys.num_rows)
            both = np.stack([keys.column("high").to_numpy(), keys.column("low").to_numpy()], axis=1)
            digest.update(both[kept].tobytes())
            _place_part(self.loading.rows / path.name, part_path(folder, first - before), kept, first - before)
            before += int((~kept).sum())
            progress(first + keys.num_rows, "passages put in place", total)
        return total - before, digest.hexdigest()

    def _texts_left(self, dropped: Path) -> Iterator[tuple[list[int], list[str]]]:
        for path in sorted(self.loading.rows.iterdir()):
            table = pq.read_table(path, columns=["id", "text"])
            kept = self._kept(dropped, int(path.stem), table.num_rows)
            left = table.filter(pa.array(kept))
            yield left.column("id").to_pylist(), left.column("text").to_pylist()

    def _kept(self, dropped: Path, first: int, count: int) -> npt.NDArray[np.bool_]:
        """Which of `count` rows from `first` on are not dropped, bool[count]."""
        query = "SELECT row - $first AS place FROM read_parquet($path) WHERE row >= $first AND row < $end"
        parameters = {"path": str(dropped), "first": first, "end": first + count}
        kept = np.ones(count, bool)
        kept[np.asarray(self._duckdb.execute(query, parameters).fetchnumpy()["place"], np.int64)] = False
        return kept


def _place_part(rows: Path, part: Path, kept: npt.NDArray[np.bool_], first_id: int) -> None:
    if not rows.exists():
        if kept.any() and not part.exists():
            raise StaleError("The unfinished load is damaged.", where=rows.parent, hint="Start again with --restart.")
        return
    if kept.all() and int(rows.stem) == first_id:
        rows.replace(part)
        return
    if kept.any():
        table = pq.read_table(rows).filter(pa.array(kept))
        ids = pa.array(np.arange(first_id, first_id + table.num_rows))
        write_part(part, table.set_column(0, "id", ids))
    rows.unlink()


def _write_rows(path: Path, rows: pa.RecordBatchReader) -> None:
    def write(temporary: Path) -> None:
        with pq.ParquetWriter(temporary, _SCHEMA) as writer:
            for batch in rows:
                writer.write_batch(batch.cast(_SCHEMA))

    write_with(path, write)
