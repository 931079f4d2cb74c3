"""Perspectives typed by a person, kept in the workspace."""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from filelock import FileLock

from berdseye.data.errors import BadInputError
from berdseye.data.files.atomic import write_bytes
from berdseye.data.progress import Progress, silent
from berdseye.data.texts.passages import clean
from berdseye.data.workspace import Workspace
from berdseye.retrieval.expansion.file_source import read_generated
from berdseye.retrieval.expansion.protocol import Failed, perspectives_for, question_key, warn


@dataclass(frozen=True)
class ManualPerspectives:
    """`expand(manual)`. Stored as JSONL that `expand(PATH)` reads too; any number of processes may write at once."""

    workspace: Workspace

    @property
    def name(self) -> str:
        return "manual"

    @property
    def version(self) -> str:
        """Hash of all that is typed (12 hex digits)."""
        return hashlib.sha256(json.dumps(self._all()).encode()).hexdigest()[:12]

    def get(self, question: str) -> tuple[str, ...]:
        """What was typed for a question, in order; nothing where nothing was."""
        return self._all().get(question_key(question), ())

    def put(self, question: str, texts: Sequence[str]) -> None:
        """Keep these in place of what was typed for the question before; no texts remove it. On disk when it returns."""
        kept = tuple(dict.fromkeys(text for text in map(_one_line, texts) if text))
        asked = question_key(_one_line(question))
        if not asked:
            raise BadInputError("The question is empty.", hint="Type one.")
        self._path.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(f"{self._path}.lock"):
            everything = {**self._all(), asked: kept}
            rows = ({"question": q, "perspectives": p} for q, p in everything.items() if p)
            write_bytes(self._path, "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode())

    def perspectives(
        self, questions: Sequence[str], progress: Progress = silent, failed: Failed = warn
    ) -> list[tuple[str, ...]]:
        """As `ExpansionSource.perspectives`; raises `BadInputError` where nothing was typed for a question."""
        del progress, failed
        return perspectives_for(self._all(), questions, where=self.name, hint="Type some, or leave the question out.")

    @property
    def _path(self) -> Path:
        return self.workspace.folder / "perspectives" / "typed.jsonl"

    def _all(self) -> dict[str, tuple[str, ...]]:
        return read_generated(self._path) if self._path.exists() and self._path.stat().st_size else {}


def _one_line(text: str) -> str:
    return " ".join(clean(text).split())
