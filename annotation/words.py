"""A person's word on a pair: what may be said in a task, and how the log writes it."""

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple, TypeGuard, get_args

from annotation.batches import Task
from annotation.evidence import evidence_json
from annotation.judgments import VERDICTS, Verdict
from data.errors import UnknownNameError
from data.passages import clean

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
