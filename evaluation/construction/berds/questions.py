"""Questions alone: a language model proposes a statement for and against each, as BERDS did for Arguana (section 4.1)."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from berdseye.data.files.json_files import read_lines
from berdseye.data.language_models.prompts import PromptTemplate
from berdseye.data.language_models.protocol import Message
from berdseye.evaluation.construction.asking import Asking
from berdseye.evaluation.construction.berds.inspection import INSPECTION
from berdseye.evaluation.construction.berds.statements import DUPLICATES, checked_statements, questions_of
from berdseye.evaluation.construction.completions import labelled_lines
from berdseye.evaluation.construction.rows import Row
from berdseye.evaluation.construction.sources import read_sources, source_text
from berdseye.evaluation.construction.steps import Kind, Step
from berdseye.evaluation.construction.working import Working

_QUESTION = "Question"
_PROMPT = PromptTemplate(
    "construction: perspectives",
    (
        Message(
            "user",
            f"[{_QUESTION}]\n\nThe text between the tags is a question that people answer with yes or with no. Write the two "
            "answers as statements: one says what somebody who answers yes holds, the other what somebody who answers no "
            "holds. Each is one short sentence that can be understood without the question, and gives no reason and no other "
            "information. Answer in two lines:\nSupporting: the statement for yes\nOpposing: the statement for no",
        ),
    ),
)


def _values(row: Row) -> Mapping[str, str]:
    return {_QUESTION: row.fields["question"]}


def _read_statements(row: Row, text: str) -> Mapping[str, Any]:
    del row
    lines = labelled_lines(text, "supporting", "opposing")
    supporting, opposing = checked_statements(lines["supporting"], lines["opposing"], negation_is_enough=True)
    return {"supporting": supporting, "opposing": opposing}


PERSPECTIVES = Step(
    "perspectives",
    "questions with perspectives",
    (Asking("perspectives", _PROMPT, (_QUESTION,), _values, _read_statements, max_tokens=200),),
    needs=("question", "supporting", "opposing"),
)
"""The step that writes both statements of a question, from the question alone."""


def _read(working: Working) -> Sequence[Row]:
    rows: list[Row] = []
    objects = {name: path for name, path in working.sources.items() if path.suffix.lower() != ".txt"}
    for name, path in working.sources.items():
        if name not in objects:
            for number, line in read_lines(path):
                text = re.sub(r"^\s*(?:[-*•]|\d+[.)])\s+", "", line).strip()
                row_id = str(number) if len(working.sources) == 1 else f"{name}/{number}"
                rows.append(_checked(Row(row_id, {"question": text})).with_origin("sources", source=name, line=number))
    if objects:
        read = read_sources(
            Working(working.workspace, working.settings, objects, {}),
            lambda found: {"question": source_text(found, "question", "text")},
        )
        rows += [row if row.rejected else _checked(row) for row in read]
    return rows


def _checked(row: Row) -> Row:
    return row if str(row.fields["question"]).endswith("?") else row.reject("has no question mark")


QUESTIONS = Kind(
    "questions",
    "Perspectives for your own questions",
    "a text file with a question on each line, or JSON Lines with `question`",
    (DUPLICATES, PERSPECTIVES),
    _read,
    questions_of,
    checks=(INSPECTION,),
    paper="BERDS, section 4.1",
)
