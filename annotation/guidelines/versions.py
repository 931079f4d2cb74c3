"""Versions of the guidelines: texts identified by their hash, the one in use, and the one that a person judged by last."""

import hashlib
from functools import cache
from importlib.resources import files
from typing import NamedTuple

from sqlalchemy import Connection, false, or_, select

from berdseye.annotation.batches.stored import TASKS, Batch, Task
from berdseye.annotation.judgments.database import writing
from berdseye.annotation.judgments.log import Annotator, Judgments, now
from berdseye.annotation.judgments.schema import batches, events, guidelines, guidelines_in_use
from berdseye.data.errors import BadInputError, UnknownNameError
from berdseye.data.texts.passages import clean

PACKAGED = "packaged"
_LONGEST = 20_000


class Guidelines(NamedTuple):
    """A text and its version."""

    version: str
    text: str


class Stored(NamedTuple):
    """A stored text, and the tasks of the workspace that it is in use for."""

    version: str
    at: str
    made_by: str
    text: str
    used_for: tuple[Task, ...]


class Use(NamedTuple):
    """A version that became the one in use for a task: when, and who decided it."""

    version: str
    at: str
    made_by: str


def version_of(text: str) -> str:
    """Return the version of a text: the first 12 hexadecimal digits of its SHA-256."""
    return hashlib.sha256(text.encode("utf-8")).hexdigest()[:12]


@cache
def packaged(task: Task) -> Guidelines:
    """Return Berdseye's own guidelines for a task (judge, verify, prefer or check), used unless a workspace has others."""
    text = (files("berdseye.annotation.guidelines") / f"{task}.md").read_text(encoding="utf-8").strip()
    return Guidelines(version_of(text), text)


def keep(judgments: Judgments, text: str, *, made_by: str = "") -> Guidelines:
    """Store a text, once; raises `BadInputError` for one that is empty or longer than 20,000 characters."""
    text = "\n".join(_indent(line) + clean(line) for line in text.strip().splitlines())
    if not text or len(text) > _LONGEST:
        raise BadInputError(
            f"Guidelines must have 1 to {_LONGEST:,} characters, got {len(text):,}.",
            hint="Shorten the text." if text else "Write a text.",
        )
    stored = Guidelines(version_of(text), text)
    with writing(judgments.engine) as connection:
        _store(judgments, connection, stored, made_by)
    return stored


def use(judgments: Judgments, text: str | None, *, task: Task = "judge", made_by: str = "") -> Guidelines:
    """Show a text (None: the packaged one) with the pairs of this task from now on, except in batches with their own text.

    Raises `UnknownNameError` for an unknown task, `BadInputError` for a text that is empty or too long.
    """
    if task not in TASKS:
        raise UnknownNameError("task", task, TASKS)
    chosen = packaged(task) if text is None else keep(judgments, text, made_by=made_by)
    with writing(judgments.engine) as connection:
        _store(judgments, connection, chosen, made_by if text is not None else PACKAGED)
        row = {"at": now(), "made_by": made_by, "task": task, "version": chosen.version}
        connection.execute(guidelines_in_use.insert().values(row))
    return chosen


def load(judgments: Judgments, version: str) -> Guidelines:
    """Return the text of a version; raises `UnknownNameError`."""
    with judgments.reading() as connection:
        text = connection.execute(select(guidelines.c.text).where(guidelines.c.version == version)).scalar()
        if text is None:
            versions = connection.execute(select(guidelines.c.version)).scalars().all()
            raise UnknownNameError("version of the guidelines", version, versions)
    return Guidelines(version, str(text))


def in_use(judgments: Judgments, task: Task = "judge", batch: Batch | None = None) -> Guidelines:
    """Return the text shown with a pair: the batch's own, otherwise the workspace's for the task, otherwise the packaged one.

    For a batch of checks, the instructions of its form come before a text that is not its own. The text is stored, so that its
    version can be looked up as long as the judgments exist.
    """
    if batch is not None and batch.guidelines is not None:
        return load(judgments, batch.guidelines)
    if batch is not None and batch.check is not None:
        return _shown(judgments, f"{batch.check.instructions}\n\n{in_use(judgments, task).text}")
    query = (
        select(guidelines.c.version, guidelines.c.text)
        .join(guidelines_in_use, guidelines_in_use.c.version == guidelines.c.version)
        .where(guidelines_in_use.c.task == task)
        .order_by(guidelines_in_use.c.id.desc())
        .limit(1)
    )
    with judgments.reading() as connection:
        if (row := connection.execute(query).one_or_none()) is not None:
            return Guidelines(row.version, row.text)
    return _shown(judgments, packaged(task).text)


def list_guidelines(judgments: Judgments) -> list[Stored]:
    """Return every stored text, the oldest first; the packaged ones are in use for tasks without another text."""
    for task in TASKS:
        in_use(judgments, task)
    used: dict[str, list[Task]] = {}
    for task in TASKS:
        used.setdefault(in_use(judgments, task).version, []).append(task)
    query = select(guidelines).order_by(guidelines.c.at, guidelines.c.version)
    with judgments.reading() as connection:
        return [
            Stored(row.version, row.at, row.made_by, row.text, tuple(used.get(row.version, ())))
            for row in connection.execute(query)
        ]


def uses(judgments: Judgments, task: Task) -> list[Use]:
    """Return which versions were in use for a task, the present one first; empty if it always was the packaged one."""
    query = (
        select(guidelines_in_use.c.version, guidelines_in_use.c.at, guidelines_in_use.c.made_by)
        .where(guidelines_in_use.c.task == task)
        .order_by(guidelines_in_use.c.id.desc())
    )
    with judgments.reading() as connection:
        return [Use(row.version, row.at, row.made_by) for row in connection.execute(query)]


def judged_by_before(judgments: Judgments, person: Annotator, task: Task, batch: Batch | None = None) -> str | None:
    """Return the version by which this person last judged in this batch (or outside batches), otherwise in any such task.

    None if that person has not judged in such a task, or only before versions were recorded.
    """
    mine = (
        select(events.c.guidelines)
        .where(events.c.annotator_id == person.id, events.c.guidelines.is_not(None))
        .order_by(events.c.id.desc())
        .limit(1)
    )
    here = mine.where(events.c.batch.is_(None) if batch is None else events.c.batch == batch.id)
    same_task = select(batches.c.id).where(batches.c.task == task)
    anywhere = mine.where(or_(events.c.batch.in_(same_task), events.c.batch.is_(None) if task == "judge" else false()))
    with judgments.reading() as connection:
        version = connection.execute(here).scalar() or connection.execute(anywhere).scalar()
    return None if version is None else str(version)


def _shown(judgments: Judgments, text: str) -> Guidelines:
    """Return a text of Berdseye's own, stored the first time that it is shown."""
    shown = Guidelines(version_of(text), text)
    with judgments.reading() as connection:
        stored = select(guidelines.c.version).where(guidelines.c.version == shown.version)
        if connection.execute(stored).one_or_none() is not None:
            return shown
    with writing(judgments.engine) as connection:
        _store(judgments, connection, shown, PACKAGED)
    return shown


def _indent(line: str) -> str:
    return line[: len(line) - len(line.lstrip(" "))]


def _store(judgments: Judgments, connection: Connection, text: Guidelines, made_by: str) -> None:
    row = {"version": text.version, "at": now(), "made_by": made_by, "text": text.text}
    connection.execute(judgments.insert_new(guidelines, [row], "version"))
