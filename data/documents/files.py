"""Input files: which files below a path are read, in which order, and by which reader, decided by their names.

The bytes of a file are decompressed, hashed and counted while it is read.
"""

import bz2
import gzip
import hashlib
import io
import re
from pathlib import Path, PurePosixPath
from typing import IO

import pyarrow as pa

from berdseye.data.documents.jsonl import read_jsonl
from berdseye.data.documents.records import Reader
from berdseye.data.documents.tables import read_csv, read_tsv
from berdseye.data.documents.whole_files import read_html, read_json, read_text
from berdseye.data.errors import BadInputError

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
    f"Supported files are {', '.join([*STREAMS, PARQUET])} and folders of them; all except Parquet may be compressed "
    f"({', '.join(COMPRESSED)}) or in a {' or '.join(_TAR)} archive."
)
_STEP = 1 << 20
_NUMBER = re.compile(r"(\d+)")


def reader_of(name: str) -> Reader | None:
    """The reader for a file of this name, compressed or not; None if there is none."""
    return STREAMS.get(_inner(name).suffix.lower())


def is_tar(name: str) -> bool:
    """Whether the name is that of a tar archive, compressed or not."""
    return _inner(name).suffix.lower() in _TAR


def is_readable(name: str) -> bool:
    """Whether a file of this name can be read; hidden files cannot."""
    if PurePosixPath(name).name.startswith("."):
        return False
    return name.lower().endswith(PARQUET) or is_tar(name) or reader_of(name) is not None


def _inner(name: str) -> PurePosixPath:
    path = PurePosixPath(name)
    return path.with_suffix("") if path.suffix.lower() in COMPRESSED else path


class InputFile:
    """A file to read; `name` is its path relative to the input folder, `read` the number of bytes read so far."""

    def __init__(self, path: Path, name: str) -> None:
        self.path, self.name = path, name
        stat = path.stat()
        self.size, self.modified = stat.st_size, stat.st_mtime_ns
        self._raw: _Hashing | None = None
        self._stream: IO[bytes] | None = None

    @property
    def read(self) -> int:
        return 0 if self._raw is None else self._raw.count

    def open(self) -> IO[bytes]:
        """Open the file at its start, decompressed; the bytes are hashed as they are read."""
        self._raw = _Hashing(self.path)
        self._stream = decompressed(
            io.BufferedReader(self._raw, _STEP), self.name
        )  # keep a reference: the file closes when the stream is garbage-collected
        return self._stream

    def close(self) -> str:
        """Read the rest of the file, close it, and return the BLAKE2b-256 hash of the whole file (hex)."""
        raw = self._raw or _Hashing(self.path)
        while raw.read(_STEP):
            pass
        raw.close()
        self._raw = self._stream = None
        return raw.hash.hexdigest()


def input_files(path: Path) -> list[InputFile]:
    """The file itself, or the readable files below the folder in natural order (numbers in names sort by value).

    In a BEIR folder (a `corpus.jsonl` beside queries or judgments), only the corpus holds documents. Raises `BadInputError`
    if there is no readable file.
    """
    if path.is_dir():
        paths = [f for f in path.rglob("*") if f.is_file() and is_readable(f.name)]
        paths = _without_beir_queries(paths)
        if not paths:
            raise BadInputError("The folder contains no supported file.", where=path, hint=KNOWN)
        names = {f.relative_to(path).as_posix(): f for f in paths}
        return [InputFile(names[name], name) for name in sorted(names, key=_natural)]
    if not path.exists():
        raise BadInputError("The file does not exist.", where=path, hint="Check the path.")
    if not is_readable(path.name):
        raise BadInputError(f"Files ending in '{path.suffix}' are not supported.", where=path, hint=KNOWN)
    return [InputFile(path, path.name)]


def decompressed(stream: IO[bytes], name: str) -> IO[bytes]:
    """The stream decompressed according to the last suffix of the name, or the stream itself if it is not compressed."""
    suffix = PurePosixPath(name).suffix.lower()
    if suffix in (".gz", ".tgz"):
        return io.BufferedReader(gzip.GzipFile(fileobj=stream), _STEP)
    if suffix == ".bz2":
        return io.BufferedReader(bz2.BZ2File(stream), _STEP)
    if suffix == ".zst":
        return io.BufferedReader(pa.CompressedInputStream(pa.PythonFile(stream, "r"), "zstd"), _STEP)
    return stream


class _Hashing(io.RawIOBase):
    """A raw file that hashes and counts the bytes read from it."""

    def __init__(self, path: Path) -> None:
        self._file = path.open("rb", buffering=0)
        self.hash = hashlib.blake2b(digest_size=32)
        self.count = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        size = self._file.readinto(buffer) or 0
        self.hash.update(memoryview(buffer)[:size])
        self.count += size
        return size

    def close(self) -> None:
        self._file.close()
        super().close()


def _without_beir_queries(files: list[Path]) -> list[Path]:
    """The files without the queries, judgments and notes of BEIR folders, which are not documents."""
    folders_with_queries = {f.parent for f in files if _stem(f) == "queries"} | {
        f.parent.parent for f in files if f.parent.name == "qrels"
    }
    beir = {f.parent for f in files if _stem(f) == "corpus"} & folders_with_queries
    return [f for f in files if (f.parent in beir and _stem(f) == "corpus") or not beir.intersection(f.parents)]


def _stem(path: Path) -> str:
    return path.name.partition(".")[0]


def _natural(name: str) -> list[tuple[int, str]]:
    return [(int(part), "") if part.isdigit() else (-1, part) for part in _NUMBER.split(name)]
