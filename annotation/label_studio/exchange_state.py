"""The state of an exchange: the judgments here, those that both sides agreed on last, and those that wait; and its report.

The three-way rule (`step`) compares the state agreed on last with the states here and in Label Studio.
"""

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from enum import Enum
from typing import Any, NamedTuple

from sqlalchemy import (
    ColumnElement,
    Connection,
    Select,
    Table,
    and_,
    bindparam,
    delete,
    exists,
    func,
    or_,
    select,
    union_all,
)
from sqlalchemy import func as sql
from sqlalchemy.dialects import postgresql, sqlite

from berdseye.annotation.batches.stored import EVENT_KINDS
from berdseye.annotation.judgments.log import VERDICT_KINDS, Judgments, PairRecord, batched_rows
from berdseye.annotation.judgments.schema import (
    batch_items,
    events,
    pairs,
    present,
    sync_annotations,
    sync_projects,
    sync_tasks,
)
from berdseye.annotation.label_studio.form import RecordedVerdict
from berdseye.annotation.label_studio.project import Purpose, batch_purposes, purpose_of

ARRIVES_WITHIN = 900
"""Seconds after which an import has ended in the server, even if its sender was killed."""
SENT = "!sent"
"""The suffix of a project's name in rows of judgments on their way there; their `annotation` is the time, in seconds."""


class Place(NamedTuple):
    """The place of a judgment: a pair and an annotator."""

    pair: str
    annotator: int


@dataclass(frozen=True)
class Local:
    """The state of a place here: the judgment (None: none in force), the time of the last event, and the present event."""

    judgment: RecordedVerdict | None
    at: str
    source: str
    uid: str
    event: dict[str, Any] | None


class Agreed(NamedTuple):
    """The state of a place on both sides after an exchange: the judgment, and the id of its annotation."""

    judgment: RecordedVerdict | None
    annotation: int | None


def read_pairs(connection: Connection, keys: Sequence[str]) -> dict[str, PairRecord]:
    """Return the pairs of these keys that are in the judgments database, by key."""
    names = list(PairRecord.__dataclass_fields__)
    records: dict[str, PairRecord] = {}
    for chunk in batched_rows(list(keys)):
        for row in connection.execute(select(pairs).where(pairs.c.key.in_(chunk))).mappings():
            records[row["key"]] = PairRecord(**{name: row[name] for name in names})
    return records


def read_local(connection: Connection, keys: Sequence[str]) -> dict[Place, Local]:
    """Return the state of all places of these pairs, including those whose judgment was withdrawn."""
    local: dict[Place, Local] = {}
    for chunk in batched_rows(list(keys)):
        newest = (
            select(func.max(events.c.id)).where(events.c.pair.in_(chunk)).group_by(events.c.annotator_id, events.c.pair)
        )
        standing = {
            Place(row["pair"], row["annotator_id"]): dict(row)
            for row in connection.execute(select(present).where(present.c.pair.in_(chunk))).mappings()
        }
        for last in connection.execute(select(events).where(events.c.id.in_(newest))):
            place = Place(last.pair, last.annotator_id)
            event = standing.get(place)
            judgment = None
            if event is not None and event["kind"] in VERDICT_KINDS:
                judgment = RecordedVerdict(str(event["verdict"]), event["comment"].strip())
            local[place] = Local(judgment, last.at, last.source, event["uid"] if event else last.uid, event)
    return local


def read_agreed(connection: Connection, project: str, keys: Sequence[str]) -> dict[Place, RecordedVerdict | None]:
    """Return the judgments of these pairs that both sides agreed on last."""
    return {place: judgment for place, (judgment, _) in _read_judgments(connection, project, keys).items()}


def read_authors(connection: Connection, project: str, keys: Sequence[str]) -> dict[tuple[str, int], int]:
    """Return the annotator under whom an annotation was exchanged, by its pair and its id in Label Studio."""
    rows = _read_judgments(connection, project, keys)
    return {(place.pair, number): place.annotator for place, (_, number) in rows.items() if number is not None}


