"""Queries, and the interfaces of a pipeline's parts.

To add a part, implement one of these interfaces and register it in `berdseye.retrieval.pipeline_registry`.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, Protocol, TypeVar

from berdseye.data.records import Ids, Pair, Passage, Question, Ranking, Scores
from berdseye.data.workspace import Workspace

Made = TypeVar("Made")
Made_co = TypeVar("Made_co", covariant=True)
LabelFunction = Callable[[str, Sequence[Pair]], Scores]
"""A function that returns P(supports) of pairs, float32[n_pairs], given the name of a detector."""


class Query(NamedTuple):
    """A text to search with, and optional context.

    In PIR, a query asks for one `perspective` on a `root` query, and `text` contains both; in BERDS, it asks for all
    `perspectives`.
    """

    text: str
    root: str = ""
    perspective: str = ""
    perspectives: tuple[str, ...] = ()


def query_of(question: Question) -> Query:
    """The query for a question whose perspectives a ranking should cover."""
    return Query(question.text, root=question.text, perspectives=tuple(p.text for p in question.perspectives))


def as_queries(asked: Sequence[Query | str]) -> list[Query]:
    """Convert plain texts to queries without context."""
    return [Query(q) if isinstance(q, str) else q for q in asked]


class Indexer(Protocol[Made_co]):
    """Builds an index of passages, which are numbered from 0 in order.

    `name` contains every setting that changes the index; `engine` names the software and weights that compute it.
    """

    @property
    def name(self) -> str: ...

    @property
    def engine(self) -> str: ...

    def __hash__(self) -> int: ...

    def build(self, batches: Iterable[Sequence[Passage]], folder: Path) -> None:
        """Write the index into an existing, empty folder."""
        ...

    def load(self, folder: Path) -> Made_co: ...


class ResumableIndexer(Indexer[Made_co], Protocol[Made_co]):
    """An indexer that continues a build that was interrupted."""

    def resume(self, folder: Path) -> int:
        """The number of passages that an interrupted build has already put into the folder.

        If it is not 0, `build` is called with this folder and the passages from that number on.
        """
        ...


class Readable(Protocol):
    """Passages that can be read by their ids."""

    def passages(self, ids: Sequence[int]) -> list[Passage]: ...


class Collection(Protocol):
    """Passages that can be indexed."""

    def index(self, indexer: Indexer[Made]) -> Made:
        """The index of these passages; it is built if there is no valid one."""
        ...


class PipelinePart(Protocol):
    """A part of a pipeline.

    `name` is canonical; together with `versions`, the versions of weights, engines and texts that the part uses, it
    determines the rankings.
    """

    @property
    def name(self) -> str: ...

    @property
    def versions(self) -> Mapping[str, str]: ...


class Ranker(PipelinePart, Protocol):
    """A retriever: ranks passages for queries."""

    @property
    def indexers(self) -> tuple[Indexer[object], ...]:
        """The indexers of the indexes that it searches, so that these can be built in advance."""
        ...

    def rank(self, collection: Collection, queries: Sequence[Query], k: int) -> list[Ranking]:
        """A ranking of at most k passages for each query."""
        ...


class Searchable(Readable, Protocol):
    """Passages that can be ranked, by one index of all of them or by an index built for each query."""

    def rank(self, ranker: Ranker, queries: Sequence[Query], k: int) -> list[Ranking]: ...


class Stage(PipelinePart, Protocol):
    """A stage after a retriever: converts the rankings of all queries to other rankings."""

    def apply(self, passages: Readable, queries: Sequence[Query], ids: Ids, scores: Scores) -> tuple[Ids, Scores]:
        """Convert `ids` int64[n, k] and `scores` float32[n, k] to arrays of equal shape, best first, padded with -1."""
        ...


@dataclass(frozen=True)
class PipelineContext:
    """Resources that some parts of a pipeline need: a workspace in which to store texts, and detectors."""

    workspace: Workspace | None = None
    label_function: LabelFunction | None = None
