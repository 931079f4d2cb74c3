"""Tasks and annotations as Label Studio holds them now."""

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from berdseye.annotation.judgments.log import batched_rows
from berdseye.annotation.label_studio.connection import Connection
from berdseye.annotation.label_studio.form import Word, word_of
from berdseye.annotation.label_studio.people import People
from berdseye.data.errors import BadInputError, BerdseyeError

_PAGE = 1000
# Ids go into the address of the request, which the server accepts up to 64 KB.
_LOOK_UP = 500
# Label Studio applies `include` to the nested annotations too: their fields have to be named beside the
# task's.
_FIELDS = (
    "id,data,annotations,result,completed_by,updated_at,updated_by,was_cancelled,unique_id,lead_time,total_predictions"
)
_USERS = ("completed_by", "updated_by")
_ATTEMPTS = 3
_LONGEST_SECONDS = 24 * 3600.0


@dataclass(frozen=True)
class RemoteAnnotation:
    """An annotation: its author's word (None: skipped); `problem` says why it cannot be read; `seconds` it took.

    `editor` is the user who changed it last, the author included.
    """

    id: int
    user: int | None
    at: str
    word: Word | None
    problem: str = ""
    seconds: float | None = None
    editor: int | None = None


@dataclass(frozen=True)
class RemoteTask:
    """A task of ours: `key` is the pair's, `versions` the model versions it has predictions of (where asked for)."""

    id: int
    key: str
    data: Mapping[str, Any]
    annotations: tuple[RemoteAnnotation, ...]
    versions: frozenset[str] = frozenset()
    predicted: bool = False


@dataclass(frozen=True)
class Said:
    """All that one annotator has on one pair: the newest annotation counts, older ones stay listed.

    `shown`: a prediction stands on the task, so that the annotator may have seen it.
    """

    annotations: tuple[RemoteAnnotation, ...]
    shown: bool = False

    @property
    def newest(self) -> RemoteAnnotation:
        return self.annotations[-1]

    @property
    def word(self) -> Word | None:
        return self.newest.word


def all_tasks(connection: Connection, project: int, *, versions: bool = False) -> list[RemoteTask]:
    """Every task of a project that carries an id of ours; with model versions where asked for."""
    include = f"{_FIELDS},predictions_model_versions" if versions else _FIELDS
    return [task for item in raw_tasks(connection, project, include) if (task := _task(item)) is not None]


def raw_tasks(connection: Connection, project: int, include: str = _FIELDS) -> list[Any]:
    """Every task of a project as the SDK reads it, whoever made it."""
    for _ in range(_ATTEMPTS):
        found, total = _pages(connection, project, include)
        # Deletions while we read shift the pages, so that some tasks are skipped.
        if len(found) >= total:
            return list(found.values())
    raise BerdseyeError("The tasks in Label Studio changed while they were read.", hint="Try again.")


def changed_keys(connection: Connection, project: int, since: datetime) -> list[str]:
    """The pairs whose tasks were made, or whose annotations were made, changed or deleted after a moment, each once."""
    # Label Studio takes no moment without a fraction of a second.
    moment = since.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    query = _filtered("updated_at", "greater", "Datetime", moment)
    found, _ = _pages(connection, project, "id,data", query)
    keys = (item.data.get("ext_id") for item in found.values() if isinstance(item.data, dict))
    return list(dict.fromkeys(key for key in keys if isinstance(key, str)))


def look_up(connection: Connection, project: int, keys: Sequence[str]) -> dict[str, list[RemoteTask]]:
    """The tasks of these pairs, with model versions, oldest first; several of one pair are duplicates."""
    by_key: dict[str, list[RemoteTask]] = defaultdict(list)
    for chunk in batched_rows(keys, _LOOK_UP):
        query = _filtered("data.ext_id", "in_list", "String", chunk)
        found, _ = _pages(connection, project, f"{_FIELDS},predictions_model_versions", query)
        for item in found.values():
            task = _task(item)
            if task is not None and task.key in chunk:
                by_key[task.key].append(task)
    for tasks in by_key.values():
        tasks.sort(key=lambda task: task.id)
    return by_key


def last_change(connection: Connection, annotation: int) -> str:
    """When an annotation was changed last, as of this moment."""
    return moment_of(connection.client.annotations.get(id=annotation).updated_at)


def said(tasks: Iterable[RemoteTask], people: People) -> tuple[dict[int, Said], list[str]]:
    """What each annotator says in the tasks of one pair, by annotator id, and the problems met in reading it.

    An annotator with a problem is listed too: what cannot be read is neither a withdrawal nor to be
    overwritten. What was exchanged before is known by `People.recall`.
    """
    by_person: dict[int, list[RemoteAnnotation]] = defaultdict(list)
    problems: list[str] = []
    held = list(tasks)
    shown = any(task.predicted for task in held)
    for task in held:
        for annotation in task.annotations:
            person = people.author(task.key, annotation.id, annotation.user)
            name = f"Annotation {annotation.id} of task {task.id}"
            if person is None:
                problems.append(f"{name}: its author is not known to Label Studio any more.")
                continue
            if annotation.problem:
                problems.append(f"{name} by {person.name}: {annotation.problem}")
            by_person[person.id].append(annotation)
    ordered = {
        person: Said(tuple(sorted(annotations, key=lambda a: (a.at, a.id))), shown)
        for person, annotations in by_person.items()
    }
    return ordered, problems


def _filtered(column: str, operator: str, kind: str, value: Any) -> str:
    condition = {"filter": f"filter:tasks:{column}", "operator": operator, "type": kind, "value": value}
    return json.dumps({"filters": {"conjunction": "and", "items": [condition]}})


def _pages(connection: Connection, project: int, include: str, query: str | None = None) -> tuple[dict[int, Any], int]:
    """Tasks by id, and how many the server said there are."""
    found: dict[int, Any] = {}
    page, total = 1, 1
    asked = {} if query is None else {"query": query}
    while (page - 1) * _PAGE < total:
        # The SDK's own paging takes an error on a later page for the end of the list.
        got = connection.client.tasks.list(
            project=project, page=page, page_size=_PAGE, include=include, resolve_uri=False, **asked
        )
        total = got.response.total
        found.update((task.id, task) for task in got.items or ())
        page += 1
    return found, total


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
            word = word_of(raw["result"], data)
        except BadInputError as error:
            problem = f"{error}"
    user, editor = (who.get("id") if isinstance(who, dict) else who for who in map(raw.get, _USERS))
    at, seconds = moment_of(raw["updated_at"]), seconds_of(raw.get("lead_time"))
    return RemoteAnnotation(int(raw["id"]), user, at, word, problem, seconds, editor)


def moment_of(value: str | datetime) -> str:
    """A moment as our events write it, so that both sides' compare as text."""
    moment = value if isinstance(value, datetime) else datetime.fromisoformat(value)
    return moment.astimezone(UTC).isoformat(timespec="microseconds")


def seconds_of(value: Any) -> float | None:
    """The time an annotation took, as Label Studio's `lead_time` tells it; None for what cannot be true."""
    return float(value) if isinstance(value, int | float) and 0 < value < _LONGEST_SECONDS else None
