"""The interface of measures of answers, the store of computed values, and the fitting of long answers into a model's window."""

import hashlib
import json
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from typing import NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from berdseye.data.errors import UnavailableError
from berdseye.data.language_models.local import LocalModel
from berdseye.data.language_models.prompts import PromptTemplate
from berdseye.data.language_models.protocol import LanguageModel
from berdseye.data.progress import Progress, silent
from berdseye.data.records import Question
from berdseye.data.workspace import Workspace
from berdseye.evaluation.answering.asking import Window

Doubles = npt.NDArray[np.float64]
_BUSY_SECONDS = 30
_SCHEMA = """CREATE TABLE IF NOT EXISTS answer_values (
    key TEXT PRIMARY KEY, measure TEXT NOT NULL, version TEXT NOT NULL, value REAL NOT NULL, cut INTEGER NOT NULL
) STRICT"""
QUESTION, ANSWER = "Question", "Answer"
_KEPT = 0.8


class Answered(NamedTuple):
    """A question with its partial answers as perspectives, and a system's answer to it."""

    question: Question
    answer: str


class Measured(NamedTuple):
    """One value per item, float64[n_items], NaN if there is none, and notes on what was left out or cut."""

    values: Doubles
    notes: tuple[str, ...] = ()


class Scorer(Protocol):
    """A scorer of answers; `version` changes if the model or the text of the prompt changes."""

    @property
    def version(self) -> str: ...

    def values(self, workspace: Workspace, items: Sequence[Answered], *, progress: Progress = silent) -> Measured:
        """Compute one value per item; slow results are stored in the workspace, so re-running a killed run resumes."""
        ...


class StoredValue(NamedTuple):
    """A stored value, and whether its text was too long and lost its end."""

    value: float
    cut: bool


class ValueStore:
    """Stored values of one measure and version, by the texts that were measured."""

    def __init__(self, workspace: Workspace, measure: str, version: str) -> None:
        self.path = workspace.folder / "answers" / "values.db"
        self.measure, self.version = measure, version

    def key(self, *texts: str | Sequence[str]) -> str:
        """Return the key of a value."""
        return hashlib.sha256(json.dumps([self.measure, self.version, *texts]).encode()).hexdigest()

    def get(self, keys: Sequence[str]) -> dict[str, StoredValue]:
        """Return the stored values among `keys`."""
        if not self.path.exists():
            return {}
        with self._open() as database:
            query = "SELECT key, value, cut FROM answer_values WHERE key IN (SELECT value FROM json_each(?))"
            return {k: StoredValue(v, bool(c)) for k, v, c in database.execute(query, (json.dumps(list(keys)),))}

    def put(self, key: str, kept: StoredValue) -> None:
        """Store a value; an existing value is not replaced."""
        with self._open() as database:
            row = (key, self.measure, self.version, kept.value, int(kept.cut))
            database.execute("INSERT OR IGNORE INTO answer_values VALUES (?, ?, ?, ?, ?)", row)

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        """Open one transaction; its changes are on disk when it ends."""
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with closing(sqlite3.connect(self.path, timeout=_BUSY_SECONDS)) as database:
                database.execute(_SCHEMA)
                with database:
                    yield database
        except (sqlite3.Error, OSError) as error:
            raise UnavailableError(
                f"The stored values of answers cannot be read or written: {error}.",
                where=self.path,
                hint="Check the free space and the permissions of the folder. If the file is damaged, move it away; Berdseye "
                "then computes the values again.",
            ) from error


def fitted(
    model: LanguageModel, template: PromptTemplate, items: Sequence[Answered], max_tokens: int
) -> tuple[list[dict[str, str]], int]:
    """Return the slots of each item, and the number of answers that lost their ends so that the prompt fits a local model's
    window.

    The window of a model on a server is unknown; the server rejects prompts that are too long.
    """
    window = Window(model)
    all_slots, cut = [], 0
    for item in items:
        slots = {QUESTION: item.question.text, ANSWER: item.answer}
        while isinstance(model, LocalModel) and slots[ANSWER] and not window.fits(template.fill(slots), max_tokens):
            words = slots[ANSWER].split()
            slots[ANSWER] = " ".join(words[: int(len(words) * _KEPT)])
        cut += slots[ANSWER] != item.answer
        all_slots.append(slots)
    return all_slots, cut


def counted(items: int, *events: tuple[int, str]) -> tuple[str, ...]:
    """Return notes of the form `COUNT of ITEMS TEXT.` for pairs of a count and a text; counts of 0 are omitted."""
    return tuple(f"{count} of {items} {what}." for count, what in events if count)


def beginning(text: str) -> str:
    """Return the part of a note that quotes the beginning of a reply."""
    begins = " ".join(text.split())[:60]
    return f"; one begins '{begins}'" if begins else "; one is empty"
