"""Which files can be read, and by what, as their names say."""

from pathlib import PurePosixPath

from berdseye.data.documents.jsonl import read_jsonl
from berdseye.data.documents.records import Reader
from berdseye.data.documents.tables import read_csv, read_tsv
from berdseye.data.documents.whole_files import read_html, read_json, read_text

COMPRESSED = (".gz", ".bz2", ".zst")
PARQUET = ".parquet"
_TAR = (".tar", ".tgz")
STREAMS: dict[str, Reader] = {
    ".jsonl": read_jsonl,
    ".ndjson": read_jsonl,
    ".json": read_json,
    ".csv": read_csv,
    ".tsv": read_tsv,
    ".html": read_html,
    ".htm": read_html,
    ".txt": read_text,
    ".md": read_text,
}
KNOWN = (
    f"Readable are {', '.join([*STREAMS, PARQUET])}, all but Parquet also compressed ({', '.join(COMPRESSED)}) or in a "
    f"{' or '.join(_TAR)} archive, and folders of these."
)


def reader_of(name: str) -> Reader | None:
    """What reads a stream of this name, compressed or not."""
    return STREAMS.get(_inner(name).suffix.lower())


def is_tar(name: str) -> bool:
    """Whether this names a tar archive, compressed or not."""
    return _inner(name).suffix.lower() in _TAR


def is_readable(name: str) -> bool:
    """Whether a file of this name can be read; hidden files cannot."""
    if PurePosixPath(name).name.startswith("."):
        return False
    return name.lower().endswith(PARQUET) or is_tar(name) or reader_of(name) is not None


def _inner(name: str) -> PurePosixPath:
    path = PurePosixPath(name)
    return path.with_suffix("") if path.suffix.lower() in COMPRESSED else path
