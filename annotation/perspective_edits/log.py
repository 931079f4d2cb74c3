"""The log of edits of a data set's perspectives. Nothing in it is overwritten: a decision and an undo are events too.

Every event is checked against the present perspectives before it is written, one writer at a time: if two conflicting edits
are accepted at once, one is accepted and the other raises `ConflictError`.
"""

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Literal, NamedTuple, NoReturn
from uuid import uuid4

from sqlalchemy import Connection, func, select

from berdseye.annotation.judgments.database import writing
from berdseye.annotation.judgments.log import Annotator, Judgments, now
from berdseye.annotation.judgments.schema import annotators, perspective_edits
from berdseye.annotation.perspective_edits.changes import Change, ConflictError
from berdseye.annotation.perspective_edits.states import Edit, History, Replayed, accepted, replay
from berdseye.data.datasets.stored import load_dataset, split_version
from berdseye.data.errors import BadInputError, UnknownNameError
from berdseye.data.records import Question
from berdseye.data.texts.passages import clean
from berdseye.data.workspace import Workspace

KINDS = ("propose", "accept", "reject", "undo")
Undone = Literal["decision", "proposal"]
_EDITING = 0x70657273706564
"""The key of PostgreSQL's advisory lock for edits."""


class Event(NamedTuple):
    """An event to write: a proposal has a `change`, every other event a `target` (the id of an edit)."""

    kind: str
    person: Annotator
    change: Change | None = None
    question_id: str = ""
    target: int | None = None
    comment: str = ""
    uid: str | None = None
    at: str | None = None


