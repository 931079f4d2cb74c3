"""How passages lie on disk: Parquet files, each named by its first id, in row groups small enough to read one passage."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from berdseye.data.atomic import write_with
from berdseye.data.corpora.manifest import corpus_files

PART_ROWS = 50_000
GROUP_ROWS = 500
SCHEMA = pa.schema(
    [
        ("id", pa.int64()),
        ("source_id", pa.string()),
        ("title", pa.string()),
        ("text", pa.string()),
        ("url", pa.string()),
    ]
)
_REPEATED = ["title", "url"]


def part_path(folder: Path, first_id: int) -> Path:
    """Where the part that begins with this id belongs in a corpus folder."""
    return folder / "passages" / f"{first_id:012d}.parquet"


def write_part(path: Path, table: pa.Table) -> None:
    """Write a part. Its row groups are small, and only ids have statistics: those of texts would make opening it slow."""
    write_with(
        path,
        lambda temporary: pq.write_table(
            table,
            temporary,
            compression="zstd",
            row_group_size=GROUP_ROWS,
            use_dictionary=_REPEATED,
            write_statistics=["id"],
        ),
    )


@contextmanager
def reading(path: Path) -> Iterator[pq.ParquetFile]:
    """A part that is open for reading; raises `DamagedError` that names it where it cannot be read."""
    try:
        with pq.ParquetFile(path) as file:
            yield file
    except (OSError, pa.ArrowException, UnicodeDecodeError) as error:
        raise corpus_files(path.parents[1]).unreadable(path, error) from error


def list_parts(folder: Path) -> tuple[list[Path], list[int]]:
    """The parts of a corpus in order of id, and the first id of each."""
    parts = sorted((folder / "passages").glob("*.parquet"))
    if parts and not parts[0].stem.isdigit():
        return parts, _counted(parts)
    return parts, [int(p.stem) for p in parts]


def _counted(parts: Sequence[Path]) -> list[int]:
    """First ids of the parts of a corpus that an older version wrote, which numbered its parts one by one."""
    starts = [0]
    for part in parts:
        with reading(part) as file:
            starts.append(starts[-1] + file.metadata.num_rows)
    return starts[:-1]
