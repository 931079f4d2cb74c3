"""A person's word on a pair: what may be said in a task, and how the log writes it.

Evidence: the spans of a passage that a person points at, beside their word on it.
"""

import json
from collections.abc import Iterable, Sequence
from typing import Any, Literal, NamedTuple, TypeGuard, get_args

from sqlalchemy import select

from berdseye.annotation.batches.stored import Task
from berdseye.annotation.judgments.log import VERDICTS, Annotator, Judgments, Verdict
from berdseye.annotation.judgments.schema import events
from berdseye.data.errors import BadInputError, UnknownNameError
from berdseye.data.texts.passages import clean

Span = tuple[int, int]
"""[start, end) in characters (code points) of the passage."""
_MOST = 100


def merged(spans: Iterable[Sequence[int]]) -> tuple[Span, ...]:
    """The spans in order, those that touch or overlap as one."""
    found: list[Span] = []
    for start, end in sorted((int(start), int(end)) for start, end in spans):
        if found and start <= found[-1][1]:
            found[-1] = (found[-1][0], max(end, found[-1][1]))
        else:
            found.append((start, end))
    return tuple(found)


def evidence_json(spans: Iterable[Sequence[int]], passage: str) -> str | None:
    """Spans as the log keeps them: a JSON list of [start, end); None where there are none.

    Raises `BadInputError` for one that is empty or not within the passage.
    """
    held = list(spans)
    for start, end in held:
        if not 0 <= start < end <= len(passage):
            raise BadInputError(
                f"The evidence [{start}, {end}) is not within the passage of {len(passage)} characters.",
                hint="Choose it again.",
            )
    found = merged(held)
    if len(found) > _MOST:
        raise BadInputError(f"{len(found)} spans of evidence.", hint=f"Choose at most {_MOST}.")
    return json.dumps([list(span) for span in found]) if found else None


def evidence_spans(stored: str | None) -> tuple[Span, ...]:
    """The spans of what the log keeps, in order and apart."""
    return merged(json.loads(stored)) if stored else ()


def quotes(passage: str, stored: str | None) -> tuple[str, ...]:
    """The words of the passage that are the evidence."""
    return tuple(passage[start:end] for start, end in evidence_spans(stored))


Preference = Literal["first", "second", "neither"]
PREFERENCES: tuple[Preference, ...] = get_args(Preference)


class JudgmentDetails(NamedTuple):
    """What goes with a word: a comment, the time it took without breaks, spans of the passage, the guidelines' version."""

    comment: str = ""
    seconds: float | None = None
    evidence: Sequence[Sequence[int]] = ()
    guidelines: str | None = None


NOTHING = JudgmentDetails()


class RecordedJudgment(NamedTuple):
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


def judgment_fields(task: Task, verdict: str, passage: str, beside: JudgmentDetails = NOTHING) -> dict[str, Any]:
    """A word as fields of an event; raises `UnknownNameError` for a verdict that the task has not."""
    if verdict not in (known := verdicts_of(task)):
        raise UnknownNameError("verdict", verdict, known)
    return {
        "kind": "prefer" if task == "prefer" else "judge",
        "verdict": verdict,
        "evidence": evidence_json(beside.evidence, passage),
        **_rest(beside),
    }


def skip_fields(beside: JudgmentDetails = NOTHING) -> dict[str, Any]:
    """A pair put aside, as fields of an event."""
    return {"kind": "skip", **_rest(beside)}


def _rest(beside: JudgmentDetails) -> dict[str, Any]:
    return {
        "comment": clean(beside.comment),
        "seconds": beside.seconds,
        "guidelines": beside.guidelines,
        "source": "annotate",
    }