class EditLog:
    """The log of edits of one data set."""

    def __init__(self, workspace: Workspace, judgments: Judgments, dataset: str) -> None:
        self.workspace, self.judgments = workspace, judgments
        self.dataset = split_version(dataset)[0]
        self.base = load_dataset(workspace, self.dataset)
        self._by_id = {q.id: q for q in self.base}

    def edits(self) -> list[Edit]:
        """Return every edit with its status, in the order they were proposed."""
        with self.judgments.reading() as connection:
            return self.edits_within(connection)

    def present(self) -> Replayed:
        """Return the questions after all accepted edits."""
        return replay(self.base, self.edits())

    def propose(
        self, person: Annotator, question_id: str, change: Change, *, comment: str = "", uid: str | None = None
    ) -> Edit:
        """Propose an edit that fits the present perspectives; one `uid` (a UUID) is recorded once.

        Raises `ConflictError` if it does not fit, `UnknownNameError` for an unknown question.
        """
        with locked_edits(self.judgments) as connection:
            return self.record(connection, Event("propose", person, change, question_id, comment=comment, uid=uid))

    def accept(self, person: Annotator, edit: int, *, comment: str = "", own: bool = False) -> Edit:
        """Accept an open edit; raises `ConflictError` if it no longer fits.

        With `own`, a person may accept their own proposal; otherwise that raises `BadInputError`.
        """
        with locked_edits(self.judgments) as connection:
            return self.record(connection, Event("accept", person, target=edit, comment=comment), own=own)

    def reject(self, person: Annotator, edit: int, *, comment: str = "") -> Edit:
        """Reject an open edit."""
        with locked_edits(self.judgments) as connection:
            return self.record(connection, Event("reject", person, target=edit, comment=comment))

    def undo(self, person: Annotator, edit: int, *, of: Undone | None = None, comment: str = "") -> Edit:
        """Take back the decision on an edit, which is then open again, or a person's own proposal of an open edit.

        `of` says which of the two is meant, in case somebody else has decided meanwhile. Raises `ConflictError` if an edit
        that was accepted later builds on this one.
        """
        with locked_edits(self.judgments) as connection:
            current = next((e for e in self.edits_within(connection) if e.id == edit), None)
            if of is not None and current is not None and (of == "decision") == (current.decision is None):
                raise BadInputError(f"Edit {edit} is now {current.status}.", hint="Look at the edit again.")
            return self.record(connection, Event("undo", person, target=edit, comment=comment))

    def record(
        self, connection: Connection, event: Event, *, own: bool = False, history: History | None = None
    ) -> Edit:
        """Check an event and write it in a transaction of `locked_edits`; returns its edit with the new status.

        To write many events, pass the `history` of the transaction, to which the event is added; then no event has to read
        the whole log again.
        """
        history = self.history_within(connection) if history is None else history
        if event.uid is not None and event.uid in history.by_uid:
            return history.edits[history.by_uid[event.uid]]
        question_id, target = event.question_id, None
        if event.person.demo:
            raise BadInputError(
                f"{event.person.name} is a simulated annotator of the demo and cannot edit perspectives.",
                hint="Sign in under another name.",
            )
        if event.kind == "propose":
            self._check_proposal(event, history)
        else:
            edit = history.edits.get(event.target or 0)
            if edit is None:
                raise UnknownNameError("edit", str(event.target), [str(i) for i in history.edits])
            question_id = edit.question_id
            target = self._checked_target(event, edit, history.of_question(question_id), own=own)
        added = connection.execute(
            perspective_edits.insert()
            .values(
                uid=event.uid or str(uuid4()),
                at=event.at or now(),
                annotator_id=event.person.id,
                dataset=self.dataset,
                question_id=question_id,
                kind=event.kind,
                change=json.dumps(event.change.to_json(), ensure_ascii=False) if event.change else "{}",
                comment=clean(event.comment),
                target=target,
            )
            .returning(perspective_edits)
        ).one()
        return history.add(SimpleNamespace(**added._mapping, name=event.person.name, demo=event.person.demo))

    def present_question(self, question_id: str, edits: Sequence[Edit]) -> Question | None:
        """Return a question after its accepted edits; None if the data set has no question of this id."""
        question = self._by_id.get(question_id)
        return None if question is None else replay([question], edits).questions[0]

    def _check_proposal(self, event: Event, history: History) -> None:
        question = self.present_question(event.question_id, history.of_question(event.question_id))
        if question is None:
            raise UnknownNameError("question", event.question_id, self._by_id)
        if event.change is None:
            raise BadInputError("The proposal has no change.", hint="It needs `action`, `parts` and `becomes`.")
        event.change.apply(question.perspectives)

    def _checked_target(self, event: Event, edit: Edit, beside: list[Edit], *, own: bool) -> int:
        """Return the id of the event that this one refers to: the proposal, or the event that an undo takes back.

        `beside` are the edits of the edit's question.
        """
        if event.kind == "undo":
            return self._checked_undo(event, edit, beside)
        if edit.status != "open":
            by = f" by {edit.decision.by.name}" if edit.decision else ""
            raise BadInputError(f"Edit {edit.id} is already {edit.status}{by}.", hint="Take that decision back first.")
        if event.kind == "accept":
            if edit.by.id == event.person.id and not own:
                raise BadInputError(f"Edit {edit.id} is your own proposal.", hint="Someone else has to accept it.")
            question = self.present_question(edit.question_id, beside)
            if question is None:
                raise ConflictError(f"Question '{edit.question_id}' no longer exists.", hint="Reject the edit.")
            try:
                edit.change.apply(question.perspectives)
            except ConflictError as error:
                _raise_conflict(edit, beside, error)
        return edit.id

    def _checked_undo(self, event: Event, edit: Edit, beside: list[Edit]) -> int:
        if edit.decision is None:
            if edit.status == "withdrawn":
                raise BadInputError(f"Edit {edit.id} is already withdrawn.", hint="Propose it again.")
            if edit.by.id != event.person.id:
                raise BadInputError(
                    f"Edit {edit.id} is {edit.by.name}'s proposal, which only they can withdraw.",
                    hint="Reject it instead.",
                )
            return edit.id
        if edit.status == "accepted":
            conflicts = replay(self.base, beside).conflicts
            conflicts_without = replay(self.base, [e for e in beside if e.id != edit.id]).conflicts
            if dependent := sorted(set(conflicts_without) - set(conflicts)):
                raise ConflictError(
                    f"Edit {dependent[0]} builds on edit {edit.id}.", hint=f"Take back edit {dependent[0]} first."
                )
        return edit.decision.event

    def edits_within(self, connection: Connection) -> list[Edit]:
        """Return every edit with its status, as a transaction sees the log."""
        return list(self.history_within(connection).edits.values())

    def history_within(self, connection: Connection) -> History:
        """Return the log as a transaction sees it."""
        query = (
            select(perspective_edits, annotators.c.name, annotators.c.demo)
            .join(annotators, annotators.c.id == perspective_edits.c.annotator_id)
            .where(perspective_edits.c.dataset == self.dataset)
            .order_by(perspective_edits.c.id)
        )
        return History(connection.execute(query).all())


@contextmanager
def locked_edits(judgments: Judgments) -> Iterator[Connection]:
    """Open a transaction during which nobody else writes edits, so that ids follow the order of the commits."""
    with writing(judgments.engine) as connection:
        if judgments.engine.dialect.name == "postgresql":
            connection.execute(select(func.pg_advisory_xact_lock(_EDITING)))
        yield connection


def _raise_conflict(edit: Edit, edits: list[Edit], error: ConflictError) -> NoReturn:
    """Raise the conflict; its message names the accepted edit that causes it, if there is one."""
    for other in reversed(accepted(edits)):
        if other.question_id == edit.question_id and other.change.touches(edit.change):
            by = other.decision.by.name if other.decision else other.by.name
            raise ConflictError(
                f"Edit {edit.id} conflicts with edit {other.id}, which {by} accepted: {error.what}", hint=error.hint
            ) from error
    raise error
