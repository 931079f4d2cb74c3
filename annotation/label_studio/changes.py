"""Which tasks have to be read: those changed since the last time, or all of them now and then."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from berdseye.annotation.label_studio.connection import Connection
from berdseye.annotation.label_studio.project import Project
from berdseye.annotation.label_studio.purpose import Purpose
from berdseye.annotation.label_studio.remote import RemoteTask, all_tasks, changed_keys, look_up

# A change is dated before it is stored, and an import of thousands of tasks stores for seconds.
_OVERLAP = timedelta(seconds=120)
_SWEEP_EVERY = timedelta(hours=6)


@dataclass(frozen=True)
class Changes:
    """Tasks by pair, with every copy of a pair's task; `until` is the moment, by the server's clock, they are known to."""

    tasks: dict[str, list[RemoteTask]]
    until: datetime
    whole: bool


def read_changes(connection: Connection, project: Project, purpose: Purpose, *, whole: bool = False) -> Changes:
    """What changed since the project was last received, or all of it: where asked for, the first time, and when it is due."""
    until = connection.time()
    due = purpose.swept_at is None or until - purpose.swept_at > _SWEEP_EVERY
    if whole or due or purpose.received_to is None:
        by_key: dict[str, list[RemoteTask]] = {}
        for task in all_tasks(connection, project.id):
            by_key.setdefault(task.key, []).append(task)
        return Changes(by_key, until, whole=True)
    # A pair with two tasks has to be seen whole: what stands in the unchanged one was not deleted.
    keys = changed_keys(connection, project.id, purpose.received_to - _OVERLAP)
    return Changes(dict(look_up(connection, project.id, keys)), until, whole=False)
