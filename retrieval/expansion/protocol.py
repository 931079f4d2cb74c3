"""What every source of perspectives offers."""

import unicodedata
import warnings
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple, Protocol

from berdseye.data.errors import BadInputError
from berdseye.data.progress import Progress, silent


class Failure(NamedTuple):
    """A question that no perspectives could be made for; it is searched as it is."""

    question: str
    reason: str


Failed = Callable[[Failure], None]


def warn(failure: Failure) -> None:
    """Tell of a failure as a Python warning, where nobody listens otherwise."""
    warnings.warn(f"Not expanded: '{failure.question}': {failure.reason}", stacklevel=3)


class ExpansionSource(Protocol):
    """Gives perspectives that a question may be answered from; gold perspectives are never shown to it.

    `name` is the canonical argument of `expand(...)`; `version` changes when what it would give changes.
    """

    @property
    def name(self) -> str: ...

    @property
    def version(self) -> str: ...

    def perspectives(
        self, questions: Sequence[str], progress: Progress = silent, failed: Failed = warn
    ) -> list[tuple[str, ...]]:
        """The texts of each question's perspectives in the order of generation; none where `failed` was told of it."""
        ...


def expanded_queries(question: str, perspectives: Iterable[str]) -> list[str]:
    """What is searched: question + perspective for each (BERDS, query expansion), or the question where there is none."""
    return [f"{question} {perspective}" for perspective in perspectives] or [question]


def question_key(question: str) -> str:
    """What two spellings of one question share: Unicode NFC, single spaces."""
    return " ".join(unicodedata.normalize("NFC", question).split())


def each_found(
    found: dict[str, tuple[str, ...]], questions: Sequence[str], *, where: str, hint: str
) -> list[tuple[str, ...]]:
    """The perspectives of each question; raises `BadInputError` that tells how many have none, and the first of them."""
    missing = [question for question in questions if not found.get(question_key(question))]
    if missing:
        raise BadInputError(
            f"{len(missing)} of {len(questions)} questions have no perspectives here, the first: '{missing[0]}'.",
            where=where,
            hint=hint,
        )
    return [found[question_key(question)] for question in questions]