def read_sent(connection: Connection, project: str, keys: Sequence[str]) -> dict[Place, RecordedVerdict | None]:
    """Return the judgments pushed recently without a confirmation: they may have arrived, or may still arrive."""
    oldest = int(time.time()) - ARRIVES_WITHIN
    rows = _read_judgments(connection, _sent(project), keys)
    return {place: judgment for place, (judgment, moment) in rows.items() if (moment or 0) >= oldest}


def write_sent(connection: Connection, project: str, judgments: Mapping[Place, RecordedVerdict | None]) -> None:
    """Store, before a push, the judgments about to be sent: a crash may happen between their arrival and the confirmation.

    Otherwise a judgment of Berdseye found in Label Studio would look like a change that someone made there.
    """
    moment = int(time.time())
    _write_judgments(
        connection, _sent(project), {place: Agreed(judgment, moment) for place, judgment in judgments.items()}
    )


def _sent(project: str) -> str:
    return f"{project}{SENT}"


def _read_judgments(
    connection: Connection, project: str, keys: Sequence[str]
) -> dict[Place, tuple[RecordedVerdict | None, int | None]]:
    table = sync_annotations
    judgments: dict[Place, tuple[RecordedVerdict | None, int | None]] = {}
    for chunk in batched_rows(list(keys)):
        query = select(table).where(table.c.project == project, table.c.pair.in_(chunk))
        for row in connection.execute(query):
            judgment = None if row.verdict is None else RecordedVerdict(row.verdict, row.comment)
            judgments[Place(row.pair, row.annotator_id)] = (judgment, row.annotation)
    return judgments


def append_events(connection: Connection, rows: Iterable[dict[str, Any]]) -> None:
    """Append events; those whose uid is in the log already are skipped.

    A judgment of a batch has the propensity with which the batch drew its pair, if the batch has drawn it.
    """
    for chunk in batched_rows(list(rows)):
        drawn = select(batch_items.c.batch_id, batch_items.c.pair, batch_items.c.propensity).where(
            batch_items.c.pair.in_({row["pair"] for row in chunk}), batch_items.c.propensity.is_not(None)
        )
        chances = {(row.batch_id, row.pair): row.propensity for row in connection.execute(drawn)}
        for row in chunk:
            row.setdefault("propensity", None)
            if row["kind"] in ("judge", "prefer") and row["propensity"] is None:
                row["propensity"] = chances.get((row["batch"], row["pair"]))
        connection.execute(_insert(connection, events).values(chunk).on_conflict_do_nothing(index_elements=["uid"]))


def write_agreed(connection: Connection, project: str, agreed: Mapping[Place, Agreed]) -> None:
    """Store the judgments that both sides agree on now, and delete the notes that they are on their way."""
    _write_judgments(connection, project, agreed)
    if agreed:
        table = sync_annotations
        arrived = delete(table).where(
            table.c.project == _sent(project),
            table.c.pair == bindparam("of_pair"),
            table.c.annotator_id == bindparam("of_annotator"),
        )
        connection.execute(arrived, [{"of_pair": p.pair, "of_annotator": p.annotator} for p in agreed])


def _write_judgments(connection: Connection, project: str, agreed: Mapping[Place, Agreed]) -> None:
    rows = [
        {
            "project": project, "pair": place.pair, "annotator_id": place.annotator, "annotation": a.annotation,
            "verdict": a.judgment.verdict if a.judgment else None, "comment": a.judgment.comment if a.judgment else "",
        }
        for place, a in agreed.items()
    ]  # fmt: skip
    _upsert(
        connection,
        sync_annotations,
        rows,
        ("project", "pair", "annotator_id"),
        ("annotation", "verdict", "comment"),
    )


