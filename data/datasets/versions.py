"""Versions of a data set: the same questions with other perspectives.

A version is written once and never changed. Its manifest says what it was made from, which edits made it, whose they were,
and a hash of all that it holds. Question ids stay, so that a run of the data set can be measured under every version.
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
    """What a version is. `edits` are all that lie between the data set as it was added and this version, in their order."""

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
    """SHA-256 (64 hex digits) of ids, texts and perspectives in their order; the data set's name is no part of it."""
    digest = hashlib.sha256()
    for q in questions:
        row = [q.id, q.text, [list(p) for p in q.perspectives]]
        digest.update(json.dumps(row, ensure_ascii=True, separators=(",", ":")).encode() + b"\n")
    return digest.hexdigest()


def save_version(
    workspace: Workspace, dataset: str, questions: Sequence[Question], edits: Sequence[Mapping[str, Any]], made_by: str
) -> VersionManifest:
    """Write the next version; the newest one is its parent. Raises `BadInputError` where nothing would differ from that,
    or where the questions are others."""
    with locked(workspace.folder / "datasets" / f".{dataset}.versions.lock"):
        base = load_dataset(workspace, dataset)
        newest = version_numbers(workspace, dataset)[-1]
        parent = load_dataset(workspace, version_name(dataset, newest))
        if [(q.id, q.text) for q in questions] != [(q.id, q.text) for q in base]:
            raise BadInputError(
                f"The questions are not those of '{dataset}'.", hint="A version changes perspectives only."
            )
        if not differences(parent, questions):
            raise BadInputError(
                f"Nothing differs from {version_name(dataset, newest)}.", hint="Accept an edit first, or take one back."
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
            write_json(path.with_suffix(".json"), asdict(manifest))  # last: without it there is no version
            files.seal()
        return manifest


def list_versions(workspace: Workspace, dataset: str) -> list[VersionManifest]:
    """The versions after the first, oldest first; raises `UnknownNameError` where there is no such data set."""
    if dataset not in workspace.datasets():
        raise UnknownNameError("data set", dataset, workspace.datasets())
    return [_manifest(workspace, dataset, n) for n in version_numbers(workspace, dataset) if n > BASE]


def trouble(workspace: Workspace, manifest: VersionManifest) -> str:
    """What is wrong with a version: it is not as it was written, or its data set was replaced since. Empty: nothing."""
    try:
        written = questions_hash(load_dataset(workspace, manifest.name)) == manifest.hash
    except DamagedError:
        written = False
    if not written:
        return "not as it was written"
    if questions_hash(load_dataset(workspace, manifest.dataset)) != manifest.dataset_hash:
        return f"{manifest.dataset} was replaced since"
    return ""


def differences(before: Sequence[Question], after: Sequence[Question]) -> list[QuestionChange]:
    """The questions whose perspectives differ, in order; both must hold the same questions."""
    found = []
    for old, new in zip(before, after, strict=True):
        if set(old.perspectives) != set(new.perspectives):
            removed = tuple(p for p in old.perspectives if p not in new.perspectives)
            added = tuple(p for p in new.perspectives if p not in old.perspectives)
            found.append(QuestionChange(new, removed, added))
    return found


def parts_of_perspectives(workspace: Workspace) -> dict[str, list[tuple[str, ...]]]:
    """Texts that came of merging or rewording in any version, each with the texts it took the place of: those of each such
    edit, the newest first."""
    found: dict[str, list[tuple[str, ...]]] = {}
    for dataset in workspace.datasets():
        for manifest in list_versions(workspace, dataset):
            for edit in manifest.edits:
                if edit["action"] in ("merge", "reword"):
                    text, parts = edit["becomes"][0]["text"], tuple(p["text"] for p in edit["parts"])
                    found[text] = [parts, *(known for known in found.get(text, []) if known != parts)]
    return found


def _manifest(workspace: Workspace, dataset: str, number: int) -> VersionManifest:
    path = versions_folder(workspace, dataset) / f"{number}.json"
    files = dataset_files(path.with_suffix(".parquet"))
    files.check(lambda name: name == path.name)
    try:
        read = json.loads(path.read_text(encoding="utf-8"))
        return VersionManifest(**{**read, "edits": tuple(read["edits"])})
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise files.unreadable(path, error) from error
