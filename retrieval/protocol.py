"""What a retriever and a stage are; adding one is writing one of these and naming it in `retrieval.registry`."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Protocol

from data.corpora import Corpus
from data.records import Ids, Ranking, Scores


class Index(Protocol):
    """Searchable texts, numbered from 0 in the order they were given."""

    def search(self, queries: Sequence[str], k: int) -> list[Ranking]:
        """A ranking of at most k text numbers for each query."""
        ...

    def save(self, folder: Path) -> None:
        """Write the index into an existing, empty folder."""
        ...


class Retriever(Protocol):
    """Builds indexes. `name` is canonical and says everything that changes a ranking; `engine` says who computes it."""

    @property
    def name(self) -> str: ...

    @property
    def engine(self) -> str: ...

    def __hash__(self) -> int: ...

    def build(self, batches: Iterable[Sequence[str]]) -> Index: ...

    def load(self, folder: Path) -> Index: ...


class Stage(Protocol):
    """What follows a retriever: takes its rankings and gives others."""

    @property
    def name(self) -> str: ...

    def apply(self, corpus: Corpus, queries: Sequence[str], ids: Ids, scores: Scores) -> tuple[Ids, Scores]:
        """`ids` int64[n, k] and `scores` float32[n, k] to arrays of the same shape, best first."""
        ...
