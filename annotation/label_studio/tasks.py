"""Tasks and annotations of a project: read, looked up, and created, each complete and once."""

import json
import time
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from berdseye.annotation.judgments.log import batched_rows
from berdseye.annotation.label_studio.connection import ApiError, Connection
from berdseye.annotation.label_studio.form import RecordedVerdict, read_judgment, result_of
from berdseye.annotation.label_studio.people import People
from berdseye.annotation.label_studio.project import annotation_uid
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
_PAUSE_SECONDS = 0.5
_CONFLICT = 409
_SERVER_ERROR = 500


@dataclass(frozen=True)
class RemoteAnnotation:
    """An annotation: its author's judgment (None: skipped), and the `seconds` it took; `problem` says why it is unreadable.

    `editor` is the user who changed it last, perhaps the author.
    """

    id: int
    user: int | None
    at: str
    judgment: RecordedVerdict | None
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
    def judgment(self) -> RecordedVerdict | None:
        return self.newest.judgment


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


def annotations_by_person(
    tasks: Iterable[RemoteTask], people: People
) -> tuple[dict[int, PersonAnnotations], list[str]]:
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
    judgment, problem = None, ""
    if not raw.get("was_cancelled"):
        try:
            judgment = read_judgment(raw["result"], data)
        except BadInputError as error:
            problem = f"{error}"
    user, editor = (who.get("id") if isinstance(who, dict) else who for who in map(raw.get, _USERS))
    at, seconds = moment_of(raw["updated_at"]), seconds_of(raw.get("lead_time"))
    return RemoteAnnotation(int(raw["id"]), user, at, judgment, problem, seconds, editor)


def moment_of(value: str | datetime) -> str:
    """Return a time as the log writes it (ISO 8601 in UTC, microseconds), so that times of both sides compare as text."""
    moment = value if isinstance(value, datetime) else datetime.fromisoformat(value)
    return moment.astimezone(UTC).isoformat(timespec="microseconds")


def seconds_of(value: Any) -> float | None:
    """Return the seconds of Label Studio's `lead_time`; None for an impossible value (not above 0, or a day or more)."""
    return float(value) if isinstance(value, int | float) and 0 < value < _LONGEST_SECONDS else None


@dataclass(frozen=True)
class NewTask:
    """A task to create, with its first annotations (judgments by annotator id) and predictions."""

    key: str
    data: Mapping[str, Any]
    judgments: Mapping[int, RecordedVerdict]
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
            created[task.key] = keep_one(connection, project, [*complete, *rest], people, stand=task.judgments)
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
    everywhere, _ = annotations_by_person(copies, people)
    here = {annotation.id for annotation in first.annotations}
    for person, theirs in everywhere.items():
        if person in stand:
            continue
        newest = theirs.newest
        if newest.judgment is not None and newest.id not in here:
            own = [annotation.id for annotation in theirs.annotations if annotation.id in here]
            if own:
                connection.client.annotations.update(
                    id=own[-1], result=result_of(newest.judgment, first.data), was_cancelled=False
                )
                continue
            unique = annotation_uid(str(project), f"moved {newest.id} {newest.at}", first.id)
            create_annotation(
                connection, first, newest.judgment, people.listed(newest.user) or people.user(person), unique
            )
    # An annotation that is unreadable, or whose author is unknown, cannot be moved: its task stays, for people to look at.
    unreadable = [
        task
        for task in others
        if any(a.problem or people.author(task.key, a.id, a.user) is None for a in task.annotations)
    ]
    delete_tasks(connection, project, [task for task in others if task not in unreadable])
    return next(task for task in look_up(connection, project, [first.key])[first.key] if task.id == first.id)


def create_annotation(
    connection: Connection, task: RemoteTask, judgment: RecordedVerdict, user: int, unique: str
) -> int | None:
    """Create an annotation in a user's name; returns its id, or None if this unique id exists already."""
    try:
        annotation = connection.client.annotations.create(
            id=task.id, result=result_of(judgment, task.data), completed_by=user, unique_id=unique, ground_truth=False
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


def write_field(connection: Connection, project: int, name: str, texts: Mapping[int, str]) -> None:
    """Set one field of the `data` of tasks, by task id, in one request for all tasks that get the same text."""
    by_text: dict[str, list[int]] = defaultdict(list)
    for task, text in texts.items():
        by_text[text].append(task)
    for text, tasks in by_text.items():
        # One request for each of 300 tasks took 49 s; this took 7 s, with 100 different texts.
        connection.client.actions.create(
            id="add_data_field", project=project,
            selected_items={"all": False, "included": tasks},
            request_options={"additional_body_parameters": {"value_name": name, "value_type": "String", "value": text}},
        )  # fmt: skip


def _import(task: NewTask, people: People) -> dict[str, Any]:
    annotations = [
        # Nested annotations are ground truth unless the import says otherwise.
        {"result": result_of(judgment, task.data), "completed_by": people.user(person), "ground_truth": False}
        for person, judgment in task.judgments.items()
    ]
    return {"data": task.data, "annotations": annotations, "predictions": list(task.predictions)}


def _is_complete(stored: RemoteTask, sent: NewTask, people: People) -> bool:
    by_person, _ = annotations_by_person([stored], people)
    has_judgments = all(
        person in by_person and by_person[person].judgment == judgment for person, judgment in sent.judgments.items()
    )
    return has_judgments and all(p["model_version"] in stored.versions for p in sent.predictions)
