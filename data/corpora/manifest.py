"""The manifest of a corpus: what it contains, and the source and options it was built from."""

import json
from dataclasses import asdict, dataclass, field, fields
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Literal, NamedTuple

from berdseye.data.files.atomic import write_json
from berdseye.data.files.checksums import RECORD, FileSet

Kind = Literal["passages", "pages", "web"]
MANIFEST = "manifest.json"


class SourceFile(NamedTuple):
    """A source file: its path relative to the source, its size in bytes, and the BLAKE2b-256 hash of its content."""

    path: str
    size: int
    blake2b: str


@dataclass(frozen=True)
class Manifest:
    """What a corpus contains, and the source and options it was built from; `hash` changes whenever a passage does.

    `bad_rows` and `sources` list the first thousand skipped rows and source files, `left_out` and `source_files` count all
    of them; `near_duplicates` counts the passages dropped as near-duplicates of another; `web` holds the settings of a
    corpus of the web.
    """

    name: str
    kind: Kind
    count: int
    documents: int
    duplicates_merged: int
    hash: str
    source: str
    created: str
    bad_rows: list[str] = field(default_factory=list)
    left_out: int = 0
    near_duplicates: int = 0
    chunker: str = "words(100)"
    format: str = ""
    berdseye: str = ""
    sources: list[SourceFile] = field(default_factory=list)
    source_files: int = 0
    source_bytes: int = 0
    web: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def read(cls, folder: Path) -> "Manifest":
        """Read the manifest of a corpus folder, written by this version or an older one; raises `DamagedError`."""
        path = folder / MANIFEST
        try:
            stored: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
            field_names = {f.name for f in fields(cls)}
            stored = {key: value for key, value in stored.items() if key in field_names}
            return cls(**stored | {"sources": [SourceFile(**s) for s in stored.get("sources", [])]})
        except (OSError, ValueError, TypeError, AttributeError) as error:
            raise corpus_files(folder).unreadable(path, error) from error

    def write(self, folder: Path) -> None:
        """Write the manifest into the corpus folder."""
        write_json(folder / MANIFEST, self.to_dict())

    def to_dict(self) -> dict[str, Any]:
        """The fields as a JSON object."""
        return asdict(self) | {"sources": [s._asdict() for s in self.sources]}


def corpus_files(folder: Path) -> FileSet:
    """The files of a corpus, without its indexes and without the pages of a corpus of the web, whose number grows."""
    return FileSet(
        folder / f"corpus{RECORD}",
        (MANIFEST, "passages/*.parquet", "left_out.txt", "sources.jsonl"),
        lambda: f"Add the corpus again from its source: `berdseye corpus add {folder.name} SOURCE --replace`.",
        folder.parent / f".{folder.name}.lock",
    )


def is_complete(folder: Path) -> bool:
    """Whether a complete corpus is in this folder."""
    return (folder / MANIFEST).exists()


@cache
def berdseye_version() -> str:
    """The version of Berdseye, which is stored in manifests."""
    try:
        return version("berdseye")
    except PackageNotFoundError:
        return "from source"
