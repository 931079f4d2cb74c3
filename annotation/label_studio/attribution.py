"""Judgments that may be recorded under the wrong name, and their assignment to the right person.

Someone may judge in the project of one person from another account, for example signed in to Label Studio as its admin. Such
a judgment is recorded under the name of the account, since only that is certain. It is reported until somebody who knows
assigns it to the person. An assignment adds two events to the log, so that nothing is overwritten: the judgment is withdrawn
under the one name, with the assignment as its comment, and recorded again under the other.
"""

from typing import Any, NamedTuple

from sqlalchemy import Row, Select, select

from berdseye.annotation.batches.stored import Batch, list_batches
from berdseye.annotation.judgments.database import writing
from berdseye.annotation.judgments.log import VERDICT_KINDS, Annotator, Judgments, now
from berdseye.annotation.judgments.schema import annotators, present, sync_annotations, sync_projects
from berdseye.annotation.label_studio.exchange_state import ExchangeReport, Local, Place, append_events, read_local
from berdseye.annotation.label_studio.project import Purpose, batch_purposes, event_uid
from berdseye.data.errors import BadInputError

_THERE = "label-studio"


class Misplaced(NamedTuple):
    """Judgments in the project of `person` that were made from the account of another person, `author`."""

    batch: str
    project: str
    person: str
    author: str
    judgments: int

    def __str__(self) -> str:
        return (
            f"{self.judgments} judgments in the project of {self.person} were made from the account of {self.author}, and "
            f"are recorded under that name. If they are {self.person}'s, assign them: berdseye label-studio assign "
            f'{self.batch} --to "{self.person}" --from "{self.author}"'
        )


class Assigned(NamedTuple):
    """The result of an assignment; `earlier` counts the pairs on which the person's own later judgment still counts."""

    judgments: int
    earlier: int
    person: str
    author: str

    def __str__(self) -> str:
        message = f"{self.judgments} judgments of {self.author} are now recorded as {self.person}'s."
        if self.earlier:
            message += f" On {self.earlier} of these pairs {self.person} made a later judgment, which still counts."
        return f"{message} The next exchange brings Label Studio into agreement."


def misplaced(judgments: Judgments, project: str | None = None) -> list[Misplaced]:
    """Return the present judgments made in one person's project from another's account, counted by project and account."""
    people = {person.id: person.name for person in judgments.annotators()}
    names = {batch.id: batch.name for batch in list_batches(judgments)}
    query = _received().where(
        sync_projects.c.annotator_id.is_not(None), sync_projects.c.annotator_id != present.c.annotator_id
    )
    if project is not None:
        query = query.where(sync_projects.c.project == project)
    counts: dict[tuple[int, str, int, int], int] = {}
    with judgments.reading() as connection:
        for row in connection.execute(query):
            place = (row.batch, row.project, row.person, row.annotator_id)
            counts[place] = counts.get(place, 0) + 1
    return [
        Misplaced(names[batch], key, people[person], people[author], count)
        for (batch, key, person, author), count in counts.items()
    ]


def misattribution_warnings(judgments: Judgments, purpose: Purpose) -> ExchangeReport:
    """Return a report that warns of the judgments in a project that may be recorded under the wrong name."""
    if purpose.person is None:
        return ExchangeReport()
    return ExchangeReport(warnings=tuple(str(one) for one in misplaced(judgments, purpose.project)))


def assign(judgments: Judgments, batch: Batch, to: Annotator, author: Annotator | None, by: str) -> Assigned:
    """Assign the judgments of a batch that were pulled from another account to the person `to`; `by` names who decides.

    Without an `author`, these are the judgments in the project of `to` under one other name. If `to` has no project of their
    own in the batch, an author must be named, and these are all judgments of the batch by that author. A later judgment by
    `to` of the pair still counts. Raises `BadInputError` if there are no such judgments, or some of more than one author.
    """
    own = [one.project for one in batch_purposes(judgments, batch.id) if one.person == to.id]
    if not own and author is None:
        raise BadInputError(
            f"{to.name} has no project of their own in batch '{batch.name}'.",
            hint="Name the account that the judgments were made from: --from NAME.",
        )
    query = _received().where(present.c.batch == batch.id, present.c.annotator_id != to.id)
    if own:
        query = query.where(sync_projects.c.project.in_(own))
    if author is not None:
        query = query.where(present.c.annotator_id == author.id)
    with writing(judgments.engine) as connection:
        rows = {row.pair: row for row in connection.execute(query)}
        names = {row.id: row.name for row in connection.execute(select(annotators.c.id, annotators.c.name))}
        authors = {row.annotator_id for row in rows.values()}
        if len(authors) != 1:
            listed = " and ".join(sorted(names[one] for one in authors))
            raise BadInputError(
                f"The project of {to.name} has judgments of several people: {listed}."
                if authors
                else f"Batch '{batch.name}' has no judgment from Label Studio that could be assigned to {to.name}.",
                hint="Name one of them: --from NAME."
                if authors
                else "Pull the judgments first: `berdseye label-studio pull`.",
            )
        local = read_local(connection, list(rows))
        appended: list[dict[str, Any]] = []
        earlier = 0
        for pair, row in rows.items():
            steps, later = _reassigned(row, to, local.get(Place(pair, to.id)), f"Assigned to {to.name} by {by or '?'}.")
            appended += steps
            earlier += later
        append_events(connection, appended)
    return Assigned(len(rows), earlier, to.name, names[authors.pop()])


def _received() -> Select[Any]:
    """Select the present judgments that came from the Label Studio projects of batches, with the project and its person."""
    here = (
        (sync_annotations.c.project == sync_projects.c.project)
        & (sync_annotations.c.pair == present.c.pair)
        & (sync_annotations.c.annotator_id == present.c.annotator_id)
    )
    return (
        select(present, sync_projects.c.project, sync_projects.c.annotator_id.label("person"))
        .join(sync_annotations, (sync_annotations.c.pair == present.c.pair))
        .join(sync_projects, here)
        .where(
            sync_annotations.c.verdict.is_not(None),
            present.c.source == _THERE,
            present.c.batch == sync_projects.c.batch_id,
            present.c.kind.in_(VERDICT_KINDS),
        )
        .order_by(present.c.id)
    )


def _reassigned(row: Row[Any], to: Annotator, ours: Local | None, decision: str) -> tuple[list[dict[str, Any]], bool]:
    """Build the events that assign a judgment to another person; also say whether that person has a later one of their own."""
    judgment = {name: value for name, value in row._mapping.items() if name in present.c and name != "id"}
    withdrawal = {**judgment, "kind": "withdraw", "verdict": None, "comment": decision, "at": now(), "seconds": None}
    assigned = {**judgment, "annotator_id": to.id}
    for event, kind in ((withdrawal, "taken"), (assigned, "given")):
        event.update(uid=event_uid(row.project, "assigned", kind, to.id, row.uid), target=None)
    if ours is None or ours.event is None or ours.judgment is None or ours.at <= row.at:
        return [withdrawal, assigned], False
    # The last event in the log counts, so this person's later judgment is appended after the assigned one.
    again = {name: value for name, value in ours.event.items() if name != "id"}
    again.update(uid=event_uid(row.project, "again", to.id, ours.uid, row.uid), target=None)
    return [withdrawal, assigned, again], True
