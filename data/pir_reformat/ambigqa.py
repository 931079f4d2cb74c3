"""Ambiguous questions as a PIR task: find the evidence for one reading of a question.

Source: JSON Lines `{"question", "readings": [{"question", "evidence"}]}`; `evidence` is a text or a list of texts. As in the
demo's ambigqa task, the reading is both the query and its perspective.
"""

from pathlib import Path
from typing import Any

from berdseye.data.errors import BadInputError
from berdseye.data.json_files import read_rows
from berdseye.data.passages import clean
from berdseye.data.pir_reformat.task_file import TaskFile

_LABEL = "perspective"


def reformat_ambigqa(source: Path) -> TaskFile:
    """Raises `BadInputError` with file and line."""
    task = TaskFile()
    for line, row in read_rows(source):
        try:
            root, readings = _text(row.get("question"), "question"), row.get("readings")
            if not isinstance(readings, list):
                raise ValueError("`readings` is no list")
            for reading in readings:
                asked, evidence = _reading(reading)
                task.ask(asked, root, asked, _LABEL, task.add(evidence))
        except ValueError as error:
            raise BadInputError(f"{error}.", where=source, line=line, hint="Correct this line.") from error
    return task


def _reading(reading: Any) -> tuple[str, list[str]]:
    if not isinstance(reading, dict):
        raise ValueError("a reading is no object")
    evidence = reading.get("evidence")
    texts = evidence if isinstance(evidence, list) else [evidence]
    if not texts:
        raise ValueError("a reading has no evidence")
    return _text(reading.get("question"), "question of a reading"), [_text(text, "evidence") for text in texts]


def _text(value: Any, name: str) -> str:
    if not isinstance(value, str) or not value.strip():
        raise ValueError(f"no {name}")
    return clean(value)
