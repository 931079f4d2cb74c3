"""What the layouts share: the result of an import, and the parsing of rows, questions and perspectives."""

import ast
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from berdseye.data.errors import BadInputError, BadRowsError
from berdseye.data.files.json_files import Row, read_rows
from berdseye.data.records import Pair, Perspective, Question, Stance
from berdseye.data.texts.passages import clean

SIDES: dict[str, Stance] = {
    "supporting": "supporting",
    "support": "supporting",
    "for": "supporting",
    "pro": "supporting",
    "yes": "supporting",
    "opposing": "opposing",
    "undermine": "opposing",
    "oppose": "opposing",
    "against": "opposing",
    "con": "opposing",
    "no": "opposing",
}
"""The names that sources give to the two stances."""
_SIGNS: dict[str, Stance | None] = {"+ ": "supporting", "- ": "opposing", "= ": None}


@dataclass(frozen=True)
class Imported:
    """The content of a file: its layout, its questions, and gold labels of pairs if it has any."""

    layout: str
    questions: list[Question]
    gold: dict[Pair, bool] = field(default_factory=dict)


def read_perspectives(value: Any) -> tuple[Perspective, ...]:
    """Parse a list of texts or of objects with `text`, `stance` and `explanation`; raises `ValueError` for anything else."""
    if isinstance(value, str):
        try:
            value = ast.literal_eval(value)
        except (ValueError, SyntaxError, MemoryError, RecursionError) as error:
            raise ValueError("`perspectives` must be a list") from error
    if not isinstance(value, list):
        raise ValueError("`perspectives` must be a list")
    perspectives: dict[str, Perspective] = {}
    for item in value:
        perspective = _perspective(item)
        perspectives.setdefault(perspective.text, perspective)
    return tuple(perspectives.values())


def perspective_of_line(line: str, unsigned: Stance | None = None) -> Perspective:
    """Parse a typed perspective: the prefix '+ ' marks it as supporting, '- ' as opposing, '= ' as taking no side.

    Without a prefix, its stance is `unsigned`.
    """
    text = line.strip()
    if text[:2] in _SIGNS:
        return Perspective(text[2:].strip(), _SIGNS[text[:2]])
    return Perspective(text, unsigned)


def perspectives_of_lines(lines: str, unsigned: Stance | None = None) -> tuple[Perspective, ...]:
    """Parse one perspective per line; empty lines are ignored, and repeated texts count once."""
    perspectives: dict[str, Perspective] = {}
    for line in lines.splitlines():
        if (typed := perspective_of_line(line, unsigned)).text:
            perspectives.setdefault(typed.text, typed)
    return tuple(perspectives.values())


def _perspective(item: Any) -> Perspective:
    if isinstance(item, str):
        item = {"text": item}
    if not isinstance(item, dict):
        raise ValueError("a perspective must be a text or an object")
    text, stance, explanation = item.get("text"), item.get("stance"), item.get("explanation") or ""
    if not isinstance(explanation, str):
        raise ValueError("an explanation must be a text")
    if not isinstance(text, str) or not text.strip():
        raise ValueError("a perspective is empty")
    if stance is not None and (not isinstance(stance, str) or stance not in SIDES):
        raise ValueError(f"a stance must be supporting or opposing, got '{stance}'")
    return Perspective(clean(text), None if stance is None else SIDES[stance], clean(explanation))


def read_question_rows(
    source: Path, question: Callable[[int, Row], Question], *, repeats: bool = False
) -> list[Question]:
    """Read one question per row; `question` gets the row's number and object, and may raise `ValueError`.

    Raises `BadRowsError` with every invalid row. With `repeats`, later rows of a question are skipped; otherwise they are
    invalid.
    """
    faults: list[BadInputError] = []
    questions: dict[str, Question] = {}

    def fault(line: int, message: str, hint: str) -> None:
        faults.append(BadInputError(message, where=source, line=line, hint=hint))

    for line, row in read_rows(source, faults):
        try:
            read = question(line, row)
        except ValueError as error:
            fault(line, f"{str(error)[:1].upper()}{str(error)[1:]}.", "Fix this line.")
            continue
        if not repeats and read.id in questions:
            fault(line, f"An earlier question already has the id '{read.id}'.", "Use unique ids.")
        questions.setdefault(read.id, read)
    return checked_questions(source, questions, faults)


def checked_questions(source: Path, questions: Mapping[str, Question], faults: list[BadInputError]) -> list[Question]:
    """Return the questions read from a file. Raises `BadRowsError` for its faults, `BadInputError` if it has no question."""
    if faults:
        raise BadRowsError(faults)
    if not questions:
        raise BadInputError("The file contains no question.", where=source, hint="Nothing was added.")
    return list(questions.values())


def question_text(value: Any) -> str:
    """The cleaned text of a question; raises `ValueError` if there is none."""
    if not isinstance(value, str) or not value.strip():
        raise ValueError("the row has no question")
    return clean(value)


def question_id(line: int, row: Row) -> str:
    """The `id` of the row, or its number if it has none."""
    return clean(str(line if row.get("id") is None else row["id"]))
