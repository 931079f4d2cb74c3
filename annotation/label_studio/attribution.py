"""Judgments that may be kept under the wrong name, and the decision whose they are.

A project made for one person may be worked in from another account: by somebody who signed in to Label Studio as its admin,
say. Such a judgment is kept under the account's own name, because that alone is certain. It is reported until somebody who
knows assigns it to the person. That decision is two events of the log, so that nothing is overwritten: the word is taken back
under the one name, with the decision as its comment, and given again under the other.
"""

from typing import Any, NamedTuple

from sqlalchemy import Row, Select, select

from berdseye.annotation.batches.stored import Batch, list_batches
from berdseye.annotation.judgments.database import writing
from berdseye.annotation.judgments.log import Annotator, Judgments, now
from berdseye.annotation.judgments.schema import annotators, present, sync_annotations, sync_projects
from berdseye.annotation.label_studio.exchange_state import Local, Place, append_events, read_local
from berdseye.annotation.label_studio.project import event_uid
from berdseye.annotation.label_studio.purpose import Purpose, batch_purposes
from berdseye.annotation.label_studio.report import ExchangeReport
from berdseye.data.errors import BadInputError

_THERE = "label-studio"
_WORDS = ("judge", "prefer")


class Misplaced(NamedTuple):
    """Judgments in the project of `person` that were made from the account of another, `author`."""

    batch: str
    project: str
    person: str
    author: str
    judgments: int

    def __str__(self) -> str:
        return (
            f"{self.judgments} judgments in the project of {self.person} were made as {self.author}. They are kept under that "
            f"name. If they are {self.person}'s, assign them: berdseye label-studio assign {self.batch} "
            f'--to "{self.person}" --from "{self.author}"'
        )


class Assigned(NamedTuple):
    """What an assignment did; `earlier`: those that the person's own later word on the same pair follows."""

    judgments: int
    earlier: int
    person: str
    author: str

    def __str__(self) -> str:
        told = f"{self.judgments} judgments of {self.author} are now kept as {self.person}'s."
        if self.earlier:
            told += f" On {self.earlier} of these pairs {self.person} gave a later judgment, which still counts."
        return f"{told} The next exchange brings Label Studio into agreement."


def misplaced(judgments: Judgments, project: str | None = None) -> list[Misplaced]:
    """By project and account, the present judgments that were made in one person's project from another's account."""
    people = {person.id: person.name for person in judgments.annotators()}
    names = {batch.id: batch.name for batch in list_batches(judgments)}
    query = _received().where(
        sync_projects.c.annotator_id.is_not(None), sync_projects.c.annotator_id != present.c.annotator_id
    )
    if project is not None:
        query = query.where(sync_projects.c.project == project)
    found: dict[tuple[int, str, int, int], int] = {}
    with judgments.reading() as connection:
        for row in connection.execute(query):
            place = (row.batch, row.project, row.person, row.annotator_id)
            found[place] = found.get(place, 0) + 1
    return [
        Misplaced(names[batch], key, people[person], people[author], count)
        for (batch, key, person, author), count in found.items()
    ]


def warned(judgments: Judgments, purpose: Purpose) -> ExchangeReport:
    """A report of what in a project may be kept under the wrong name."""
    if purpose.person is None:
        return ExchangeReport()
    return ExchangeReport(warnings=tuple(str(one) for one in misplaced(judgments, purpose.project)))


def assign(judgments: Judgments, batch: Batch, to: Annotator, author: Annotator | None, by: str) -> Assigned:
    """Decide that what was received of a batch from another account is the word of `to`; `by` is who decides.

    Without an `author`, what stands in the project of `to` under one other name is meant. Where `to` has no project of their
    own in the batch, an author has to be named, and all of the batch that is theirs is meant. A word that `to` gave on a pair
    later stays the present one. Raises `BadInputError` where nothing, or more than one author, is meant.
    """
    own = [one.project for one in batch_purposes(judgments, batch.id) if one.person == to.id]
    if not own and author is None:
        raise BadInputError(
            f"{to.name} has no project of their own in batch '{batch.name}'.",
            hint="Say whose judgments are meant: --from NAME.",
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
                f"There are judgments of {listed} in the project of {to.name}."
                if authors
                else f"Batch '{batch.name}' holds no judgment from Label Studio that could be assigned to {to.name}.",
                hint="Say whose are meant: --from NAME." if authors else "Receive first: berdseye label-studio pull.",
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
    """The present words that Label Studio's projects for batches gave rise to, with the project and whose it is."""
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
            present.c.kind.in_(_WORDS),
        )
        .order_by(present.c.id)
    )


def _reassigned(row: Row[Any], to: Annotator, ours: Local | None, decision: str) -> tuple[list[dict[str, Any]], bool]:
    """The events that make a word another person's, and whether that person has a later word of their own."""
    word = {name: value for name, value in row._mapping.items() if name in present.c and name != "id"}
    taken = {**word, "kind": "withdraw", "verdict": None, "comment": decision, "at": now(), "seconds": None}
    given = {**word, "annotator_id": to.id}
    for one, kind in ((taken, "taken"), (given, "given")):
        one.update(uid=event_uid(row.project, "assigned", kind, to.id, row.uid), target=None)
    if ours is None or ours.event is None or ours.word is None or ours.at <= row.at:
        return [taken, given], False
    # The log's last event is the present one: what this person said later follows.
    again = {name: value for name, value in ours.event.items() if name != "id"}
    again.update(uid=event_uid(row.project, "again", to.id, ours.uid, row.uid), target=None)
    return [taken, given, again], True
