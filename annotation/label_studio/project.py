"""Projects of Label Studio: the one that holds the tasks of a workspace, and those made for batches.

Names for what an exchange makes, so that making it twice makes it once.
"""

import re
from typing import Any, NamedTuple
from uuid import NAMESPACE_URL, UUID, uuid5

from berdseye.annotation.label_studio.connection import Connection
from berdseye.annotation.label_studio.form import GUIDELINE, validated
from berdseye.annotation.label_studio.sdk import ApiError
from berdseye.data.errors import BadInputError, UnknownNameError
from berdseye.data.workspace import Workspace

_ROOT = uuid5(NAMESPACE_URL, "https://berdseye.local/label-studio")


def event_uid(project: str, kind: str, *parts: object) -> str:
    """The uid of an event that something in Label Studio gave rise to."""
    return str(_name(project, kind, *parts))


def annotation_uid(project: str, event: str, task: int) -> str:
    """The `unique_id` of the annotation that an event of ours becomes; a repeat is answered with 409."""
    return str(_name(project, "annotation", event, task))


def _name(*parts: object) -> UUID:
    # Parts are fenced: ("a", "bc") and ("ab", "c") are different names.
    return uuid5(_ROOT, "\x1f".join(str(part) for part in parts))


_NOT_FOUND = 404
_GUIDELINES = re.compile(r"Guidelines: version ([0-9a-f]{1,16})\b")


class Project(NamedTuple):
    """A project; `key` is what our own tables call it, `guidelines` the version of the text that it shows."""

    id: int
    title: str
    key: str
    config: str
    model_version: str
    guidelines: str | None = None


def find_or_create(connection: Connection, title: str) -> Project:
    """The project of this title, the oldest where several bear it, made when there is none."""
    if not 3 <= len(title) <= 50:
        raise BadInputError(
            f"'{title}' cannot be the title of a project.",
            hint="Label Studio wants between 3 and 50 characters.",
        )
    with connection.exclusively():
        same = [p.id for p in connection.client.projects.list(title=title, page_size=100) if p.title == title]
        if same:
            return _read(connection, min(same))
        return make_project(
            connection,
            title=title,
            description="Made and kept in agreement by Berdseye.",
            expert_instruction=GUIDELINE,
            label_config=validated("judge"),
        )


def make_project(connection: Connection, **fields: Any) -> Project:
    """A new project with these fields of Label Studio's; raises `BadInputError` for an interface that it does not take."""
    return _read(connection, connection.client.projects.create(**fields).id)


def described(connection: Connection, title: str, mark: str) -> Project | None:
    """The oldest project of this title whose description holds this mark."""
    found = connection.client.projects.list(title=title, page_size=100)
    same = [p.id for p in found if p.title == title and mark in (p.description or "")]
    return _read(connection, min(same)) if same else None


def project_by_key(connection: Connection, key: str) -> Project | None:
    """The project of this key, None where this server has it no more (its id may be another's)."""
    number = key.partition("@")[0]
    try:
        found = _read(connection, int(number))
    except (UnknownNameError, ValueError):
        return None
    return found if found.key == key else None


def workspace_project(connection: Connection, workspace: Workspace) -> Project:
    """The project that the settings name."""
    return find_or_create(connection, str(workspace.settings["label_studio"]["project"]))


def project_by_id(connection: Connection, number: int) -> Project:
    """The project with this id; raises `UnknownNameError`."""
    with connection.exclusively():
        return _read(connection, number)


def fresh(connection: Connection, project: Project) -> Project:
    """The project as it is now; raises `UnknownNameError` when it was deleted (its id may be another's)."""
    now = _read(connection, project.id)
    if now.key != project.key:
        raise _unknown(connection, project.id)
    return now


def _read(connection: Connection, number: int) -> Project:
    try:
        found: Any = connection.client.projects.get(id=number)
    except ApiError as error:
        if error.status_code == _NOT_FOUND:
            raise _unknown(connection, number) from error
        raise
    # Ids of deleted projects are given again, and the server's address may change: the moment of its making
    # tells one project from every other.
    key = f"{found.id}@{found.created_at.isoformat()}"
    version = _GUIDELINES.search(found.description or "")
    return Project(
        found.id, found.title, key, found.label_config or "", found.model_version or "", version and version[1]
    )


def _unknown(connection: Connection, number: int) -> UnknownNameError:
    known = [f"{p.id} ({p.title})" for p in connection.client.projects.list(page_size=100)]
    return UnknownNameError("Label Studio project", str(number), known)
