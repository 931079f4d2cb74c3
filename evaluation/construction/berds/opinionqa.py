"""Questions and perspectives from multiple-choice polls, as BERDS made OpinionQA (section 4.1, appendix B.1).

Questions about what happened to a person, about the person, or about the person's community are left out: BERDS dropped 345 of
1,521 (22.7%) and kept 1,176.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from berdseye.data.language_models.choosing import YES_OR_NO, answers_first
from berdseye.data.language_models.prompts import PromptTemplate
from berdseye.data.language_models.protocol import Message
from berdseye.data.texts.passages import clean
from berdseye.evaluation.construction.asking import Asking, UnreadableError
from berdseye.evaluation.construction.berds.inspection import INSPECTION
from berdseye.evaluation.construction.berds.statements import (
    DUPLICATES,
    checked_question,
    checked_statements,
    questions_of,
)
from berdseye.evaluation.construction.completions import labelled_lines
from berdseye.evaluation.construction.rows import Row
from berdseye.evaluation.construction.sources import read_sources, source_text
from berdseye.evaluation.construction.steps import Kind, Step
from berdseye.evaluation.construction.working import Working

_QUESTION, _FIRST, _LAST = "Question", "First", "Last"
_NO_ANSWER = re.compile(
    r"refused|no (?:answer|opinion|response)|(?:do not|don[’']t) know|not sure|unsure|prefer not to (?:say|answer)|skipped",
    re.IGNORECASE,
)
_PERSONAL = PromptTemplate(
    "construction: personal question",
    (
        Message(
            "user",
            f"[{_QUESTION}]\n\nThe question between the tags is from a poll. Does it ask for a fact of the life of the person "
            "who answers? It does if it asks what they have done or what has happened to them, who or what they are or own, or "
            "what happens where they live. It does not if it asks what they think, expect or want. Answer with one word, Yes or "
            "No.",
        ),
    ),
)
_REWRITTEN = PromptTemplate(
    "construction: question from a poll",
    (
        Message(
            "user",
            f"[{_QUESTION}]\n\n[{_FIRST}]\n\n[{_LAST}]\n\nThe question between the tags is from a poll, and the two other texts "
            "are its first and its last choice. Rewrite it as a short question that is answered with yes by those who would "
            "choose the first, and with no by those who would choose the last. Then write both answers as statements of one "
            "short sentence each, which can be understood without the question and add nothing to it. Answer in three lines:\n"
            "Question: the question\nPositive: the statement for yes\nNegative: the statement for no",
        ),
    ),
)


def _values(row: Row) -> Mapping[str, str]:
    options = row.fields["options"]
    return {_QUESTION: row.fields["asked"], _FIRST: options[0], _LAST: options[-1]}


def _read_personal(row: Row, text: str) -> Mapping[str, Any]:
    del row
    answer = answers_first(text, YES_OR_NO)
    if answer is None:
        raise UnreadableError("neither Yes nor No")
    return {"personal": answer}


def _not_personal(working: Working, rows: Sequence[Row]) -> list[Row]:
    asked = working.ask(_FILTER, rows)
    return [
        row.reject("asks about the person, not for an opinion")
        if row.fields.get("personal") and not row.rejected
        else row
        for row in asked
    ]


def _read_rewritten(row: Row, text: str) -> Mapping[str, Any]:
    del row
    lines = labelled_lines(text, "question", "positive", "negative")
    supporting, opposing = checked_statements(lines["positive"], lines["negative"], negation_is_enough=True)
    return {"question": checked_question(lines["question"]), "supporting": supporting, "opposing": opposing}


def meaningful_options(options: Sequence[str]) -> list[str]:
    """Return the options that express an opinion, without "Refused", "Don't know" and the like."""
    return [option for option in options if not _NO_ANSWER.search(option)]


def _read(working: Working) -> Sequence[Row]:
    return read_sources(working, _fields)


def _fields(found: Mapping[str, Any]) -> dict[str, Any]:
    options = found.get("options")
    if not isinstance(options, list) or not all(isinstance(option, str) for option in options):
        raise ValueError("`options` must be a list of texts")
    meaningful = meaningful_options([clean(option) for option in options if option.strip()])
    if len(meaningful) < 2:
        raise ValueError("fewer than two options express an opinion")
    return {"asked": source_text(found, "question", "text"), "options": meaningful}


_FILTER = Asking(
    "personal", _PERSONAL, (_QUESTION,), lambda row: {_QUESTION: row.fields["asked"]}, _read_personal, max_tokens=16
)
OPINIONQA = Kind(
    "opinionqa",
    "Questions from multiple-choice polls",
    "JSON Lines with `id`, `question` and `options`, in order",
    (
        Step(
            "personal",
            "questions that ask for an opinion",
            (_FILTER,),
            run=_not_personal,
            needs=("asked", "options"),
            printed=1176,
            place="BERDS, section 4.1",
        ),
        Step(
            "rewritten",
            "questions with perspectives",
            (Asking("rewritten", _REWRITTEN, (_QUESTION, _FIRST, _LAST), _values, _read_rewritten, max_tokens=200),),
            needs=("question", "supporting", "opposing"),
        ),
        Step(
            DUPLICATES.name,
            DUPLICATES.title,
            run=DUPLICATES.run,
            needs=DUPLICATES.needs,
            printed=1176,
            place="BERDS, table 1",
        ),
    ),
    _read,
    questions_of,
    checks=(INSPECTION,),
    paper="BERDS, OpinionQA (section 4.1)",
)
