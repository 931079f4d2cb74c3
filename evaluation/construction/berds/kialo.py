"""Perspectives of debates with a thesis or with several answers, as BERDS made Kialo (section 4.1, appendix B.1).

A question of yes and no (91% of BERDS's 1,032) comes with a statement, whose opposite is written; one of several answers (9%)
becomes as many statements, which take no side.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from berdseye.data.language_models.prompts import PromptTemplate
from berdseye.data.language_models.protocol import Message
from berdseye.data.texts.passages import clean
from berdseye.evaluation.construction.asking import Asking, UnreadableError
from berdseye.evaluation.construction.berds.inspection import INSPECTION
from berdseye.evaluation.construction.berds.statements import DUPLICATES, checked_statements, questions_of
from berdseye.evaluation.construction.completions import completion_lines, labelled_lines, without_number
from berdseye.evaluation.construction.rows import Row
from berdseye.evaluation.construction.sources import read_sources, source_text
from berdseye.evaluation.construction.steps import Kind, Step
from berdseye.evaluation.construction.working import Working

_QUESTION, _STATEMENT, _ANSWERS = "Question", "Statement", "Answers"
_OPPOSING = PromptTemplate(
    "construction: opposing statement",
    (
        Message(
            "user",
            f"[{_QUESTION}]\n\n[{_STATEMENT}]\n\nThe statement between the tags answers the question with yes. Write what the "
            "other side of the debate holds, as one sentence of about the same length. Say what it stands for, and not only "
            "that it rejects the statement: where one side holds that a park does harm, the other holds that it does more "
            "good than harm. Answer in one line:\nOpposing: the sentence",
        ),
    ),
)
_SEVERAL = PromptTemplate(
    "construction: a statement for each answer",
    (
        Message(
            "user",
            f"[{_QUESTION}]\n\n[{_ANSWERS}]\n\nEach line between the second tags is an answer to the question. Write each answer "
            "as a full sentence that begins as the question suggests, so that the sentences differ in nothing but the answer. "
            "Keep the words and the order of the answers. Write one sentence on each line, and nothing else.",
        ),
    ),
)


def _takes_sides(row: Row) -> bool:
    return "statement" in row.fields


def _has_answers(row: Row) -> bool:
    return "answers" in row.fields


def _read_opposing(row: Row, text: str) -> Mapping[str, Any]:
    statement = labelled_lines(text, "opposing")["opposing"]
    supporting, opposing = checked_statements(row.fields["statement"], statement, negation_is_enough=False)
    return {"supporting": supporting, "opposing": opposing}


def _read_several(row: Row, text: str) -> Mapping[str, Any]:
    answers: list[str] = row.fields["answers"]
    lines = [clean(without_number(line)) for line in completion_lines(text)]
    if len(lines) != len(answers):
        raise UnreadableError(f"{len(lines)} lines for {len(answers)} answers")
    for line, answer in zip(lines, answers, strict=True):
        if answer.casefold().rstrip(".") not in line.casefold():
            raise UnreadableError(f"a line lacks its answer: {answer}")
    if len(set(lines)) < len(lines):
        raise UnreadableError("two lines are the same")
    return {"perspectives": lines}


def _read(working: Working) -> Sequence[Row]:
    return read_sources(working, _fields)


def _fields(found: Mapping[str, Any]) -> dict[str, Any]:
    fields: dict[str, Any] = {"question": source_text(found, "question")}
    answers = found.get("answers")
    if answers is None:
        return fields | {"statement": source_text(found, "statement", "thesis")}
    if not isinstance(answers, list) or len(answers) < 2 or not all(isinstance(a, str) and a.strip() for a in answers):
        raise ValueError("`answers` must be a list of at least two texts")
    return fields | {"answers": [clean(answer) for answer in answers]}


KIALO = Kind(
    "kialo",
    "Perspectives of debates with a thesis or several answers",
    "JSON Lines with `question`, and `statement` or `answers`",
    (
        DUPLICATES,
        Step(
            "opposing",
            "questions with both statements, or several answers",
            (
                Asking(
                    "opposing",
                    _OPPOSING,
                    (_STATEMENT, _QUESTION),
                    lambda row: {_QUESTION: row.fields["question"], _STATEMENT: row.fields["statement"]},
                    _read_opposing,
                    max_tokens=120,
                ),
            ),
            applies=_takes_sides,
            needs=("question",),
        ),
        Step(
            "answers",
            "questions with perspectives",
            (
                Asking(
                    "answers",
                    _SEVERAL,
                    (_QUESTION, _ANSWERS),
                    lambda row: {_QUESTION: row.fields["question"], _ANSWERS: "\n".join(row.fields["answers"])},
                    _read_several,
                    max_tokens=600,
                ),
            ),
            applies=_has_answers,
            needs=("question",),
            printed=1032,
            place="BERDS, table 1",
        ),
    ),
    _read,
    questions_of,
    checks=(INSPECTION,),
    paper="BERDS, Kialo (section 4.1)",
)
