"""What a ranking is asked for."""

from collections.abc import Sequence
from typing import NamedTuple

from berdseye.data.records import Question


class Query(NamedTuple):
    """A text to search with, and what may be known beside it.

    PIR asks for one `perspective` on a `root` query, and `text` holds both; BERDS asks for all `perspectives`.
    """

    text: str
    root: str = ""
    perspective: str = ""
    perspectives: tuple[str, ...] = ()


def query_of(question: Question) -> Query:
    """The query of a question whose perspectives are to be covered."""
    return Query(question.text, root=question.text, perspectives=tuple(p.text for p in question.perspectives))


def as_queries(asked: Sequence[Query | str]) -> list[Query]:
    """Plain texts become queries of which nothing else is known."""
    return [Query(q) if isinstance(q, str) else q for q in asked]
