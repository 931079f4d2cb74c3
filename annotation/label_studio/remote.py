"""Tasks and annotations as Label Studio holds them now."""

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from annotation.judgments import batched_rows
from annotation.label_studio.config import Word, word_of
from annotation.label_studio.connection import Connection
from annotation.label_studio.people import People
from data.errors import BadInputError, BerdseyeError

_PAGE = 1000
# Ids go into the address of the request, which the server accepts up to 64 KB.
_LOOK_UP = 500
# Label Studio applies `include` to the nested annotations too: their fields have to be named beside the
# task's.
_FIELDS = "id,data,annotations,result,completed_by,updated_at,was_cancelled"
_ATTEMPTS = 3


@dataclass(frozen=True)
class RemoteAnnotation:
    """An annotation: its author's word (None: skipped); `problem` says why it cannot be read."""

    id: int
    user: int | None
    at: str
    word: Word | None
    problem: str = ""


@dataclass(frozen=True)
class RemoteTask:
    """A task of ours: `key` is the pair's, `versions` the model versions it has predictions of."""

    id: int
    key: str
    data: Mapping[str, Any]
    annotations: tuple[RemoteAnnotation, ...]
    versions: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Said:
    """All that one annotator has on one pair: the newest annotation counts, older ones stay listed."""

    annotations: tuple[RemoteAnnotation, ...]

    @property
    def newest(self) -> RemoteAnnotation:
        return self.annotations[-1]

    @property
    def word(self) -> Word | None:
        return self.newest.word


def all_tasks(connection: Connection, project: int, *, versions: bool = False) -> list[RemoteTask]:
    """Every task of a project that carries an id of ours; with model versions where asked for."""
    include = f"{_FIELDS},predictions_model_versions" if versions else _FIELDS
    for _ in range(_ATTEMPTS):
        found: dict[int, RemoteTask | None] = {}
        page, total = 1, 1
        while (page - 1) * _PAGE < total:
            # The SDK's own paging takes an error on a later page for the end of the list.
            got = connection.client.tasks.list(
                project=project, page=page, page_size=_PAGE, include=include, resolve_uri=False
            )
            total = got.response.total
            found.update((task.id, _task(task)) for task in got.items or ())
            page += 1
        # Deletions while we read shift the pages, so that some tasks are skipped.
        if len(found) >= total:
            return [task for task in found.values() if task is not None]
    raise BerdseyeError("The tasks in Label Studio changed while they were read.", hint="Try again.")


def look_up(connection: Connection, project: int, keys: Sequence[str]) -> dict[str, list[RemoteTask]]:
    """The tasks of these pairs, with model versions, oldest first; several of one pair are duplicates."""
    found: dict[str, list[RemoteTask]] = defaultdict(list)
    for chunk in batched_rows(keys, _LOOK_UP):
        condition = {
            "filter": "filter:tasks:data.ext_id", "operator": "in_list", "type": "String", "value": chunk
        }  # fmt: skip
        query = json.dumps({"filters": {"conjunction": "and", "items": [condition]}})
        page, total = 1, 1
        while (page - 1) * _PAGE < total:
            got = connection.client.tasks.list(
                project=project, page=page, page_size=_PAGE, query=query, resolve_uri=False,
                include=f"{_FIELDS},predictions_model_versions",
            )  # fmt: skip
            total = got.response.total
            for item in got.items or ():
                task = _task(item)
                if task is not None and task.key in chunk:
                    found[task.key].append(task)
            page += 1
    for tasks in found.values():
        tasks.sort(key=lambda task: task.id)
    return found


def read_annotation(connection: Connection, number: int) -> RemoteAnnotation:
    """One annotation as it is at this moment."""
    found = connection.client.annotations.get(id=number)
    return _annotation(
        {
            "id": found.id, "completed_by": found.completed_by, "updated_at": found.updated_at,
            "result": found.result, "was_cancelled": found.was_cancelled,
        }
    )  # fmt: skip


def said(tasks: Iterable[RemoteTask], people: People) -> tuple[dict[int, Said], list[str]]:
    """What each annotator says in the tasks of one pair, by annotator id, and the problems met in reading it.

    An annotator with a problem is listed too: what cannot be read is neither a withdrawal nor to be
    overwritten.
    """
    by_person: dict[int, list[RemoteAnnotation]] = defaultdict(list)
    problems: list[str] = []
    for task in tasks:
        for annotation in task.annotations:
            person = people.annotator(annotation.user) if annotation.user is not None else None
            name = f"Annotation {annotation.id} of task {task.id}"
            if person is None:
                problems.append(f"{name}: its author is not known to Label Studio any more.")
                continue
            if annotation.problem:
                problems.append(f"{name} by {person.name}: {annotation.problem}")
            by_person[person.id].append(annotation)
    ordered = {
        person: Said(tuple(sorted(annotations, key=lambda a: (a.at, a.id))))
        for person, annotations in by_person.items()
    }
    return ordered, problems


def _task(item: Any) -> RemoteTask | None:
    data = item.data if isinstance(item.data, dict) else {}
    key = data.get("ext_id")
    if not isinstance(key, str):
        return None
    versions = (item.predictions_model_versions or "").split(",")
    return RemoteTask(
        item.id,
        key,
        data,
        tuple(_annotation(a) for a in item.annotations or ()),
        frozenset(v.strip() for v in versions if v.strip()),
    )


def _annotation(raw: Mapping[str, Any]) -> RemoteAnnotation:
    word, problem = None, ""
    if not raw.get("was_cancelled"):
        try:
            word = word_of(raw["result"])
        except BadInputError as error:
            problem = f"{error}"
    user = raw.get("completed_by")
    number = user.get("id") if isinstance(user, dict) else user
    return RemoteAnnotation(int(raw["id"]), number, _moment(raw["updated_at"]), word, problem)


def _moment(value: str | datetime) -> str:
    """A moment as our events write it, so that both sides' compare as text."""
    moment = value if isinstance(value, datetime) else datetime.fromisoformat(value)
    return moment.astimezone(UTC).isoformat(timespec="microseconds")
