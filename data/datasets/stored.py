"""Stored data sets: questions with their perspectives, one Parquet file per data set or version.

`debate` names a data set as it was added, `debate@2` its second version. `split_of` assigns a question to train, dev or
test by its text, so that no question is both trained and tested on.
"""

import hashlib
import re
import shutil
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
GOLD = "gold"
SPLITS = ("train", "dev", "test")
_LIMITS = (0.8, 0.9, 1.0)
_VERSIONED = re.compile(r"(.+)@([1-9][0-9]{0,5})")
_PERSPECTIVES = pa.list_(pa.struct([(name, pa.string()) for name in Perspective._fields]))
_SCHEMA = pa.schema(
    [("id", pa.string()), ("dataset", pa.string()), ("text", pa.string()), ("perspectives", _PERSPECTIVES)]
)


def split_version(name: str) -> tuple[str, int]:
    """The data set in a name, and the number of the version: 1 for the data set as it was added."""
    match = _VERSIONED.fullmatch(name)
    return (match[1], int(match[2])) if match else (name, BASE)


def version_name(dataset: str, number: int) -> str:
    """The canonical name of a version; that of the first version is the name of the data set."""
    return dataset if number == BASE else f"{dataset}@{number}"


def versions_folder(workspace: Workspace, dataset: str) -> Path:
    """The folder of all versions after the first of an existing data set, apart from the files of data sets."""
    return workspace.folder / "datasets" / "versions" / dataset


def version_file(workspace: Workspace, name: str) -> Path:
    """The Parquet file of a data set or of a version of it."""
    dataset, number = split_version(name)
    if number == BASE:
        return workspace.dataset_file(dataset)
    return versions_folder(workspace, dataset) / f"{number}.parquet"


def version_numbers(workspace: Workspace, dataset: str) -> list[int]:
    """The numbers of all versions, ascending from 1; a version without a manifest was not finished and does not count."""
    stems = (p.stem for p in versions_folder(workspace, dataset).glob("[1-9]*.json"))
    return [BASE, *sorted(int(stem) for stem in stems if stem.isdecimal())]


def dataset_names(workspace: Workspace) -> list[str]:
    """The names of all data sets, each followed by those of its versions."""
    return [version_name(d, n) for d in workspace.datasets() for n in version_numbers(workspace, d)]


def save_dataset(workspace: Workspace, name: str, questions: Sequence[Question]) -> None:
    """Write a data set, replacing one of this name; raises `BadInputError` for repeated ids and empty questions."""
    write_questions(workspace.dataset_file(name), name, questions)


def write_questions(path: Path, name: str, questions: Sequence[Question]) -> None:
    """Write the file of data set `name` or of a version of it; raises `BadInputError` for repeated ids, empty questions."""
    seen: set[str] = set()
    for question in questions:
        if question.id in seen:
            raise BadInputError(f"Two questions have the id '{question.id}'.", hint="Use unique ids.")
        seen.add(question.id)
        if not question.text.strip():
            raise BadInputError(f"Question '{question.id}' has no text.", hint="Add a text or remove the question.")
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
    """The files of a data set, or of a version with its manifest."""
    if path.parent.parent.name == "versions":
        rebuild = (
            f"Restore version {path.stem} of '{path.parent.name}' from a backup: `berdseye restore BACKUP FOLDER`."
        )
    else:
        rebuild = f"Add the data set again from its source: `berdseye dataset add {path.stem} FILE --replace`."
    return FileSet(path.with_suffix(RECORD), (path.name, f"{path.stem}.json"), lambda: rebuild)


def load_dataset(workspace: Workspace, name: str) -> list[Question]:
    """The questions of a data set, or of a version of it (`NAME@2`), in order.

    The field `dataset` of a version's question is the data set itself, since judgments are kept for both. Raises
    `UnknownNameError` with the closest names, `DamagedError` if the file is damaged.
    """
    name, names = version_name(*split_version(name)), dataset_names(workspace)
    if name not in names:
        with suppress(BadInputError):  # not a valid name of a data set
            dataset_files(
                version_file(workspace, name)
            ).check()  # a data set whose file is gone is damaged, not unknown
        raise UnknownNameError("data set", name, names)
    path = version_file(workspace, name)
    files = dataset_files(path)
    files.check()
    try:
        table = pq.read_table(path).select(_SCHEMA.names).combine_chunks()
        ids, datasets, texts = (table.column(c).to_pylist() for c in ("id", "dataset", "text"))
        column = table.column("perspectives").combine_chunks()
        sizes = np.diff(column.offsets.to_numpy())
        flat = iter(zip(*(column.flatten().field(c).to_pylist() for c in Perspective._fields), strict=True))
    except (OSError, ValueError, KeyError, AttributeError, TypeError) as error:
        raise files.unreadable(path, error) from error
    return [
        Question(question, dataset, text, tuple(Perspective(*fields) for fields in islice(flat, size)))
        for question, dataset, text, size in zip(ids, datasets, texts, sizes.tolist(), strict=True)
    ]


def import_dataset(workspace: Workspace, name: str, source: Path) -> Imported:
    """Read a file in any known layout and add it as a data set, with its gold labels if it has any."""
    imported = read_dataset(source)
    keep_imported(workspace, name, imported)
    return imported


def keep_imported(workspace: Workspace, name: str, imported: Imported) -> None:
    """Add imported questions as a data set, with their gold labels if there are any."""
    save_dataset(workspace, name, imported.questions)
    if imported.gold:
        pairs, values = list(imported.gold), [float(v) for v in imported.gold.values()]
        texts = [pair.perspective for pair in pairs]
        LabelStore(workspace).put(GOLD, name, [pair.key for pair in pairs], values, perspectives=texts)


def remove_dataset(workspace: Workspace, name: str) -> None:
    """Delete a data set and its versions. Runs, gold labels and judgments of its pairs stay. Raises `UnknownNameError`."""
    if name not in workspace.datasets():
        raise UnknownNameError("data set", name, workspace.datasets())
    path = workspace.dataset_file(name)
    dataset_files(path).record.unlink(missing_ok=True)  # first: a record without its file means damage
    path.unlink()
    shutil.rmtree(versions_folder(workspace, name), ignore_errors=True)


def split_of(question: str) -> str:
    """'train', 'dev' or 'test' (80/10/10) by a hash of the question's text, independent of case, spacing, Unicode form."""
    draw = int.from_bytes(hashlib.blake2b(same_question(question).encode(), digest_size=8).digest()) / 2**64
    return next(name for name, limit in zip(SPLITS, _LIMITS, strict=True) if draw < limit)


def split_unit(question: str, perspective: str) -> str:
    """What is never in two splits: the question of a pair in its normal form, or the perspective of a pair without a question."""
    return same_question(question or perspective)


def same_question(question: str) -> str:
    """The question in a normal form, in which case, spacing and Unicode form make no difference."""
    return " ".join(unicodedata.normalize("NFC", question).casefold().split())
