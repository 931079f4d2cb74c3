"""Perspectives from a file in the layout of the BERDS release or in Berdseye's own JSONL."""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from berdseye.data.datasets.layouts import read_perspectives
from berdseye.data.errors import BadInputError
from berdseye.data.grammar import Call
from berdseye.data.progress import Progress, silent
from berdseye.data.texts.passages import clean
from berdseye.retrieval.expansion.protocol import Failed, perspectives_for, question_key, warn


@dataclass(frozen=True)
class FileSource:
    """The source of `expand(PATH)` or `expand(file(PATH))`; `written` is the path as the user wrote it."""

    written: str
    path: Path

    @property
    def name(self) -> str:
        return str(Call("file", (self.written,)))

    @property
    def version(self) -> str:
        """A hash of the file's content, 12 hex digits."""
        return hashlib.sha256(_content(self.path)).hexdigest()[:12]

    def perspectives(
        self, questions: Sequence[str], progress: Progress = silent, failed: Failed = warn
    ) -> list[tuple[str, ...]]:
        """The perspectives of each question; raises `BadInputError` if the file lacks a question or has invalid lines."""
        del progress, failed
        generated = read_generated(self.path)
        return perspectives_for(
            generated, questions, where=self.written, hint="Use a file generated for this data set."
        )


def read_generated(path: Path) -> dict[str, tuple[str, ...]]:
    """Read perspectives by question (normalised by `question_key`), in the order of the file.

    A line is an object with `question` and `perspectives` (a list of texts) or, in the BERDS release, with `org_q` and one
    `text`. Lines of one question are merged, even if their ids differ, as in the released scripts. Raises `BadInputError` with
    the numbers of all invalid lines.
    """
    perspectives: dict[str, dict[str, None]] = {}
    bad: list[tuple[int, str]] = []
    for number, line in enumerate(_content(path).removeprefix(b"\xef\xbb\xbf").split(b"\n"), start=1):
        if line.strip():
            try:
                question, texts = _row(json.loads(line.decode()))
            except (ValueError, RecursionError) as error:
                bad.append((number, str(error) or "not valid JSON"))
            else:
                perspectives.setdefault(question_key(question), {}).update(dict.fromkeys(texts))
    if bad:
        others = f" (and lines {', '.join(str(n) for n, _ in bad[1:11])}{', …' if len(bad) > 11 else ''})"
        raise BadInputError(
            f"{bad[0][1]}{others if bad[1:] else ''}.", where=path, line=bad[0][0], hint="Fix or remove these lines."
        )
    if not perspectives:
        raise BadInputError("The file contains no perspective.", where=path, hint="Use another file.")
    return {question: tuple(texts) for question, texts in perspectives.items()}


def _content(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise BadInputError(
            f"The file cannot be read: {error.strerror}.", where=path, hint="Check the path and its permissions."
        ) from error


def _row(row: Any) -> tuple[str, list[str]]:
    if not isinstance(row, dict):
        raise ValueError("expected an object")
    released = "org_q" in row
    question = row.get("org_q" if released else "question")
    if not isinstance(question, str) or not question.strip():
        raise ValueError("no question")
    texts = [p.text for p in read_perspectives([row.get("text")] if released else row.get("perspectives"))]
    if not texts:
        raise ValueError("no perspectives")
    return clean(question), texts
