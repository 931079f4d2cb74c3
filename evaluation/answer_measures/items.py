"""What measures of answers are given, and what they give back.

Values that took long to compute, kept in the workspace the moment each is known.

Answers that are too long for the model that is to judge them.
"""

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


class Answered(NamedTuple):
    """A question, with its partial answers as perspectives, and a system's answer to it."""

    question: Question
    answer: str


class Measured(NamedTuple):
    """A value an item, float64[n_items], NaN where there is none, and notes on what was left out or cut."""

    values: Doubles
    notes: tuple[str, ...] = ()


class Scorer(Protocol):
    """Measures answers. `version` changes when the model or the wording does."""

    @property
    def version(self) -> str: ...

    def values(self, workspace: Workspace, items: Sequence[Answered], *, progress: Progress = silent) -> Measured:
        """A value an item; what takes long is kept in the workspace, so that a killed run goes on."""
        ...


_BUSY_SECONDS = 30
_SCHEMA = """CREATE TABLE IF NOT EXISTS answer_values (
    key TEXT PRIMARY KEY, measure TEXT NOT NULL, version TEXT NOT NULL, value REAL NOT NULL, cut INTEGER NOT NULL
) STRICT"""


class Kept(NamedTuple):
    """A value, and whether its text was too long and lost its end."""

    value: float
    cut: bool


class KeptValues:
    """Values of one measure and version by the texts that they are of."""

    def __init__(self, workspace: Workspace, measure: str, version: str) -> None:
        self.path = workspace.folder / "answers" / "values.db"
        self.measure, self.version = measure, version

    def key(self, *texts: str | Sequence[str]) -> str:
        """The name that a value is kept under."""
        return hashlib.sha256(json.dumps([self.measure, self.version, *texts]).encode()).hexdigest()

    def get(self, keys: Sequence[str]) -> dict[str, Kept]:
        """Those that are known."""
        if not self.path.exists():
            return {}
        with self._open() as database:
            asked = "SELECT key, value, cut FROM answer_values WHERE key IN (SELECT value FROM json_each(?))"
            return {k: Kept(v, bool(c)) for k, v, c in database.execute(asked, (json.dumps(list(keys)),))}

    def put(self, key: str, kept: Kept) -> None:
        """Keep one; the first that was kept stays."""
        with self._open() as database:
            row = (key, self.measure, self.version, kept.value, int(kept.cut))
            database.execute("INSERT OR IGNORE INTO answer_values VALUES (?, ?, ?, ?, ?)", row)

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        """One transaction; what it wrote is on disk when it ends."""
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with closing(sqlite3.connect(self.path, timeout=_BUSY_SECONDS)) as database:
                database.execute(_SCHEMA)
                with database:
                    yield database
        except (sqlite3.Error, OSError) as error:
            raise UnavailableError(
                f"The values of answers cannot be read or written: {error}.",
                where=self.path,
                hint="Check the space and the rights of the folder. A damaged file can be moved away; values are then made anew.",
            ) from error


QUESTION, ANSWER = "Question", "Answer"
_KEPT = 0.8


def fitted(
    model: LanguageModel, template: PromptTemplate, items: Sequence[Answered], max_tokens: int
) -> tuple[list[dict[str, str]], int]:
    """The slots of each item, and how many answers lost their ends so that the prompt fits a local model's window.

    The window of a model behind an address is not known: it refuses what is too long, and says so.
    """
    window = Window(model)
    given, cut = [], 0
    for item in items:
        slots = {QUESTION: item.question.text, ANSWER: item.answer}
        while isinstance(model, LocalModel) and slots[ANSWER] and not window.fits(template.fill(slots), max_tokens):
            words = slots[ANSWER].split()
            slots[ANSWER] = " ".join(words[: int(len(words) * _KEPT)])
        cut += slots[ANSWER] != item.answer
        given.append(slots)
    return given, cut


def counted(items: int, *told: tuple[int, str]) -> tuple[str, ...]:
    """Notes on what happened to how many of the items, leaving out what happened to none."""
    return tuple(f"{count} of {items} {what}." for count, what in told if count)


def said(text: str) -> str:
    """How a reply begins, in a note."""
    begins = " ".join(text.split())[:60]
    return f"; one begins '{begins}'" if begins else "; one is empty"
