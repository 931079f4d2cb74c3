"""The projects that judgments were exchanged with."""

from sqlalchemy import select

from berdseye.annotation.judgments import Judgments
from berdseye.annotation.label_studio.connection import Connection
from berdseye.annotation.label_studio.project import Project, project_by_key
from berdseye.annotation.schema import sync_projects, sync_tasks


def exchanged_projects(judgments: Judgments, connection: Connection) -> list[Project]:
    """Those that this server still holds, the oldest first; none is made."""
    with judgments.reading() as database:
        keys = {
            key
            for table in (sync_projects, sync_tasks)
            for key in database.execute(select(table.c.project).distinct()).scalars()
        }
    with connection.exclusively():
        found = [project_by_key(connection, key) for key in keys]
    return sorted((project for project in found if project is not None), key=lambda project: project.id)
