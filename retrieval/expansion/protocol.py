"""The interface of sources of perspectives."""

import unicodedata
import warnings
from collections.abc import Callable, Iterable, Sequence
from typing import Literal, NamedTuple, Protocol

from berdseye.data.errors import BadInputError
from berdseye.data.progress import Progress, silent


class Failure(NamedTuple):
    """A question for which no perspective could be generated; it is searched without expansion."""

    question: str
    reason: str


Failed = Callable[[Failure], None]
Queries = Literal["released", "paper"]
QUERIES: tuple[Queries, ...] = ("released", "paper")


def warn(failure: Failure) -> None:
    """Report a failure as a Python warning."""
    warnings.warn(f"The question '{failure.question}' is not expanded: {failure.reason}", stacklevel=3)


class ExpansionSource(Protocol):
    """Provides perspectives on questions, without access to the gold perspectives.

    `name` is the canonical argument of `expand(...)`; `version` changes whenever the provided perspectives may change.
    """

    @property
    def name(self) -> str: ...

    @property
    def version(self) -> str: ...

    def perspectives(
        self, questions: Sequence[str], progress: Progress = silent, failed: Failed = warn
    ) -> list[tuple[str, ...]]:
        """The texts of each question's perspectives in the order of generation; empty for each `Failure` passed to `failed`."""
        ...


def expanded_queries(question: str, perspectives: Iterable[str], variant: Queries = "released") -> list[str]:
    """The texts to search (BERDS, query expansion): each perspective alone, as the paper describes it (`variant="paper"`), or
    after the question, as in the released files; the question if there is no perspective."""
    texts = [perspective if variant == "paper" else f"{question} {perspective}" for perspective in perspectives]
    return texts or [question]


def question_key(question: str) -> str:
    """The question in a normal form: Unicode NFC, single spaces."""
    return " ".join(unicodedata.normalize("NFC", question).split())


def perspectives_for(
    by_question: dict[str, tuple[str, ...]], questions: Sequence[str], *, where: str, hint: str
) -> list[tuple[str, ...]]:
    """The perspectives of each question; raises `BadInputError` with the number of questions without any, and the first."""
    missing = [question for question in questions if not by_question.get(question_key(question))]
    if missing:
        raise BadInputError(
            f"{len(missing)} of {len(questions)} questions have no perspectives here, for example '{missing[0]}'.",
            where=where,
            hint=hint,
        )
    return [by_question[question_key(question)] for question in questions]