def write_tasks(connection: Connection, project: str, tasks: Mapping[str, int]) -> None:
    """Store which task has a pair, for people's information only: look-ups use the pair, since task ids are reused."""
    rows = [{"project": project, "pair": pair, "task": task} for pair, task in tasks.items()]
    _upsert(connection, sync_tasks, rows, ("project", "pair"), ("task",))


def forget_tasks(connection: Connection, project: str, keys: Sequence[str]) -> None:
    """Delete the records that these pairs had a task."""
    for chunk in batched_rows(list(keys)):
        here = sync_tasks.c.project == project
        connection.execute(delete(sync_tasks).where(here, sync_tasks.c.pair.in_(chunk)))


def _upsert(
    connection: Connection,
    table: Table,
    rows: list[dict[str, Any]],
    key: Sequence[str],
    columns: Sequence[str],
) -> None:
    for chunk in batched_rows(rows):
        insert = _insert(connection, table).values(chunk)
        newer = {name: insert.excluded[name] for name in columns}
        connection.execute(insert.on_conflict_do_update(index_elements=list(key), set_=newer))


def _insert(connection: Connection, table: Table) -> Any:
    dialect = sqlite if connection.dialect.name == "sqlite" else postgresql
    return dialect.insert(table)


class Step(Enum):
    """The step that brings both sides into agreement on one annotator's judgment of one pair."""

    NOTHING = "both sides are as agreed last"
    AGREED = "both sides changed in the same way, which only needs to be noted"
    RECEIVE = "only Label Studio changed"
    SEND = "only Berdseye changed"
    OURS_IS_LATER = "both changed differently, and the judgment in Berdseye is the later one"
    THEIRS_IS_LATER = "both changed differently, and the judgment in Label Studio is the later one"


def step(
    base: RecordedVerdict | None,
    local: RecordedVerdict | None,
    remote: RecordedVerdict | None,
    *,
    ours_at: str,
    theirs_at: str | None,
) -> Step:
    """Return the step for one annotator and pair; `ours_at` and `theirs_at` are times as ISO texts in UTC.

    `theirs_at` is None for an annotation deleted in Label Studio, since the time of a deletion is unknown: then a judgment
    here counts.
    """
    if local == remote:
        return Step.NOTHING if base == local else Step.AGREED
    if base == local:
        return Step.RECEIVE
    if base == remote:
        return Step.SEND
    return Step.OURS_IS_LATER if theirs_at is None or ours_at > theirs_at else Step.THEIRS_IS_LATER


def waiting(judgments: Judgments, project: str | None = None) -> int:
    """Count the judgments and withdrawals that Label Studio has not confirmed; `project` is `Project.key`.

    Without a project, the count covers the workspace's project at the last exchange that created tasks (before the first one,
    everything waits) and every project of a batch.
    """
    if project is not None:
        purposes = [purpose_of(judgments, project)]
    else:
        with judgments.reading() as connection:
            latest = str(connection.execute(_latest_project()).scalar() or "")
        purposes = [Purpose(latest), *batch_purposes(judgments)]
    with judgments.reading() as connection:
        counts = (select(sql.count()).select_from(_waiting(one).subquery()) for one in purposes)
        return sum(int(connection.execute(count).scalar_one()) for count in counts)


def waiting_pairs(judgments: Judgments, project: str) -> list[str]:
    """Return the pairs with a judgment or withdrawal that waits to be pushed."""
    purpose = purpose_of(judgments, project)
    with judgments.reading() as connection:
        rows = connection.execute(_waiting(purpose)).all()
    return list(dict.fromkeys(row.pair for row in rows))


