"""The state that results from the log of edits: each edit with its status, and the perspectives after the accepted edits."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple

from berdseye.annotation.judgments.log import Annotator
from berdseye.annotation.perspective_edits.changes import Change, ConflictError
from berdseye.data.records import Question

Status = Literal["open", "accepted", "rejected", "withdrawn"]


class Decision(NamedTuple):
    """The decision on an edit: who accepted or rejected it, when, and with what comment."""

    event: int
    at: str
    by: Annotator
    comment: str


@dataclass(frozen=True)
class Edit:
    """A proposed edit of a question's perspectives, with its status; `id` is the id of the event that proposed it."""

    id: int
    uid: str
    at: str
    by: Annotator
    question_id: str
    change: Change
    comment: str
    status: Status = "open"
    decision: Decision | None = None

    def record(self) -> dict[str, Any]:
        """Return the edit as the manifest of a data set's version stores it."""
        accepted = {"accepted_by": self.decision.by.name, "accepted_at": self.decision.at} if self.decision else {}
        return {
            "uid": self.uid,
            "question_id": self.question_id,
            **self.change.to_json(),
            "comment": self.comment,
            "proposed_by": self.by.name,
            "proposed_at": self.at,
            **accepted,
        }


class Replayed(NamedTuple):
    """The questions after the accepted edits; `conflicts` gives, by id, the reason of each edit that no longer fits.

    Accepting and undoing keep `conflicts` empty: edits stop fitting only if the data set is replaced by another.
    """

    questions: list[Question]
    applied: tuple[Edit, ...]
    conflicts: dict[int, str]


class History:
    """A growing log of edits, in which a new event needs only the earlier events of its own question.

    An undo of a decision opens the edit again; an undo of a proposal withdraws it.
    """

    def __init__(self, events: Iterable[Any] = ()) -> None:
        self.edits: dict[int, Edit] = {}
        self.by_uid: dict[str, int] = {}
        self._of_question: dict[str, list[int]] = {}
        self._decided: dict[int, int] = {}
        for event in events:
            self.add(event)

    def add(self, e: Any) -> Edit:
        """Add the next row of the log, with its person's name; returns its edit with the new status."""
        by = Annotator(e.annotator_id, e.name, e.demo)
        match e.kind:
            case "propose":
                about = e.id
                change = Change.from_json(json.loads(e.change))
                self.edits[about] = Edit(e.id, e.uid, e.at, by, e.question_id, change, e.comment)
                self._of_question.setdefault(e.question_id, []).append(about)
            case "accept" | "reject":
                about = self._decided[e.id] = e.target
                status: Status = "accepted" if e.kind == "accept" else "rejected"
                self._set(about, status, Decision(e.id, e.at, by, e.comment))
            case "undo" if e.target in self._decided:
                about = self._decided[e.target]
                self._set(about, "open", None)
            case _:
                about = e.target
                self._set(about, "withdrawn", self.edits[about].decision)
        self.by_uid[e.uid] = about
        return self.edits[about]

    def of_question(self, question_id: str) -> list[Edit]:
        """Return the edits of one question, in the order they were proposed."""
        return [self.edits[i] for i in self._of_question.get(question_id, ())]

    def _set(self, edit: int, status: Status, decision: Decision | None) -> None:
        self.edits[edit] = replace(self.edits[edit], status=status, decision=decision)


def accepted(edits: Iterable[Edit]) -> list[Edit]:
    """Return the accepted edits in the order they were accepted, which is the order of their application."""
    decided = [(e.decision.event, e) for e in edits if e.status == "accepted" and e.decision is not None]
    return [edit for _, edit in sorted(decided, key=lambda one: one[0])]


def replay(questions: Sequence[Question], edits: Iterable[Edit]) -> Replayed:
    """Apply the accepted edits; those that do not fit are skipped and listed in `conflicts`."""
    questions_by_id = {q.id: q for q in questions}
    applied: list[Edit] = []
    conflicts: dict[int, str] = {}
    for edit in accepted(edits):
        question = questions_by_id.get(edit.question_id)
        try:
            if question is None:
                raise ConflictError(f"Question '{edit.question_id}' no longer exists.")
            changed = edit.change.apply(question.perspectives)
        except ConflictError as error:
            conflicts[edit.id] = str(error)
            continue
        questions_by_id[question.id] = replace(question, perspectives=changed)
        applied.append(edit)
    return Replayed(list(questions_by_id.values()), tuple(applied), conflicts)


def overlaps(edits: Sequence[Edit]) -> Mapping[int, list[int]]:
    """Return, by open edit, the other open edits that replace one of its perspectives or add one of its texts.

    Only one of such edits can be accepted.
    """
    waiting: dict[str, list[Edit]] = {}
    for edit in edits:
        if edit.status == "open":
            waiting.setdefault(edit.question_id, []).append(edit)
    return {
        e.id: [o.id for o in beside if o.id != e.id and e.change.touches(o.change)]
        for beside in waiting.values()
        for e in beside
    }
