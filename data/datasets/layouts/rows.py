"""Rows that become questions: what the row layouts share.

What every layout is read into.

Perspectives as files write them.
"""

import ast
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from berdseye.data.errors import BadInputError
from berdseye.data.files.json_files import Row, read_rows
from berdseye.data.records import Pair, Perspective, Question, Stance
from berdseye.data.texts.passages import clean


@dataclass(frozen=True)
class Imported:
    """What a file held: its questions, and gold labels of pairs where it gives any."""

    layout: str
    questions: list[Question]
    gold: dict[Pair, bool] = field(default_factory=dict)


SIDES: dict[str, Stance] = {
    "supporting": "supporting",
    "support": "supporting",
    "for": "supporting",
    "opposing": "opposing",
    "undermine": "opposing",
    "oppose": "opposing",
    "against": "opposing",
}
"""What sources call the two stances."""
_SIGNS: dict[str, Stance | None] = {"+ ": "supporting", "- ": "opposing", "= ": None}


def read_perspectives(value: Any) -> tuple[Perspective, ...]:
    """Perspectives from a list of texts or of objects with `text`, `stance` and `explanation`; raises `ValueError` otherwise."""
    if isinstance(value, str):
        try:
            value = ast.literal_eval(value)
        except (ValueError, SyntaxError, MemoryError, RecursionError) as error:
            raise ValueError("`perspectives` is no list") from error
    if not isinstance(value, list):
        raise ValueError("`perspectives` is no list")
    found: dict[str, Perspective] = {}
    for item in value:
        perspective = _perspective(item)
        found.setdefault(perspective.text, perspective)
    return tuple(found.values())


def perspective_of_line(line: str, unsigned: Stance | None = None) -> Perspective:
    """A perspective as people type it: '+ ' in front says that it is supporting, '- ' that it is opposing, '= ' that it takes
    no side; without a sign it has the stance `unsigned`."""
    text = line.strip()
    if text[:2] in _SIGNS:
        return Perspective(text[2:].strip(), _SIGNS[text[:2]])
    return Perspective(text, unsigned)


def perspectives_of_lines(lines: str, unsigned: Stance | None = None) -> tuple[Perspective, ...]:
    """One a line; empty lines say nothing, and a line typed twice counts once."""
    found: dict[str, Perspective] = {}
    for line in lines.splitlines():
        if (typed := perspective_of_line(line, unsigned)).text:
            found.setdefault(typed.text, typed)
    return tuple(found.values())


def _perspective(item: Any) -> Perspective:
    if isinstance(item, str):
        item = {"text": item}
    if not isinstance(item, dict):
        raise ValueError("a perspective is neither a text nor an object")
    text, stance, explanation = item.get("text"), item.get("stance"), item.get("explanation") or ""
    if not isinstance(explanation, str):
        raise ValueError("an explanation is no text")
    if not isinstance(text, str) or not text.strip():
        raise ValueError("a perspective is empty")
    if stance is not None and (not isinstance(stance, str) or stance not in SIDES):
        raise ValueError(f"stance '{stance}' is neither supporting nor opposing")
    return Perspective(clean(text), None if stance is None else SIDES[stance], clean(explanation))


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
