"""The projects that judgments were exchanged with, and the purpose of each: its batch and its person, and its last pull."""

from collections.abc import Mapping
from datetime import datetime
from typing import NamedTuple

from sqlalchemy import Connection, delete, select, update

from berdseye.annotation.batches.stored import Task
from berdseye.annotation.judgments.database import writing
from berdseye.annotation.judgments.log import Judgments
from berdseye.annotation.judgments.schema import batches, sync_projects, sync_tasks
from berdseye.annotation.label_studio.connection import Connection as ServerConnection
from berdseye.annotation.label_studio.project import Project, project_by_key


def exchanged_projects(judgments: Judgments, connection: ServerConnection) -> list[Project]:
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

    `person`: the only annotator it is for (None: everybody). `received_to` (changes up to this time were pulled) and `swept_at`
    (all tasks were read) are times by the server's clock.
    """

    project: str
    batch: int | None = None
    person: int | None = None
    task: Task = "judge"
    received_to: datetime | None = None
    swept_at: datetime | None = None


def purpose_of(judgments: Judgments, project: str) -> Purpose:
    """Return the purpose of one project."""
    return _read(judgments, project).get(project, Purpose(project))


def batch_purposes(judgments: Judgments, batch: int | None = None) -> list[Purpose]:
    """Return the purposes of the projects created for a batch, or for any batch, the oldest first."""
    purposes = _read(judgments).values()
    return [one for one in purposes if one.batch is not None and batch in (None, one.batch)]


def write_purpose(judgments: Judgments, project: str, batch: int, person: int | None) -> None:
    """Store the purpose of a project; it replaces an earlier project of this purpose, which was deleted in Label Studio."""
    here = (sync_projects.c.batch_id == batch) & (sync_projects.c.annotator_id.is_not_distinct_from(person))
    with writing(judgments.engine) as connection:
        connection.execute(delete(sync_projects).where(here))
        row = {"project": project, "batch_id": batch, "annotator_id": person}
        connection.execute(judgments.insert_new(sync_projects, [row], "project"))


def write_received(connection: Connection, project: str, moment: datetime, *, whole: bool) -> None:
    """Store up to what time changes of a project were pulled, and whether all of its tasks were read."""
    values = {"received_to": moment.isoformat(), **({"swept_at": moment.isoformat()} if whole else {})}
    done = connection.execute(update(sync_projects).where(sync_projects.c.project == project).values(values))
    if not done.rowcount:
        connection.execute(sync_projects.insert().values(project=project, **values))


def _read(judgments: Judgments, project: str | None = None) -> Mapping[str, Purpose]:
    query = (
        select(sync_projects, batches.c.task)
        .outerjoin(batches, batches.c.id == sync_projects.c.batch_id)
        .order_by(sync_projects.c.id)
    )
    if project is not None:
        query = query.where(sync_projects.c.project == project)
    with judgments.reading() as connection:
        return {
            row.project: Purpose(
                row.project, row.batch_id, row.annotator_id, row.task or "judge",
                *(None if text is None else datetime.fromisoformat(text) for text in (row.received_to, row.swept_at)),
            )
            for row in connection.execute(query)
        }  # fmt: skip
