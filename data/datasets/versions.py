"""Versions of a data set: its questions with edited perspectives.

A version is written once and never changes. Its manifest records its parent, the edits and their authors, and a hash of its
content. Question ids stay, so that a run on the data set can be measured with every version.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any, NamedTuple

from berdseye.data.datasets.stored import (
    BASE,
    dataset_files,
    load_dataset,
    version_file,
    version_name,
    version_numbers,
    versions_folder,
    write_questions,
)
from berdseye.data.errors import BadInputError, DamagedError, UnknownNameError
from berdseye.data.files.atomic import write_json
from berdseye.data.files.locks import locked
from berdseye.data.records import Perspective, Question
from berdseye.data.workspace import Workspace


@dataclass(frozen=True)
class VersionManifest:
    """The manifest of a version; `edits` are all edits from the data set as it was added to this version, in order."""

    name: str
    dataset: str
    number: int
    parent: str
    dataset_hash: str
    parent_hash: str
    hash: str
    at: str
    made_by: str
    edits: tuple[dict[str, Any], ...]


class QuestionChange(NamedTuple):
    """A question whose perspectives differ between two versions."""

    question: Question
    removed: tuple[Perspective, ...]
    added: tuple[Perspective, ...]


def questions_hash(questions: Sequence[Question]) -> str:
    """SHA-256 (64 hex digits) of ids, texts and perspectives in order; the name of the data set is not part of it."""
    digest = hashlib.sha256()
    for q in questions:
        row = [q.id, q.text, [list(p) for p in q.perspectives]]
        digest.update(json.dumps(row, ensure_ascii=True, separators=(",", ":")).encode() + b"\n")
    return digest.hexdigest()


def save_version(
    workspace: Workspace, dataset: str, questions: Sequence[Question], edits: Sequence[Mapping[str, Any]], made_by: str
) -> VersionManifest:
    """Write the next version, whose parent is the newest one.

    Raises `BadInputError` if nothing differs from the parent, or if ids or texts of questions differ from the data set's.
    """
    with locked(workspace.folder / "datasets" / f".{dataset}.versions.lock"):
        base = load_dataset(workspace, dataset)
        newest = version_numbers(workspace, dataset)[-1]
        parent = load_dataset(workspace, version_name(dataset, newest))
        if [(q.id, q.text) for q in questions] != [(q.id, q.text) for q in base]:
            raise BadInputError(
                f"The questions are not those of '{dataset}'.", hint="A version may change perspectives only."
            )
        if not differences(parent, questions):
            raise BadInputError(
                f"Nothing differs from {version_name(dataset, newest)}.", hint="Accept or withdraw an edit first."
            )
        number = newest + 1
        manifest = VersionManifest(
            version_name(dataset, number),
            dataset,
            number,
            version_name(dataset, newest),
            questions_hash(base),
            questions_hash(parent),
            questions_hash(questions),
            datetime.now(UTC).isoformat(timespec="seconds"),
            made_by,
            tuple(dict(edit) for edit in edits),
        )
        path = version_file(workspace, manifest.name)
        write_questions(path, dataset, questions)
        files = dataset_files(path)
        with files.writing():
            write_json(path.with_suffix(".json"), asdict(manifest))  # last: a version exists once it has a manifest
            files.seal()
        return manifest


def list_versions(workspace: Workspace, dataset: str) -> list[VersionManifest]:
    """The versions after the first, oldest first; raises `UnknownNameError` if the data set does not exist."""
    if dataset not in workspace.datasets():
        raise UnknownNameError("data set", dataset, workspace.datasets())
    return [_manifest(workspace, dataset, n) for n in version_numbers(workspace, dataset) if n > BASE]


def version_problem(workspace: Workspace, manifest: VersionManifest) -> str:
    """What is wrong with a version: its file has changed, or its data set was replaced; empty if nothing is wrong."""
    try:
        written = questions_hash(load_dataset(workspace, manifest.name)) == manifest.hash
    except DamagedError:
        written = False
    if not written:
        return "its file has changed since it was written"
    if questions_hash(load_dataset(workspace, manifest.dataset)) != manifest.dataset_hash:
        return f"{manifest.dataset} was replaced after this version was created"
    return ""


def differences(before: Sequence[Question], after: Sequence[Question]) -> list[QuestionChange]:
    """The questions whose perspectives differ, in order; both sequences must have the same questions."""
    changes = []
    for old, new in zip(before, after, strict=True):
        if set(old.perspectives) != set(new.perspectives):
            removed = tuple(p for p in old.perspectives if p not in new.perspectives)
            added = tuple(p for p in new.perspectives if p not in old.perspectives)
            changes.append(QuestionChange(new, removed, added))
    return changes


def parts_of_perspectives(workspace: Workspace) -> dict[str, list[tuple[str, ...]]]:
    """Texts created by merging or rewording in any version, each with the texts that it replaced, one tuple per edit.

    The newest edit of a version comes first.
    """
    parts_by_text: dict[str, list[tuple[str, ...]]] = {}
    for dataset in workspace.datasets():
        for manifest in list_versions(workspace, dataset):
            for edit in manifest.edits:
                if edit["action"] in ("merge", "reword"):
                    text, parts = edit["becomes"][0]["text"], tuple(p["text"] for p in edit["parts"])
                    parts_by_text[text] = [
                        parts,
                        *(earlier for earlier in parts_by_text.get(text, []) if earlier != parts),
                    ]
    return parts_by_text


def _manifest(workspace: Workspace, dataset: str, number: int) -> VersionManifest:
    path = versions_folder(workspace, dataset) / f"{number}.json"
    files = dataset_files(path.with_suffix(".parquet"))
    files.check(lambda name: name == path.name)
    try:
        read = json.loads(path.read_text(encoding="utf-8"))
        return VersionManifest(**{**read, "edits": tuple(read["edits"])})
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise files.unreadable(path, error) from error