def _waiting(purpose: Purpose) -> Select[tuple[str, int]]:
    base = (
        select(sync_annotations)
        .where(sync_annotations.c.project == purpose.project, sync_annotations.c.verdict.is_not(None))
        .subquery()
    )
    judged = select(present).where(present.c.kind == EVENT_KINDS[purpose.task], belongs(purpose)).subquery()
    same_place = and_(base.c.pair == judged.c.pair, base.c.annotator_id == judged.c.annotator_id)
    changed = (
        select(judged.c.pair, judged.c.annotator_id)
        .outerjoin(base, same_place)
        .where(
            or_(
                base.c.pair.is_(None),
                base.c.verdict != judged.c.verdict,
                base.c.comment != sql.trim(judged.c.comment),
            )
        )
    )
    withdrawn = select(base.c.pair, base.c.annotator_id).outerjoin(judged, same_place).where(judged.c.pair.is_(None))
    both = union_all(changed, withdrawn).subquery()
    return select(both.c.pair, both.c.annotator_id)


def belongs(purpose: Purpose) -> ColumnElement[bool]:
    """Select whether a present judgment belongs in the project: on a pair that has, or in the workspace's may get, a task."""
    here = exists().where(sync_tasks.c.project == purpose.project, sync_tasks.c.pair == present.c.pair)
    if purpose.batch is None:
        # A pushed batch has projects of its own: a task here would show its pairs with predictions and others' judgments.
        elsewhere = exists().where(
            sync_projects.c.batch_id.is_not(None),
            sync_projects.c.project == sync_tasks.c.project,
            sync_tasks.c.pair == present.c.pair,
        )
        return or_(here, ~elsewhere)
    if purpose.person is None:
        return here
    exchanged = exists().where(
        sync_annotations.c.project == purpose.project,
        sync_annotations.c.pair == present.c.pair,
        sync_annotations.c.annotator_id == present.c.annotator_id,
        sync_annotations.c.verdict.is_not(None),
    )
    return and_(here, or_(present.c.annotator_id == purpose.person, exchanged))


def _latest_project() -> Select[tuple[str]]:
    of_batches = select(sync_projects.c.project).where(sync_projects.c.batch_id.is_not(None))
    query = select(sync_tasks.c.project).where(sync_tasks.c.project.not_in(of_batches))
    return query.order_by(sync_tasks.c.id.desc()).limit(1)


@dataclass(frozen=True)
class ExchangeReport:
    """Counts of what an exchange changed on either side, and the problems that it met.

    `warnings` name judgments that were exchanged but may be credited to the wrong person; they are ignored when two reports
    are compared.
    """

    tasks_created: int = 0
    predictions: int = 0
    annotations_created: int = 0
    annotations_updated: int = 0
    annotations_deleted: int = 0
    pulled_new: int = 0
    pulled_changed: int = 0
    pulled_withdrawn: int = 0
    conflicts: int = 0
    tasks_gone: int = 0
    problems: tuple[str, ...] = ()
    warnings: tuple[str, ...] = field(default=(), compare=False)

    def __add__(self, other: "ExchangeReport") -> "ExchangeReport":
        counts = {f.name: getattr(self, f.name) + getattr(other, f.name) for f in fields(self)}
        for name in ("problems", "warnings"):
            counts[name] = tuple(dict.fromkeys(counts[name]))
        return ExchangeReport(**counts)

    def __str__(self) -> str:
        parts = [
            f"pushed {self.tasks_created} tasks, {self.predictions} predictions",
            f"annotations {self.annotations_created} new, {self.annotations_updated} changed, "
            f"{self.annotations_deleted} deleted",
            f"pulled {self.pulled_new} new, {self.pulled_changed} changed, {self.pulled_withdrawn} withdrawn",
        ]
        if self.conflicts:
            parts.append(f"{self.conflicts} conflicts (both judgments are kept, the later one counts)")
        if self.tasks_gone:
            parts.append(f"{self.tasks_gone} tasks were deleted in Label Studio")
        if self.problems:
            parts.append(f"{len(self.problems)} problems, the first one: {self.problems[0]}")
        if self.warnings:
            parts.append(f"{len(self.warnings)} warnings")
        return "; ".join(parts) + "."
