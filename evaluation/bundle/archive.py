"""The zip file of a bundle, and the names and formats of its files. Equal files give equal bytes, and a hostile zip file is
rejected before its contents are read.
"""

import hashlib
import io
import json
import re
import stat
import zipfile
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from berdseye.data.errors import BadInputError
from berdseye.data.files.json_files import json_rows, text_lines
from berdseye.data.records import Perspective, Question

FORMAT = 3
OLD_FORMAT = 2
"""The format before judged@k was divided over the questions that count, and alpha_nDCG by an ideal that no system changes."""
MANIFEST = "manifest.json"
TIE_RULE = "score descending, then passage id descending"
LARGEST = 4 << 30
_MOST_FILES = 10_000
_HIGHEST_RATIO = 500
_SMALL = 32 << 20
_NAME = re.compile(r"manifest\.json|(tables|runs|labels|questions|passages|studies)(/[^/\\\x00-\x1f]{1,250}){1,2}")


def run_file(name: str) -> str:
    """Return the path of a run in the bundle."""
    return f"runs/{name}.run"


def labels_file(dataset: str, corpus: str, by: str = "") -> str:
    """Return the path of the labels of a data set and a corpus; `by` is 'people' for the labels that correct a detector,
    and 'detector-2' for those of a second corrected detector."""
    return f"labels/{dataset}--{corpus}{f'.{by}' if by else ''}.qrels"


def questions_file(dataset: str) -> str:
    """Return the path of the questions of a data set."""
    return f"questions/{dataset}.jsonl"


def hashes(files: Mapping[str, bytes]) -> dict[str, dict[str, Any]]:
    """Return the size and SHA-256 of each file."""
    return {
        name: {"bytes": len(files[name]), "sha256": hashlib.sha256(files[name]).hexdigest()} for name in sorted(files)
    }


def questions_jsonl(questions: Sequence[Question]) -> bytes:
    """Write questions with their perspectives as JSONL, in order."""
    rows = ({"id": q.id, "text": q.text, "perspectives": [p._asdict() for p in q.perspectives]} for q in questions)
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode("utf-8", "replace")


def read_questions(content: bytes, dataset: str, where: str) -> list[Question]:
    """Read the questions of `questions_jsonl`; raises `BadInputError` with file and line."""
    questions = []
    for line, row in json_rows(text_lines(content.decode("utf-8", "replace")), where):
        try:
            perspectives = tuple(Perspective(**p) for p in row["perspectives"])
            questions.append(Question(str(row["id"]), dataset, str(row["text"]), perspectives))
        except (TypeError, KeyError) as error:
            raise BadInputError(
                "This line is not a question.", where=where, line=line, hint="Get the bundle again."
            ) from error
    return questions


def zipped(files: Mapping[str, bytes]) -> bytes:
    """Zip files in the order of their names, without times or owners."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name in sorted(files):
            entry = zipfile.ZipInfo(name)  # dated 1 January 1980
            entry.compress_type, entry.create_system, entry.external_attr = zipfile.ZIP_DEFLATED, 3, 0o644 << 16
            archive.writestr(entry, files[name])
    return buffer.getvalue()


def unzipped(path: Path) -> dict[str, bytes]:
    """Read the files of a bundle into memory; nothing is written to disk.

    Raises `BadInputError` for a missing file, a file that is not a zip file or is damaged, for names outside the folders of a
    bundle, links, repeated or encrypted files, and for contents that are too large or have an excessive compression ratio.
    """
    if not path.is_file():
        raise BadInputError("The file does not exist.", where=path, hint="Check the path.")
    try:
        with zipfile.ZipFile(path) as archive:
            entries = archive.infolist()
            _check(entries, path)
            return {entry.filename: _read(archive, entry, path) for entry in entries}
    except (
        zipfile.BadZipFile, zlib.error, OSError, EOFError, NotImplementedError, RuntimeError, ValueError
    ) as error:  # fmt: skip
        raise BadInputError(
            f"The bundle cannot be unpacked: {error}.", where=path, hint="Get the bundle again."
        ) from error


def _check(entries: list[zipfile.ZipInfo], path: Path) -> None:
    wrong = ""
    names = [entry.filename for entry in entries]
    unpacked, packed = sum(e.file_size for e in entries), sum(e.compress_size for e in entries)
    if len(entries) > _MOST_FILES:
        wrong = f"it contains {len(entries):,} files"
    elif len(set(names)) < len(names):
        wrong = f"'{next(n for n in names if names.count(n) > 1)}' occurs twice"
    elif unpacked > LARGEST or packed > path.stat().st_size:
        wrong = f"it unpacks to {unpacked >> 20:,} MiB"
    elif unpacked > max(_SMALL, _HIGHEST_RATIO * packed):
        wrong = f"it unpacks to {unpacked // max(packed, 1):,} times its size"
    for entry in entries:
        mode = entry.external_attr >> 16
        if not _NAME.fullmatch(entry.filename) or {".", ".."} & set(entry.filename.split("/")):
            wrong = wrong or f"'{entry.filename[:80]!a}' does not belong in a bundle"
        elif entry.flag_bits & 1:
            wrong = wrong or f"'{entry.filename}' is encrypted"
        elif mode and not stat.S_ISREG(mode) and stat.S_IFMT(mode):
            wrong = wrong or f"'{entry.filename}' is not a regular file"
    if wrong:
        raise BadInputError(
            f"The bundle is rejected: {wrong}.", where=path, hint="Use a file written by `berdseye bundle`."
        )


def _read(archive: zipfile.ZipFile, entry: zipfile.ZipInfo, path: Path) -> bytes:
    with archive.open(entry) as file:
        content = file.read(entry.file_size + 1)
    if len(content) != entry.file_size:
        raise BadInputError(
            f"'{entry.filename}' does not have the size that the zip file states.",
            where=path,
            hint="Get the bundle again.",
        )
    return content
