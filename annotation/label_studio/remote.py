"""Tasks and annotations, read from Label Studio."""

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from berdseye.annotation.judgments.log import batched_rows
from berdseye.annotation.label_studio.connection import Connection
from berdseye.annotation.label_studio.form import RecordedVerdict, read_judgment
from berdseye.annotation.label_studio.people import People
from berdseye.data.errors import BadInputError, BerdseyeError

_PAGE = 1000
# Ids are part of the address of the request, which may have 64 KB at most.
_LOOK_UP = 500
# Label Studio applies `include` to the nested annotations too, so the list names their fields as well as the task's.
_FIELDS = (
    "id,data,annotations,result,completed_by,updated_at,updated_by,was_cancelled,unique_id,lead_time,total_predictions"
)
_USERS = ("completed_by", "updated_by")
_ATTEMPTS = 3
_LONGEST_SECONDS = 24 * 3600.0


@dataclass(frozen=True)
class RemoteAnnotation:
    """An annotation: its author's judgment (None: skipped), and the `seconds` it took; `problem` says why it is unreadable.

    `editor` is the user who changed it last, perhaps the author.
    """

    id: int
    user: int | None
    at: str
    word: RecordedVerdict | None
    problem: str = ""
    seconds: float | None = None
    editor: int | None = None


@dataclass(frozen=True)
class RemoteTask:
    """A task of a pair: `key` is the pair's, `versions` are the model versions of its predictions (if requested)."""

    id: int
    key: str
    data: Mapping[str, Any]
    annotations: tuple[RemoteAnnotation, ...]
    versions: frozenset[str] = frozenset()
    predicted: bool = False


@dataclass(frozen=True)
class PersonAnnotations:
    """All annotations of one annotator on one pair, oldest first; the newest one counts.

    `shown`: the task has a prediction, so the annotator may have seen it.
    """

    annotations: tuple[RemoteAnnotation, ...]
    shown: bool = False

    @property
    def newest(self) -> RemoteAnnotation:
        return self.annotations[-1]

    @property
    def word(self) -> RecordedVerdict | None:
        return self.newest.word


def all_tasks(connection: Connection, project: int, *, versions: bool = False) -> list[RemoteTask]:
    """Return every task of a project that has an `ext_id`; with model versions if requested."""
    include = f"{_FIELDS},predictions_model_versions" if versions else _FIELDS
    return [task for item in raw_tasks(connection, project, include) if (task := _task(item)) is not None]


def raw_tasks(connection: Connection, project: int, include: str = _FIELDS) -> list[Any]:
    """Return every task of a project as the SDK reads it, also those that Berdseye did not create.

    Raises `BerdseyeError` if the tasks keep changing while they are read.
    """
    for _ in range(_ATTEMPTS):
        tasks, total = _pages(connection, project, include)
        # Deletions during the reading shift the pages, so that some tasks are missed.
        if len(tasks) >= total:
            return list(tasks.values())
    raise BerdseyeError("The tasks in Label Studio changed while they were read.", hint="Try again.")


def changed_keys(connection: Connection, project: int, since: datetime) -> list[str]:
    """Return the pairs whose task was created, or whose annotations were created, changed or deleted, after `since`."""
    # Label Studio accepts no time without a fraction of a second.
    moment = since.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    query = _filtered("updated_at", "greater", "Datetime", moment)
    items, _ = _pages(connection, project, "id,data", query)
    keys = (item.data.get("ext_id") for item in items.values() if isinstance(item.data, dict))
    return list(dict.fromkeys(key for key in keys if isinstance(key, str)))


def look_up(connection: Connection, project: int, keys: Sequence[str]) -> dict[str, list[RemoteTask]]:
    """Return the tasks of these pairs, with model versions, oldest first; several tasks of one pair are duplicates."""
    by_key: dict[str, list[RemoteTask]] = defaultdict(list)
    for chunk in batched_rows(keys, _LOOK_UP):
        query = _filtered("data.ext_id", "in_list", "String", chunk)
        items, _ = _pages(connection, project, f"{_FIELDS},predictions_model_versions", query)
        for item in items.values():
            task = _task(item)
            if task is not None and task.key in chunk:
                by_key[task.key].append(task)
    for tasks in by_key.values():
        tasks.sort(key=lambda task: task.id)
    return by_key


