"""Which files below a path are read, in which order, and their bytes: hashed, counted and decompressed on the way.

Which files can be read, and by what, as their names say.
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


_STEP = 1 << 20
_NUMBER = re.compile(r"(\d+)")


class InputFile:
    """A file to be read; `name` is its path below the folder that was given, `read` how many of its bytes were read."""

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
        """Its content from the start, decompressed; what is read is hashed on the way."""
        self._raw = _Hashing(self.path)
        self._stream = decompressed(
            io.BufferedReader(self._raw, _STEP), self.name
        )  # kept, since its end closes the file
        return self._stream

    def close(self) -> str:
        """Read what is left, and give the BLAKE2b-256 hash of the whole file (hex)."""
        raw = self._raw or _Hashing(self.path)
        while raw.read(_STEP):
            pass
        raw.close()
        self._raw = self._stream = None
        return raw.hash.hexdigest()


def input_files(path: Path) -> list[InputFile]:
    """The file, or the readable files below the folder, numbers in their names in order of size.

    Of a BEIR folder (a `corpus.jsonl` beside queries or judgments) only the corpus holds documents. Raises
    `BadInputError` where there is nothing that can be read.
    """
    if path.is_dir():
        found = [f for f in path.rglob("*") if f.is_file() and is_readable(f.name)]
        found = _without_questions(found)
        if not found:
            raise BadInputError("The folder holds no file that can be read.", where=path, hint=KNOWN)
        names = {f.relative_to(path).as_posix(): f for f in found}
        return [InputFile(names[name], name) for name in sorted(names, key=_natural)]
    if not path.exists():
        raise BadInputError("There is no such file.", where=path, hint="Check the path.")
    if not is_readable(path.name):
        raise BadInputError(f"Files ending in '{path.suffix}' cannot be read.", where=path, hint=KNOWN)
    return [InputFile(path, path.name)]


def decompressed(stream: IO[bytes], name: str) -> IO[bytes]:
    """A stream of what the name's last suffix says is compressed in it, or the stream itself."""
    suffix = PurePosixPath(name).suffix.lower()
    if suffix in (".gz", ".tgz"):
        return io.BufferedReader(gzip.GzipFile(fileobj=stream), _STEP)
    if suffix == ".bz2":
        return io.BufferedReader(bz2.BZ2File(stream), _STEP)
    if suffix == ".zst":
        return io.BufferedReader(pa.CompressedInputStream(pa.PythonFile(stream, "r"), "zstd"), _STEP)
    return stream


class _Hashing(io.RawIOBase):
    """A file that hashes and counts what is read of it."""

    def __init__(self, path: Path) -> None:
        self._file = path.open("rb", buffering=0)
        self.hash = hashlib.blake2b(digest_size=32)
        self.count = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        got = self._file.readinto(buffer) or 0
        self.hash.update(memoryview(buffer)[:got])
        self.count += got
        return got

    def close(self) -> None:
        self._file.close()
        super().close()


def _without_questions(files: list[Path]) -> list[Path]:
    """The files without what else stands in a BEIR folder: queries, judgments and notes are no documents."""
    others = {f.parent for f in files if _stem(f) == "queries"} | {
        f.parent.parent for f in files if f.parent.name == "qrels"
    }
    beir = {f.parent for f in files if _stem(f) == "corpus"} & others
    return [f for f in files if (f.parent in beir and _stem(f) == "corpus") or not beir.intersection(f.parents)]


def _stem(path: Path) -> str:
    return path.name.partition(".")[0]


def _natural(name: str) -> list[tuple[int, str]]:
    return [(int(part), "") if part.isdigit() else (-1, part) for part in _NUMBER.split(name)]
