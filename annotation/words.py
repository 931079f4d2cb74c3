"""A person's word on a pair: what may be said in a task, and how the log writes it."""

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple, TypeGuard, get_args

from sqlalchemy import select

from berdseye.annotation.batches import Task
from berdseye.annotation.evidence import Span, evidence_json, evidence_spans
from berdseye.annotation.judgments import VERDICTS, Annotator, Judgments, Verdict
from berdseye.annotation.schema import events
from berdseye.data.errors import UnknownNameError
from berdseye.data.passages import clean

Preference = Literal["first", "second", "neither"]
PREFERENCES: tuple[Preference, ...] = get_args(Preference)


class Beside(NamedTuple):
    """What goes with a word: a comment, the time it took without breaks, spans of the passage, the guidelines' version."""

    comment: str = ""
    seconds: float | None = None
    evidence: Sequence[Sequence[int]] = ()
    guidelines: str | None = None


NOTHING = Beside()


class Given(NamedTuple):
    """A word that is on disk; `late`: meanwhile the pair had gone to others, and this is one word more than asked for."""

    event: int
    late: bool = False


class Undone(NamedTuple):
    """What a person has just taken back: its pair, and the comment and evidence that went with it."""

    pair: str
    comment: str
    evidence: tuple[Span, ...]


def last_undone(judgments: Judgments, person: Annotator) -> Undone | None:
    """What this person's last action took back; None where the last action was another."""
    last = select(events.c.kind, events.c.target).where(events.c.annotator_id == person.id)
    with judgments.reading() as connection:
        newest = connection.execute(last.order_by(events.c.id.desc()).limit(1)).one_or_none()
        if newest is None or newest.kind != "undo":
            return None
        taken_back = select(events.c.pair, events.c.comment, events.c.evidence).where(events.c.id == newest.target)
        found = connection.execute(taken_back).one()
    return Undone(found.pair, found.comment, evidence_spans(found.evidence))


def verdicts_of(task: Task) -> tuple[str, ...]:
    """What may be said in a task."""
    return PREFERENCES if task == "prefer" else VERDICTS


def is_verdict(word: str) -> TypeGuard[Verdict]:
    """Whether it is a word on a passage and a perspective, as a preference between two answers is none."""
    return word in VERDICTS


def word_fields(task: Task, verdict: str, passage: str, beside: Beside = NOTHING) -> dict[str, Any]:
    """A word as fields of an event; raises `UnknownNameError` for a verdict that the task has not."""
    if verdict not in (known := verdicts_of(task)):
        raise UnknownNameError("verdict", verdict, known)
    return {
        "kind": "prefer" if task == "prefer" else "judge",
        "verdict": verdict,
        "evidence": evidence_json(beside.evidence, passage),
        **_rest(beside),
    }


def skip_fields(beside: Beside = NOTHING) -> dict[str, Any]:
    """A pair put aside, as fields of an event."""
    return {"kind": "skip", **_rest(beside)}


def _rest(beside: Beside) -> dict[str, Any]:
    return {
        "comment": clean(beside.comment),
        "seconds": beside.seconds,
        "guidelines": beside.guidelines,
        "source": "annotate",
    }
