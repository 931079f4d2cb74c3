"""Putting tasks into a project whole, once each."""

import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from berdseye.annotation.label_studio.connection import Connection
from berdseye.annotation.label_studio.form import Word, result_of
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
    """A task to be made, with the words of annotators (by id) and the predictions it shall begin with."""

    key: str
    data: Mapping[str, Any]
    words: Mapping[int, Word]
    predictions: tuple[Mapping[str, Any], ...]


def create_tasks(
    connection: Connection, project: int, tasks: Sequence[NewTask], people: People
) -> dict[str, RemoteTask]:
    """Make tasks that a look-up has just not found, and look them up again; returns them by key.

    Label Studio on SQLite may store the tasks of an import and lose what was nested in them, with a 201: such
    tasks are deleted and made again. Raises `BerdseyeError` when that does not help.
    """
    made: dict[str, RemoteTask] = {}
    left = list(tasks)
    for attempt in range(_ATTEMPTS):
        time.sleep(attempt * _PAUSE_SECONDS)
        try:
            connection.client.projects.import_tasks(project, request=[_import(t, people) for t in left])
        except ApiError as error:
            # An import that met another write may fail whole, or after it has stored something: the look-up tells.
            if attempt == _ATTEMPTS - 1 or (error.status_code or 0) < _SERVER_ERROR:
                raise
        found = look_up(connection, project, [task.key for task in left])
        short: list[NewTask] = []
        broken: list[RemoteTask] = []
        for task in left:
            copies = found.get(task.key, [])
            whole = [copy for copy in copies if _is_whole(copy, task, people)]
            if not whole:
                short.append(task)
                broken += copies
                continue
            rest = [copy for copy in copies if copy not in whole]
            made[task.key] = keep_one(connection, project, [*whole, *rest], people, stand=task.words)
        delete_tasks(connection, project, broken)
        left = short
        if not left:
            return made
    raise BerdseyeError(
        f"Label Studio did not keep {len(left)} of {len(tasks)} tasks whole in {_ATTEMPTS} attempts.",
        where=connection.url,
        hint="Nothing is lost here; try again when fewer people work there.",
    )


def keep_one(
    connection: Connection,
    project: int,
    copies: Sequence[RemoteTask],
    people: People,
    *,
    stand: Collection[int] = (),
) -> RemoteTask:
    """The first task of a pair: what people said last in the others is moved to it, and those are deleted.

    `stand` names annotators whose word in the first task is known to be their last: another import, whose sender was
    killed, may arrive after ours with an older one.
    """
    kept, *others = copies
    if not others:
        return kept
    everywhere, _ = said(copies, people)
    here = {annotation.id for annotation in kept.annotations}
    for person, words in everywhere.items():
        if person in stand:
            continue
        newest = words.newest
        if newest.word is not None and newest.id not in here:
            own = [annotation.id for annotation in words.annotations if annotation.id in here]
            if own:
                connection.client.annotations.update(
                    id=own[-1], result=result_of(newest.word, kept.data), was_cancelled=False
                )
                continue
            unique = annotation_uid(str(project), f"moved {newest.id} {newest.at}", kept.id)
            create_annotation(connection, kept, newest.word, people.listed(newest.user) or people.user(person), unique)
    # A word that cannot be read, or whose author nobody knows, cannot be moved either: its task stays, for people to look at.
    unreadable = [
        task
        for task in others
        if any(a.problem or people.author(task.key, a.id, a.user) is None for a in task.annotations)
    ]
    delete_tasks(connection, project, [task for task in others if task not in unreadable])
    return next(task for task in look_up(connection, project, [kept.key])[kept.key] if task.id == kept.id)


def create_annotation(connection: Connection, task: RemoteTask, word: Word, user: int, unique: str) -> int | None:
    """Make an annotation in a user's name; returns its id, None when this unique id is there already."""
    try:
        made = connection.client.annotations.create(
            id=task.id, result=result_of(word, task.data), completed_by=user, unique_id=unique, ground_truth=False
        )
    except ApiError as error:
        if error.status_code == _CONFLICT:
            return None
        raise
    return int(made.id)


def delete_tasks(connection: Connection, project: int, tasks: Sequence[RemoteTask]) -> None:
    """Delete tasks that were just looked up."""
    if tasks:
        connection.client.actions.create(
            id="delete_tasks", project=project,
            selected_items={"all": False, "included": [task.id for task in tasks]},
        )  # fmt: skip


def _import(task: NewTask, people: People) -> dict[str, Any]:
    annotations = [
        # Nested annotations are ground truth unless told otherwise.
        {"result": result_of(word, task.data), "completed_by": people.user(person), "ground_truth": False}
        for person, word in task.words.items()
    ]
    return {"data": task.data, "annotations": annotations, "predictions": list(task.predictions)}


def _is_whole(found: RemoteTask, sent: NewTask, people: People) -> bool:
    held, _ = said([found], people)
    words = all(person in held and held[person].word == word for person, word in sent.words.items())
    return words and all(p["model_version"] in found.versions for p in sent.predictions)
