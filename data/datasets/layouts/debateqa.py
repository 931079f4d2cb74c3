"""DebateQA, JSON Lines: `{"id", "question", "partial_answers": [{"point_of_view", "explanation"}]}`."""

from pathlib import Path
from typing import Any

from berdseye.data.datasets.layouts.rows import Imported, question_id, question_text, read_question_rows
from berdseye.data.files.json_files import Row
from berdseye.data.records import Perspective, Question
from berdseye.data.texts.passages import clean


def is_debateqa(row: Row) -> bool:
    """Whether the first row of a file is in DebateQA's layout."""
    return "partial_answers" in row


def read_debateqa(source: Path) -> Imported:
    """Read questions whose partial answers become perspectives: the point of view is the text, with its explanation.

    Partial answers with one point of view but different explanations are all kept, since P.D. sums over them. The
    explanation is the text of a partial answer without a point of view.
    """

    def question(line: int, row: Row) -> Question:
        text = question_text(row.get("question"))
        answers = row.get("partial_answers")
        if not isinstance(answers, list):
            raise ValueError("`partial_answers` must be a list")
        return Question(question_id(line, row), "", text, tuple(dict.fromkeys(map(_perspective, answers))))

    return Imported("DebateQA", read_question_rows(source, question))


def _perspective(answer: Any) -> Perspective:
    if not isinstance(answer, dict):
        raise ValueError("a partial answer must be an object")
    view, explanation = answer.get("point_of_view") or "", answer.get("explanation") or ""
    if not isinstance(view, str) or not isinstance(explanation, str):
        raise ValueError("the point of view and the explanation of a partial answer must be texts")
    view, explanation = clean(view), clean(explanation)
    if not view and not explanation:
        raise ValueError("a partial answer is empty")
    return Perspective(view, None, explanation) if view else Perspective(explanation)
