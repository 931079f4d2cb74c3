"""Berdseye's layout, JSON Lines: `{"id", "question", "perspectives": ["text" or {"text", "stance", "explanation"}]}`."""

from pathlib import Path

from berdseye.data.datasets.layouts.rows import (
    Imported,
    question_id,
    question_text,
    read_perspectives,
    read_question_rows,
)
from berdseye.data.files.json_files import Row
from berdseye.data.records import Question


def read_own(source: Path) -> Imported:
    """Read questions in Berdseye's layout; only `question` is required, and the default `id` is the number of the row."""

    def question(line: int, row: Row) -> Question:
        text = question_text(row.get("question"))
        return Question(question_id(line, row), "", text, read_perspectives(row.get("perspectives", [])))

    return Imported("JSONL", read_question_rows(source, question))
