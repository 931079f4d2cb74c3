"""Create tasks in a project: each complete, and each once."""

import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from berdseye.annotation.label_studio.connection import Connection
from berdseye.annotation.label_studio.form import RecordedVerdict, result_of
from berdseye.annotation.label_studio.people import People
from berdseye.annotation.label_studio.project import annotation_uid
from berdseye.annotation.label_studio.remote import RemoteTask, look_up, said
from berdseye.annotation.label_studio.sdk import ApiError
from berdseye.data.errors import BerdseyeError

_ATTEMPTS = 3
_PAUSE_SECONDS = 0.5
_CONFLICT = 409
_SERVER_ERROR = 500


@dataclass(frozen=True)
class NewTask:
    """A task to create, with its first annotations (judgments by annotator id) and predictions."""

    key: str
    data: Mapping[str, Any]
    words: Mapping[int, RecordedVerdict]
    predictions: tuple[Mapping[str, Any], ...]


def create_tasks(
    connection: Connection, project: int, tasks: Sequence[NewTask], people: People
) -> dict[str, RemoteTask]:
    """Create tasks that a look-up has just not found, and look them up again; returns them by key.

    Label Studio on SQLite may store the tasks of an import, lose the annotations and predictions nested in them, and answer
    201: such tasks are deleted and created again. Raises `BerdseyeError` if that fails three times.
    """
    created: dict[str, RemoteTask] = {}
    remaining = list(tasks)
    for attempt in range(_ATTEMPTS):
        time.sleep(attempt * _PAUSE_SECONDS)
        try:
            connection.client.projects.import_tasks(project, request=[_import(t, people) for t in remaining])
        except ApiError as error:
            # An import that met another write may fail before or after it has stored something: the look-up shows which.
            if attempt == _ATTEMPTS - 1 or (error.status_code or 0) < _SERVER_ERROR:
                raise
        tasks_by_key = look_up(connection, project, [task.key for task in remaining])
        incomplete: list[NewTask] = []
        broken: list[RemoteTask] = []
        for task in remaining:
            copies = tasks_by_key.get(task.key, [])
            complete = [copy for copy in copies if _is_complete(copy, task, people)]
            if not complete:
                incomplete.append(task)
                broken += copies
                continue
            rest = [copy for copy in copies if copy not in complete]
            created[task.key] = keep_one(connection, project, [*complete, *rest], people, stand=task.words)
        delete_tasks(connection, project, broken)
        remaining = incomplete
        if not remaining:
            return created
    raise BerdseyeError(
        f"Label Studio stored {len(remaining)} of {len(tasks)} tasks incompletely in {_ATTEMPTS} attempts.",
        where=connection.url,
        hint="No judgment is lost here; try again when fewer people work in Label Studio.",
    )


def keep_one(
    connection: Connection,
    project: int,
    copies: Sequence[RemoteTask],
    people: People,
    *,
    stand: Collection[int] = (),
) -> RemoteTask:
    """Return the first task of a pair, after moving people's last judgments from its other tasks to it and deleting those.

    `stand` names annotators whose judgment in the first task is known to be their last: another import, whose sender was
    killed, may arrive after this one with an older judgment.
    """
    first, *others = copies
    if not others:
        return first
    everywhere, _ = said(copies, people)
    here = {annotation.id for annotation in first.annotations}
    for person, words in everywhere.items():
        if person in stand:
            continue
        newest = words.newest
        if newest.word is not None and newest.id not in here:
            own = [annotation.id for annotation in words.annotations if annotation.id in here]
            if own:
                connection.client.annotations.update(
                    id=own[-1], result=result_of(newest.word, first.data), was_cancelled=False
                )
                continue
            unique = annotation_uid(str(project), f"moved {newest.id} {newest.at}", first.id)
            create_annotation(connection, first, newest.word, people.listed(newest.user) or people.user(person), unique)
    # An annotation that is unreadable, or whose author is unknown, cannot be moved: its task stays, for people to look at.
    unreadable = [
        task
        for task in others
        if any(a.problem or people.author(task.key, a.id, a.user) is None for a in task.annotations)
    ]
    delete_tasks(connection, project, [task for task in others if task not in unreadable])
    return next(task for task in look_up(connection, project, [first.key])[first.key] if task.id == first.id)


def create_annotation(
    connection: Connection, task: RemoteTask, word: RecordedVerdict, user: int, unique: str
) -> int | None:
    """Create an annotation in a user's name; returns its id, or None if this unique id exists already."""
    try:
        annotation = connection.client.annotations.create(
            id=task.id, result=result_of(word, task.data), completed_by=user, unique_id=unique, ground_truth=False
        )
    except ApiError as error:
        if error.status_code == _CONFLICT:
            return None
        raise
    return int(annotation.id)


def delete_tasks(connection: Connection, project: int, tasks: Sequence[RemoteTask]) -> None:
    """Delete tasks that were just looked up."""
    if tasks:
        connection.client.actions.create(
            id="delete_tasks", project=project,
            selected_items={"all": False, "included": [task.id for task in tasks]},
        )  # fmt: skip


def _import(task: NewTask, people: People) -> dict[str, Any]:
    annotations = [
        # Nested annotations are ground truth unless the import says otherwise.
        {"result": result_of(word, task.data), "completed_by": people.user(person), "ground_truth": False}
        for person, word in task.words.items()
    ]
    return {"data": task.data, "annotations": annotations, "predictions": list(task.predictions)}


def _is_complete(stored: RemoteTask, sent: NewTask, people: People) -> bool:
    by_person, _ = said([stored], people)
    words = all(person in by_person and by_person[person].word == word for person, word in sent.words.items())
    return words and all(p["model_version"] in stored.versions for p in sent.predictions)