def last_change(connection: Connection, annotation: int) -> str:
    """Return the time of the last change of an annotation, read from the server now."""
    return moment_of(connection.client.annotations.get(id=annotation).updated_at)


def said(tasks: Iterable[RemoteTask], people: People) -> tuple[dict[int, PersonAnnotations], list[str]]:
    """Return each annotator's annotations in the tasks of one pair, by annotator id, and the problems of reading them.

    An annotator with a problem is included: an unreadable annotation is not a withdrawal and must not be overwritten. Call
    `People.recall` first, which knows what was exchanged before.
    """
    by_person: dict[int, list[RemoteAnnotation]] = defaultdict(list)
    problems: list[str] = []
    all_tasks_of_pair = list(tasks)
    shown = any(task.predicted for task in all_tasks_of_pair)
    for task in all_tasks_of_pair:
        for annotation in task.annotations:
            person = people.author(task.key, annotation.id, annotation.user)
            name = f"Annotation {annotation.id} of task {task.id}"
            if person is None:
                problems.append(f"{name}: its author no longer exists in Label Studio.")
                continue
            if annotation.problem:
                problems.append(f"{name} by {person.name}: {annotation.problem}")
            by_person[person.id].append(annotation)
    ordered = {
        person: PersonAnnotations(tuple(sorted(annotations, key=lambda a: (a.at, a.id))), shown)
        for person, annotations in by_person.items()
    }
    return ordered, problems


def _filtered(column: str, operator: str, kind: str, value: Any) -> str:
    condition = {"filter": f"filter:tasks:{column}", "operator": operator, "type": kind, "value": value}
    return json.dumps({"filters": {"conjunction": "and", "items": [condition]}})


def _pages(connection: Connection, project: int, include: str, query: str | None = None) -> tuple[dict[int, Any], int]:
    """Return tasks by id, and the number of tasks that the server reports."""
    tasks: dict[int, Any] = {}
    page, total = 1, 1
    filters = {} if query is None else {"query": query}
    while (page - 1) * _PAGE < total:
        # The SDK's own paging mistakes an error on a later page for the end of the list.
        result = connection.client.tasks.list(
            project=project, page=page, page_size=_PAGE, include=include, resolve_uri=False, **filters
        )
        total = result.response.total
        tasks.update((task.id, task) for task in result.items or ())
        page += 1
    return tasks, total


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
        tuple(_annotation(a, data) for a in item.annotations or ()),
        frozenset(v.strip() for v in versions if v.strip()),
        bool(item.total_predictions),
    )


def _annotation(raw: Mapping[str, Any], data: Mapping[str, Any]) -> RemoteAnnotation:
    word, problem = None, ""
    if not raw.get("was_cancelled"):
        try:
            word = read_judgment(raw["result"], data)
        except BadInputError as error:
            problem = f"{error}"
    user, editor = (who.get("id") if isinstance(who, dict) else who for who in map(raw.get, _USERS))
    at, seconds = moment_of(raw["updated_at"]), seconds_of(raw.get("lead_time"))
    return RemoteAnnotation(int(raw["id"]), user, at, word, problem, seconds, editor)


def moment_of(value: str | datetime) -> str:
    """Return a time as the log writes it (ISO 8601 in UTC, microseconds), so that times of both sides compare as text."""
    moment = value if isinstance(value, datetime) else datetime.fromisoformat(value)
    return moment.astimezone(UTC).isoformat(timespec="microseconds")


def seconds_of(value: Any) -> float | None:
    """Return the seconds of Label Studio's `lead_time`; None for an impossible value (not above 0, or a day or more)."""
    return float(value) if isinstance(value, int | float) and 0 < value < _LONGEST_SECONDS else None
