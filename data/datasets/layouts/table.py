"""A table of questions, as spreadsheets write it: CSV or TSV with one row per perspective, under the columns `question`,
`perspective`, `stance`, `explanation` and `id`, of which only `question` is required."""

import csv
from collections.abc import Iterator
from dataclasses import replace
from io import StringIO
from pathlib import Path

from berdseye.data.datasets.layouts.rows import Imported, checked_questions, question_text, read_perspectives
from berdseye.data.errors import BadInputError
from berdseye.data.files.delimited import LONGEST_CELL, delimited_rows
from berdseye.data.records import Question
from berdseye.data.texts.passages import clean

ENDINGS = (".csv", ".tsv")
_HINT = "The first line must name the columns: question, perspective, and optionally stance, explanation and id."


def read_question_table(source: Path) -> Imported:
    """Read a table in which a question is repeated on a row for each of its perspectives.

    A question without perspectives has one row. The default id is the number of the question. Raises `BadRowsError` with
    every invalid row, `BadInputError` for a table without the column `question`.
    """
    faults: list[BadInputError] = []
    questions: dict[str, Question] = {}
    for line, row in table_rows(source):
        try:
            text = question_text(row.get("question"))
            given = row["perspective"]
            found = read_perspectives([{"text": given, **_details(row)}] if given.strip() else [])
        except ValueError as error:
            message = f"{str(error)[:1].upper()}{str(error)[1:]}."
            faults.append(BadInputError(message, where=source, line=line, hint="Fix this row."))
            continue
        earlier = questions.get(text)
        if earlier is None:
            earlier = Question(clean(row["id"]) or str(len(questions) + 1), "", text, ())
        known = {perspective.text for perspective in earlier.perspectives}
        new = (perspective for perspective in found if perspective.text not in known)
        questions[text] = replace(earlier, perspectives=(*earlier.perspectives, *new))
    return Imported("table", checked_questions(source, questions, faults))


def _details(row: dict[str, str]) -> dict[str, str]:
    details = {"stance": row["stance"].strip().lower(), "explanation": row["explanation"].strip()}
    return {name: value for name, value in details.items() if value}


def table_rows(source: Path) -> Iterator[tuple[int, dict[str, str]]]:
    """Yield the rows with the number of the line on which each begins; a column that the table lacks is empty in each row.

    Raises `BadInputError` for a table that cannot be read or lacks the column `question`.
    """
    try:
        text = source.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise BadInputError("Not UTF-8 text.", where=source, hint="Save the table as CSV UTF-8.") from error
    except OSError as error:
        raise BadInputError(f"The file cannot be read: {error}.", where=source, hint="Check the path.") from error
    first = text.split("\n", 1)[0]
    # Spreadsheets of some countries separate the cells of a CSV file by semicolons.
    delimiter = "\t" if source.suffix.lower() == ".tsv" else max(",;", key=first.count)
    csv.field_size_limit(LONGEST_CELL)
    names: list[str] | None = None
    for row in delimited_rows(StringIO(text, newline=""), delimiter):
        if row.fault:
            raise BadInputError(f"Not a valid table: {row.fault}.", where=source, line=row.first, hint=row.hint)
        if names is None:
            names = [name.strip().lower() for name in row.cells]
            if "question" not in names:
                raise BadInputError("The table has no column `question`.", where=source, hint=_HINT)
        elif any(cell.strip() for cell in row.cells):
            given = dict.fromkeys(("id", "question", "perspective", "stance", "explanation"), "")
            yield row.first, given | dict(zip(names, row.cells, strict=False))
    if names is None:
        raise BadInputError("The table has no column `question`.", where=source, hint=_HINT)
