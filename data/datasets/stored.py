"""Which split a question belongs to, so that no question is trained on and tested on.

Names of data sets and of their versions: `debate` is a data set as it was added, `debate@2` its second version.

Data sets: questions with their perspectives, stored a Parquet file each.
"""

import hashlib
import re
import unicodedata
from collections.abc import Sequence
from contextlib import suppress
from itertools import islice
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from berdseye.data.datasets.layouts import Imported, read_dataset
from berdseye.data.errors import BadInputError, UnknownNameError
from berdseye.data.files.atomic import write_parquet
from berdseye.data.files.checksums import RECORD, FileSet
from berdseye.data.labels import LabelStore
from berdseye.data.records import Perspective, Question
from berdseye.data.workspace import Workspace

BASE = 1
_VERSIONED = re.compile(r"(.+)@([1-9][0-9]{0,5})")


def split_version(name: str) -> tuple[str, int]:
    """The data set that a name is of, and the number of the version: 1 for the data set as it was added."""
    found = _VERSIONED.fullmatch(name)
    return (found[1], int(found[2])) if found else (name, BASE)


def version_name(dataset: str, number: int) -> str:
    """The canonical name of a version; the first is the data set's own."""
    return dataset if number == BASE else f"{dataset}@{number}"


def versions_folder(workspace: Workspace, dataset: str) -> Path:
    """Where the versions after the first of a known data set are kept: out of sight of whatever goes over all data sets."""
    return workspace.folder / "datasets" / "versions" / dataset


def version_file(workspace: Workspace, name: str) -> Path:
    """The Parquet file of a data set or of a version of it."""
    dataset, number = split_version(name)
    if number == BASE:
        return workspace.dataset_file(dataset)
    return versions_folder(workspace, dataset) / f"{number}.parquet"


def version_numbers(workspace: Workspace, dataset: str) -> list[int]:
    """The versions there are, ascending from 1; one without its manifest was not finished, and is none."""
    found = (p.stem for p in versions_folder(workspace, dataset).glob("[1-9]*.json"))
    return [BASE, *sorted(int(stem) for stem in found if stem.isdecimal())]


def dataset_names(workspace: Workspace) -> list[str]:
    """Every data set by name, each followed by its versions."""
    return [version_name(d, n) for d in workspace.datasets() for n in version_numbers(workspace, d)]


GOLD = "gold"
_PERSPECTIVES = pa.list_(pa.struct([(name, pa.string()) for name in Perspective._fields]))
_SCHEMA = pa.schema(
    [("id", pa.string()), ("dataset", pa.string()), ("text", pa.string()), ("perspectives", _PERSPECTIVES)]
)


def save_dataset(workspace: Workspace, name: str, questions: Sequence[Question]) -> None:
    """Write a data set, in place of one of the same name; ids must be unique, questions must say something."""
    write_questions(workspace.dataset_file(name), name, questions)


def write_questions(path: Path, name: str, questions: Sequence[Question]) -> None:
    """Write the file of a data set, or of a version of the data set `name`."""
    seen: set[str] = set()
    for question in questions:
        if question.id in seen:
            raise BadInputError(f"Two questions have the id '{question.id}'.", hint="Give each its own id.")
        seen.add(question.id)
        if not question.text.strip():
            raise BadInputError(f"Question '{question.id}' is empty.", hint="Give it a text or leave it out.")
    columns = {
        "id": [q.id for q in questions],
        "dataset": [name for _ in questions],
        "text": [q.text for q in questions],
        "perspectives": [[p._asdict() for p in q.perspectives] for q in questions],
    }
    files = dataset_files(path)
    with files.writing():
        write_parquet(path, pa.table(columns, schema=_SCHEMA))
        files.seal()


def dataset_files(path: Path) -> FileSet:
    """The file of a data set, or of a version of one; what a version is made from stands in its manifest."""
    if path.parent.parent.name == "versions":
        rebuild = (
            f"Restore version {path.stem} of '{path.parent.name}' from a backup: `berdseye restore BACKUP FOLDER`."
        )
    else:
        rebuild = f"Add the data set again from its source: `berdseye dataset add {path.stem} FILE --replace`."
    return FileSet(path.with_suffix(RECORD), (path.name, f"{path.stem}.json"), lambda: rebuild)


def load_dataset(workspace: Workspace, name: str) -> list[Question]:
    """The questions of a data set, or of a version of it (`NAME@2`), in order; raises `UnknownNameError` with the nearest
    names, and `DamagedError` where its file is damaged. A question of a version names the data set itself, since what people
    say of its pairs is kept for both."""
    name, known = version_name(*split_version(name)), dataset_names(workspace)
    if name not in known:
        with suppress(BadInputError):  # no name of a data set
            dataset_files(version_file(workspace, name)).check()  # one whose file is gone is damaged, not unknown
        raise UnknownNameError("data set", name, known)
    path = version_file(workspace, name)
    files = dataset_files(path)
    files.check()
    try:
        table = pq.read_table(path).select(_SCHEMA.names).combine_chunks()
        ids, datasets, texts = (table.column(c).to_pylist() for c in ("id", "dataset", "text"))
        held = table.column("perspectives").combine_chunks()
        sizes = np.diff(held.offsets.to_numpy())
        flat = iter(zip(*(held.flatten().field(c).to_pylist() for c in Perspective._fields), strict=True))
    except (OSError, ValueError, KeyError, AttributeError, TypeError) as error:
        raise files.unreadable(path, error) from error
    return [
        Question(question, named, text, tuple(Perspective(*said) for said in islice(flat, size)))
        for question, named, text, size in zip(ids, datasets, texts, sizes.tolist(), strict=True)
    ]


def import_dataset(workspace: Workspace, name: str, source: Path) -> Imported:
    """Read a file in any of the known layouts and add it as a data set, with its gold labels where it has them."""
    imported = read_dataset(source)
    keep_imported(workspace, name, imported)
    return imported


def keep_imported(workspace: Workspace, name: str, imported: Imported) -> None:
    """Add what was read as a data set, with its gold labels."""
    save_dataset(workspace, name, imported.questions)
    if imported.gold:
        store = LabelStore(workspace)
        store.put(GOLD, name, [pair.key for pair in imported.gold], [float(v) for v in imported.gold.values()])


SPLITS = ("train", "dev", "test")
_LIMITS = (0.8, 0.9, 1.0)


def split_of(question: str) -> str:
    """'train', 'dev' or 'test' (80/10/10) by a hash of the question's text, whatever its case, spacing and Unicode form."""
    draw = int.from_bytes(hashlib.blake2b(same_question(question).encode(), digest_size=8).digest()) / 2**64
    return next(name for name, limit in zip(SPLITS, _LIMITS, strict=True) if draw < limit)


def same_question(question: str) -> str:
    """A text that is equal for all writings of a question: case, spacing and Unicode form do not count."""
    return " ".join(unicodedata.normalize("NFC", question).casefold().split())
