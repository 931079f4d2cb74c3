"""BERDS, in the two forms of its release.

- The development questions with generated perspectives, JSON Lines: several lines per question, each with `org_id`, `org_q`
  and the gold `perspectives`.
- The Hub's rows (JSON Lines or Parquet), one per question: `id`, `question`, `type` ('binary' or 'multi'), `perspectives`.
"""

from pathlib import Path

from berdseye.data.datasets.layouts.rows import (
    Imported,
    question_id,
    question_text,
    read_perspectives,
    read_question_rows,
)
from berdseye.data.files.json_files import Row, first_row
from berdseye.data.records import Question

_TYPES = ("binary", "multi")


def is_berds(row: Row) -> bool:
    """Whether the first row of a file is in a layout of BERDS."""
    return "org_id" in row or (row.get("type") in _TYPES and "perspectives" in row)


def read_berds(source: Path) -> Imported:
    """Read the questions of a file in either form, in order."""
    released = "org_id" in first_row(source)

    def question(line: int, row: Row) -> Question:
        if released and "org_id" not in row:
            raise ValueError("the row has no `org_id`, but the first row has one")
        text = question_text(row.get("org_q" if released else "question"))
        key = str(row["org_id"]) if released else question_id(line, row)
        return Question(key, "", text, read_perspectives(row.get("perspectives", [])))

    return Imported("BERDS", read_question_rows(source, question, repeats=released))
