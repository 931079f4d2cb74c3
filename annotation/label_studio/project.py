"""Projects of Label Studio, of a workspace and of its batches, and the purpose of each: its batch, its person and its last pull.

Also the unique ids of what an exchange creates, so that repeating it creates nothing twice.
"""

import json
import re
from collections.abc import Mapping
from datetime import datetime
from typing import Any, NamedTuple
from uuid import NAMESPACE_URL, UUID, uuid5

from sqlalchemy import Connection as Database
from sqlalchemy import delete, select, update

from berdseye.annotation.batches.stored import Task
from berdseye.annotation.checks import CHECK, CheckForm, check_form
from berdseye.annotation.judgments.database import writing
from berdseye.annotation.judgments.log import Judgments
from berdseye.annotation.judgments.schema import batches, sync_projects, sync_tasks
from berdseye.annotation.label_studio.connection import ApiError, Connection
from berdseye.annotation.label_studio.form import GUIDELINE, validated
from berdseye.data.errors import BadInputError, UnknownNameError
from berdseye.data.workspace import Workspace

_ROOT = uuid5(NAMESPACE_URL, "https://berdseye.local/label-studio")
_NOT_FOUND = 404
_GUIDELINES = re.compile(r"Guidelines: version ([0-9a-f]{1,16})\b")


def event_uid(project: str, kind: str, *parts: object) -> str:
    """Return the uid of an event that originates from Label Studio."""
    return str(_name(project, kind, *parts))


def annotation_uid(project: str, event: str, task: int) -> str:
    """Return the `unique_id` of the annotation that an event here becomes; Label Studio answers a repetition with 409."""
    return str(_name(project, "annotation", event, task))


def _name(*parts: object) -> UUID:
    # A separator keeps parts apart: ("a", "bc") and ("ab", "c") are different names.
    return uuid5(_ROOT, "\x1f".join(str(part) for part in parts))


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
            label_config=validated("judge", labelled=True),
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


def exchanged_projects(judgments: Judgments, connection: Connection) -> list[Project]:
    """Return the projects that judgments were exchanged with and that this server still has, the oldest first."""
    with judgments.reading() as database:
        keys = {
            key
            for table in (sync_projects, sync_tasks)
            for key in database.execute(select(table.c.project).distinct()).scalars()
        }
    with connection.exclusively():
        projects = [project_by_key(connection, key) for key in keys]
    return sorted((project for project in projects if project is not None), key=lambda project: project.id)


class Purpose(NamedTuple):
    """The purpose of a project; `project` is `Project.key`. No batch: the workspace's project, where every judgment belongs.

    `form` is that of the checks of the batch.

    `person`: the only annotator it is for (None: everybody). `received_to` (changes up to this time were pulled) and `swept_at`
    (all tasks were read) are times by the server's clock.
    """

    project: str
    batch: int | None = None
    person: int | None = None
    task: Task = "judge"
    form: CheckForm | None = None
    received_to: datetime | None = None
    swept_at: datetime | None = None


def purpose_of(judgments: Judgments, project: str) -> Purpose:
    """Return the purpose of one project."""
    return _read_purposes(judgments, project).get(project, Purpose(project))


def batch_purposes(judgments: Judgments, batch: int | None = None) -> list[Purpose]:
    """Return the purposes of the projects created for a batch, or for any batch, the oldest first."""
    purposes = _read_purposes(judgments).values()
    return [one for one in purposes if one.batch is not None and batch in (None, one.batch)]


def write_purpose(judgments: Judgments, project: str, batch: int, person: int | None) -> None:
    """Store the purpose of a project; it replaces an earlier project of this purpose, which was deleted in Label Studio."""
    here = (sync_projects.c.batch_id == batch) & (sync_projects.c.annotator_id.is_not_distinct_from(person))
    with writing(judgments.engine) as connection:
        connection.execute(delete(sync_projects).where(here))
        row = {"project": project, "batch_id": batch, "annotator_id": person}
        connection.execute(judgments.insert_new(sync_projects, [row], "project"))


def write_received(database: Database, project: str, moment: datetime, *, whole: bool) -> None:
    """Store up to what time changes of a project were pulled, and whether all of its tasks were read."""
    values = {"received_to": moment.isoformat(), **({"swept_at": moment.isoformat()} if whole else {})}
    done = database.execute(update(sync_projects).where(sync_projects.c.project == project).values(values))
    if not done.rowcount:
        database.execute(sync_projects.insert().values(project=project, **values))


def _read_purposes(judgments: Judgments, project: str | None = None) -> Mapping[str, Purpose]:
    query = (
        select(sync_projects, batches.c.task, batches.c.recipe)
        .outerjoin(batches, batches.c.id == sync_projects.c.batch_id)
        .order_by(sync_projects.c.id)
    )
    if project is not None:
        query = query.where(sync_projects.c.project == project)
    with judgments.reading() as connection:
        return {
            row.project: Purpose(
                row.project, row.batch_id, row.annotator_id, row.task or "judge",
                check_form(str(json.loads(row.recipe).get(CHECK))) if row.task == "check" else None,
                *(None if text is None else datetime.fromisoformat(text) for text in (row.received_to, row.swept_at)),
            )
            for row in connection.execute(query)
        }  # fmt: skip
