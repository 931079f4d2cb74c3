"""A person's judgment of a pair: the verdicts that a task allows, and how the log writes them.

Also the evidence of a judgment: the spans of the passage that the person marked.
"""

import json
from collections.abc import Iterable, Sequence
from typing import Any, Literal, NamedTuple, TypeGuard, get_args

from sqlalchemy import select

from berdseye.annotation.batches.stored import EVENT_KINDS, Task
from berdseye.annotation.checks import CheckForm
from berdseye.annotation.judgments.log import VERDICTS, Annotator, Judgments, Verdict, by_keys
from berdseye.annotation.judgments.schema import events, present
from berdseye.data.errors import BadInputError, UnknownNameError
from berdseye.data.texts.passages import clean

Span = tuple[int, int]
"""[start, end) in characters (code points) of the passage."""
_MOST = 100
Preference = Literal["first", "second", "neither"]
PREFERENCES: tuple[Preference, ...] = get_args(Preference)


def merged(spans: Iterable[Sequence[int]]) -> tuple[Span, ...]:
    """Return the spans in order, with those that touch or overlap joined."""
    joined: list[Span] = []
    for start, end in sorted((int(start), int(end)) for start, end in spans):
        if joined and start <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
        else:
            joined.append((start, end))
    return tuple(joined)


def evidence_json(spans: Iterable[Sequence[int]], passage: str) -> str | None:
    """Return spans as the log stores them: a JSON list of [start, end), or None if there are none.

    Raises `BadInputError` for a span that is empty or not within the passage, and for more than 100 spans.
    """
    given_spans = list(spans)
    for start, end in given_spans:
        if not 0 <= start < end <= len(passage):
            raise BadInputError(
                f"The evidence span [{start}, {end}) is empty or not within the passage of {len(passage)} characters.",
                hint="Mark the evidence again.",
            )
    joined = merged(given_spans)
    if len(joined) > _MOST:
        raise BadInputError(
            f"A judgment can have at most {_MOST} spans of evidence, got {len(joined)}.", hint="Mark fewer spans."
        )
    return json.dumps([list(span) for span in joined]) if joined else None


def evidence_spans(stored: str | None) -> tuple[Span, ...]:
    """Return the spans stored in the log, in order and without overlap."""
    return merged(json.loads(stored)) if stored else ()


def quotes(passage: str, stored: str | None) -> tuple[str, ...]:
    """Return the parts of the passage that are the evidence."""
    return tuple(passage[start:end] for start, end in evidence_spans(stored))


def present_evidence(judgments: Judgments, keys: Sequence[str]) -> dict[str, tuple[Span, ...]]:
    """Return the evidence that people marked for their present verdicts `supports`, joined, by the key of the pair."""
    marked = select(present.c.pair, present.c.evidence).where(
        present.c.verdict == "supports", present.c.evidence.is_not(None)
    )
    spans: dict[str, list[Span]] = {}
    with judgments.reading() as connection:
        for query in by_keys(marked, present.c.pair, keys):
            for row in connection.execute(query):
                spans.setdefault(row.pair, []).extend(evidence_spans(row.evidence))
    return {pair: merged(found) for pair, found in spans.items()}


class JudgmentDetails(NamedTuple):
    """What accompanies a verdict: a comment, the seconds without breaks, the evidence spans, the version of the guidelines."""

    comment: str = ""
    seconds: float | None = None
    evidence: Sequence[Sequence[int]] = ()
    guidelines: str | None = None


NO_DETAILS = JudgmentDetails()


class RecordedJudgment(NamedTuple):
    """A judgment that is on disk; `late`: the pair had gone to others meanwhile, and now has one judgment more than wanted."""

    event: int
    late: bool = False


class Undone(NamedTuple):
    """The judgment that a person has just taken back: its pair, verdict (empty for a skip or a flag), comment and evidence."""

    pair: str
    verdict: str
    comment: str
    evidence: tuple[Span, ...]


def last_undone(judgments: Judgments, person: Annotator, pair: str | None = None) -> Undone | None:
    """Return what this person's last action (on a pair) took back; None if that action was not an undo."""
    last = select(events.c.kind, events.c.target).where(events.c.annotator_id == person.id)
    if pair is not None:
        last = last.where(events.c.pair == pair)
    with judgments.reading() as connection:
        newest = connection.execute(last.order_by(events.c.id.desc()).limit(1)).one_or_none()
        if newest is None or newest.kind != "undo":
            return None
        columns = (events.c.pair, events.c.verdict, events.c.comment, events.c.evidence)
        taken_back = select(*columns).where(events.c.id == newest.target)
        undone = connection.execute(taken_back).one()
    return Undone(undone.pair, undone.verdict or "", undone.comment, evidence_spans(undone.evidence))


def verdicts_of(task: Task, form: CheckForm | None = None) -> tuple[str, ...]:
    """Return the verdicts that a task allows; those of the task `check` are those of its form."""
    if task == "check":
        return () if form is None else form.values
    return PREFERENCES if task == "prefer" else VERDICTS


def is_verdict(text: str) -> TypeGuard[Verdict]:
    """Return whether it is a verdict on a passage and a perspective, and not a preference between two answers."""
    return text in VERDICTS


def judgment_fields(
    task: Task, verdict: str, passage: str, details: JudgmentDetails = NO_DETAILS, form: CheckForm | None = None
) -> dict[str, Any]:
    """Return a judgment as fields of an event; raises `UnknownNameError` for a verdict that the task does not have."""
    if verdict not in (allowed := verdicts_of(task, form)):
        raise UnknownNameError("verdict", verdict, allowed)
    return {
        "kind": EVENT_KINDS[task],
        "verdict": verdict,
        "evidence": evidence_json(details.evidence, passage),
        **_detail_fields(details),
    }


def skip_fields(details: JudgmentDetails = NO_DETAILS) -> dict[str, Any]:
    """Return a skipped pair as fields of an event."""
    return {"kind": "skip", **_detail_fields(details)}


def _detail_fields(details: JudgmentDetails) -> dict[str, Any]:
    return {
        "comment": clean(details.comment),
        "seconds": details.seconds,
        "guidelines": details.guidelines,
        "source": "annotate",
    }
