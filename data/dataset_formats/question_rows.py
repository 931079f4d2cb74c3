"""Rows that become questions: what the row layouts share."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from berdseye.data.errors import BadInputError
from berdseye.data.json_files import Row, read_rows
from berdseye.data.passages import clean
from berdseye.data.records import Question


def read_question_rows(
    source: Path, question: Callable[[int, Row], Question], *, repeats: bool = False
) -> list[Question]:
    """A question a row, as `question` makes it of the row's number and object; its `ValueError` is told with file and line.

    With `repeats`, rows of a question that was read already are passed over; else they are an error.
    """
    found: dict[str, Question] = {}
    for line, row in read_rows(source):
        try:
            read = question(line, row)
        except ValueError as error:
            raise BadInputError(f"{error}.", where=source, line=line, hint="Correct this line.") from error
        if not repeats and read.id in found:
            raise BadInputError(
                f"The id '{read.id}' stands twice.", where=source, line=line, hint="Give each its own id."
            )
        found.setdefault(read.id, read)
    if not found:
        raise BadInputError("The file holds no question.", where=source, hint="Nothing was added.")
    return list(found.values())


def question_text(value: Any) -> str:
    """A question's text; raises `ValueError` where it says nothing."""
    if not isinstance(value, str) or not value.strip():
        raise ValueError("no question")
    return clean(value)


def question_id(line: int, row: Row) -> str:
    """The row's `id`, or its number."""
    return clean(str(line if row.get("id") is None else row["id"]))
