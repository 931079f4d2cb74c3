"""Projects of Label Studio: the one with the tasks of a workspace, and those created for batches.

Also the unique ids of what an exchange creates, so that repeating it creates nothing twice.
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
    """Return the uid of an event that originates from Label Studio."""
    return str(_name(project, kind, *parts))


def annotation_uid(project: str, event: str, task: int) -> str:
    """Return the `unique_id` of the annotation that an event here becomes; Label Studio answers a repetition with 409."""
    return str(_name(project, "annotation", event, task))


def _name(*parts: object) -> UUID:
    # A separator keeps parts apart: ("a", "bc") and ("ab", "c") are different names.
    return uuid5(_ROOT, "\x1f".join(str(part) for part in parts))


_NOT_FOUND = 404
_GUIDELINES = re.compile(r"Guidelines: version ([0-9a-f]{1,16})\b")


class Project(NamedTuple):
    """A project; `key` identifies it in Berdseye's tables, `guidelines` is the version of the text that it shows."""

    id: int
    title: str
    key: str
    config: str
    model_version: str
    guidelines: str | None = None


def find_or_create(connection: Connection, title: str) -> Project:
    """Return the project of this title (the oldest of several), created if there is none.

    Raises `BadInputError` for a title that Label Studio does not accept.
    """
    if not 3 <= len(title) <= 50:
        raise BadInputError(
            f"The title of a project must have 3 to 50 characters, got {len(title)}: '{title}'.",
            hint="Set another title in the settings: `project` under [label_studio].",
        )
    with connection.exclusively():
        same = [p.id for p in connection.client.projects.list(title=title, page_size=100) if p.title == title]
        if same:
            return _read(connection, min(same))
        return create_project(
            connection,
            title=title,
            description="Created by Berdseye and kept in agreement with it.",
            expert_instruction=GUIDELINE,
            label_config=validated("judge"),
        )


def create_project(connection: Connection, **fields: Any) -> Project:
    """Create a project with these fields of Label Studio; raises `BadInputError` for a labeling interface that it refuses."""
    return _read(connection, connection.client.projects.create(**fields).id)


def project_by_mark(connection: Connection, title: str, mark: str) -> Project | None:
    """Return the oldest project of this title whose description contains this mark; None if there is none."""
    projects = connection.client.projects.list(title=title, page_size=100)
    same = [p.id for p in projects if p.title == title and mark in (p.description or "")]
    return _read(connection, min(same)) if same else None


def project_by_key(connection: Connection, key: str) -> Project | None:
    """Return the project of this key; None if this server no longer has it (another project may have its id)."""
    number = key.partition("@")[0]
    try:
        project = _read(connection, int(number))
    except (UnknownNameError, ValueError):
        return None
    return project if project.key == key else None


def workspace_project(connection: Connection, workspace: Workspace) -> Project:
    """Return the project named in the settings, created if there is none."""
    return find_or_create(connection, str(workspace.settings["label_studio"]["project"]))


def project_by_id(connection: Connection, number: int) -> Project:
    """Return the project with this id; raises `UnknownNameError`."""
    with connection.exclusively():
        return _read(connection, number)


def reload_project(connection: Connection, project: Project) -> Project:
    """Return the project as it is now; raises `UnknownNameError` if it was deleted (another project may have its id)."""
    now = _read(connection, project.id)
    if now.key != project.key:
        raise _unknown(connection, project.id)
    return now


def _read(connection: Connection, number: int) -> Project:
    try:
        project: Any = connection.client.projects.get(id=number)
    except ApiError as error:
        if error.status_code == _NOT_FOUND:
            raise _unknown(connection, number) from error
        raise
    # Label Studio reuses the ids of deleted projects, and the server's address may change: the time of its creation
    # distinguishes a project from every other.
    key = f"{project.id}@{project.created_at.isoformat()}"
    version = _GUIDELINES.search(project.description or "")
    return Project(
        project.id, project.title, key, project.label_config or "", project.model_version or "", version and version[1]
    )


def _unknown(connection: Connection, number: int) -> UnknownNameError:
    titles = [f"{p.id} ({p.title})" for p in connection.client.projects.list(page_size=100)]
    return UnknownNameError("Label Studio project", str(number), titles)
