"""What a pipeline is made of; adding a part is writing one of these and naming it in `berdseye.retrieval.pipeline_registry`.

What a ranking is asked for.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, Protocol, TypeVar

from berdseye.data.records import Ids, Pair, Passage, Question, Ranking, Scores
from berdseye.data.workspace import Workspace


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


Made = TypeVar("Made")
Made_co = TypeVar("Made_co", covariant=True)


class Indexer(Protocol[Made_co]):
    """Makes an index of passages, numbered from 0 in their order. `name` says everything that changes the index, and
    `engine` who computes it."""

    @property
    def name(self) -> str: ...

    @property
    def engine(self) -> str: ...

    def __hash__(self) -> int: ...

    def build(self, batches: Iterable[Sequence[Passage]], folder: Path) -> None:
        """Write the index into an existing, empty folder."""
        ...

    def load(self, folder: Path) -> Made_co: ...


class Readable(Protocol):
    """Passages that can be read by their ids."""

    def passages(self, ids: Sequence[int]) -> list[Passage]: ...


class Collection(Protocol):
    """Passages that can be indexed."""

    def index(self, indexer: Indexer[Made]) -> Made:
        """The index of these passages, made if there is none that fits."""
        ...


class PipelinePart(Protocol):
    """A part of a pipeline. `name` is canonical; together with `versions`, those of weights, engines and texts it is made
    with, it says everything that changes a ranking."""

    @property
    def name(self) -> str: ...

    @property
    def versions(self) -> Mapping[str, str]: ...


class Ranker(PipelinePart, Protocol):
    """From queries to rankings."""

    @property
    def indexers(self) -> tuple[Indexer[object], ...]:
        """What it searches, so that it can be built beforehand."""
        ...

    def rank(self, collection: Collection, queries: Sequence[Query], k: int) -> list[Ranking]:
        """A ranking of at most k passages for each query."""
        ...


class Searchable(Readable, Protocol):
    """Passages that can be ranked, be it by an index of them all or by one made for each query."""

    def rank(self, ranker: Ranker, queries: Sequence[Query], k: int) -> list[Ranking]: ...


class Stage(PipelinePart, Protocol):
    """What follows a ranker: takes the rankings of all queries and gives others."""

    def apply(self, passages: Readable, queries: Sequence[Query], ids: Ids, scores: Scores) -> tuple[Ids, Scores]:
        """`ids` int64[n, k] and `scores` float32[n, k] to arrays of the same shape, best first, -1 pads."""
        ...


LabelFunction = Callable[[str, Sequence[Pair]], Scores]
"""P(supports) of pairs, float32[n_pairs], by the detector of a name."""


@dataclass(frozen=True)
class PipelineContext:
    """What some parts need of the world around a pipeline: a workspace to keep texts in, and detectors."""

    workspace: Workspace | None = None
    label_function: LabelFunction | None = None
