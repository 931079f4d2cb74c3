"""What the log of edits comes to: each edit with how it stands, and the perspectives after those that were accepted."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple

from annotation.judgments import Annotator
from annotation.perspective_edits.changes import Change, ConflictError
from data.records import Question

Status = Literal["open", "accepted", "rejected", "withdrawn"]


class Decision(NamedTuple):
    """Who accepted or rejected an edit."""

    event: int
    at: str
    by: Annotator
    comment: str


@dataclass(frozen=True)
class Edit:
    """A proposed edit of a question's perspectives and how it stands; `id` is that of the event that proposed it."""

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
        """The edit as the manifest of a version holds it."""
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
    """The questions after the accepted edits; `conflicts` says of those that do not fit any more why, by their id.

    Accepting and taking back keep it empty: only a data set that was replaced by another leaves edits that do not fit.
    """

    questions: list[Question]
    applied: tuple[Edit, ...]
    conflicts: dict[int, str]


def edits_of(events: Iterable[Any]) -> list[Edit]:
    """The edits of a log, in the order they were proposed. `events` are its rows in order, each with the person's name.

    An undo of a decision opens the edit again; an undo of a proposal withdraws it.
    """
    edits: dict[int, Edit] = {}
    decided: dict[int, int] = {}
    for e in events:
        by = Annotator(e.annotator_id, e.name, e.demo)
        match e.kind:
            case "propose":
                change = Change.from_json(json.loads(e.change))
                edits[e.id] = Edit(e.id, e.uid, e.at, by, e.question_id, change, e.comment)
            case "accept" | "reject":
                status: Status = "accepted" if e.kind == "accept" else "rejected"
                edits[e.target] = replace(edits[e.target], status=status, decision=Decision(e.id, e.at, by, e.comment))
                decided[e.id] = e.target
            case "undo" if e.target in decided:
                edits[decided[e.target]] = replace(edits[decided[e.target]], status="open", decision=None)
            case "undo":
                edits[e.target] = replace(edits[e.target], status="withdrawn")
    return list(edits.values())


def accepted(edits: Iterable[Edit]) -> list[Edit]:
    """The accepted ones in the order they were accepted, in which they are applied."""
    held = [(e.decision.event, e) for e in edits if e.status == "accepted" and e.decision is not None]
    return [edit for _, edit in sorted(held, key=lambda one: one[0])]


def replay(questions: Sequence[Question], edits: Iterable[Edit]) -> Replayed:
    """Apply the accepted edits; what does not fit is passed over, and told."""
    held = {q.id: q for q in questions}
    applied: list[Edit] = []
    conflicts: dict[int, str] = {}
    for edit in accepted(edits):
        question = held.get(edit.question_id)
        try:
            if question is None:
                raise ConflictError(f"There is no question '{edit.question_id}' any more.")
            changed = edit.change.apply(question.perspectives)
        except ConflictError as error:
            conflicts[edit.id] = str(error)
            continue
        held[question.id] = replace(question, perspectives=changed)
        applied.append(edit)
    return Replayed(list(held.values()), tuple(applied), conflicts)


def overlaps(edits: Sequence[Edit]) -> Mapping[int, list[int]]:
    """Of each open edit the other open ones that take the same perspective or bring the same text: one of them can stand."""
    waiting = [e for e in edits if e.status == "open"]
    return {
        e.id: [o.id for o in waiting if o.id != e.id and o.question_id == e.question_id and e.change.touches(o.change)]
        for e in waiting
    }
