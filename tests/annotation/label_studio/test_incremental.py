"""Only what changed is read, and nothing is taken for deleted that was merely not read."""

import time
from collections.abc import Callable
from datetime import timedelta

import pytest
from there import annotate, held_here, held_there, task_of, user_of

from berdseye.annotation.judgments.log import Annotator, Judgments
from berdseye.annotation.label_studio import pull as changes
from berdseye.annotation.label_studio.connection import Connection
from berdseye.annotation.label_studio.exchange_state import ExchangeReport
from berdseye.annotation.label_studio.form import RecordedVerdict, result_of
from berdseye.annotation.label_studio.project import Project, purpose_of, write_received
from berdseye.annotation.label_studio.pull import pull
from berdseye.annotation.label_studio.push import push

pytestmark = pytest.mark.label_studio


def test_only_changed_tasks_are_read_and_all_of_a_pair(
    judgments: Judgments,
    people: list[Annotator],
    make_pairs: Callable[[int], list[str]],
    connection: Connection,
    project: Project,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    keys = make_pairs(6)
    for key in keys:
        judgments.judge(people[0], key, "supports", source="annotate")
    push(judgments, connection, project, keys)
    data = dict(task_of(connection, project, keys[0]).data)
    monkeypatch.setattr(changes, "_OVERLAP", timedelta(0))
    seen: list[int] = []

    def received(**options: bool) -> ExchangeReport:
        seen.clear()
        return pull(judgments, connection, project, progress=lambda _, total: seen.append(total), **options)

    time.sleep(1.1)  # the server's clock is told to the second
    assert (received(), seen) == (ExchangeReport(), [6])
    time.sleep(1.1)
    assert (received(), seen) == (ExchangeReport(), [])
    # A second task of a pair, with another's word: the first, unchanged, still holds what was said there.
    said = {"result": result_of(RecordedVerdict("unsure", "")), "completed_by": user_of(connection, people[0])}
    bo = connection.client.users.create(username=people[1].name, email=f"{people[1].name[-6:]}@example.org")
    connection.client.users.update(bo.id, first_name=people[1].name)
    request = [{"data": data, "annotations": [said | {"completed_by": bo.id}]}]
    connection.client.projects.import_tasks(project.id, request=request)
    annotate(connection, task_of(connection, project, keys[1]), bo.id, RecordedVerdict("supports", "late"))
    assert (received(), seen) == (ExchangeReport(pulled_new=2), [2])
    assert len(held_here(judgments)) == 8

    time.sleep(1.1)
    received()
    connection.client.annotations.delete(id=task_of(connection, project, keys[2]).annotations[0].id)
    connection.client.tasks.delete(id=str(task_of(connection, project, keys[3]).id))
    assert (received(), seen) == (ExchangeReport(pulled_withdrawn=1), [1])
    assert (received(whole=True), seen) == (ExchangeReport(tasks_gone=1), [5])

    # Hours later all is read again, unasked.
    purpose = purpose_of(judgments, project.key)
    assert purpose.swept_at is not None
    with judgments.engine.begin() as database:
        write_received(database, project.key, purpose.swept_at - timedelta(hours=7), whole=True)
    assert received().tasks_gone == 1
    push(judgments, connection, project, keys)
    assert len(held_there(connection, project)) == len(held_here(judgments)) == 7
    assert received(whole=True) == ExchangeReport()
