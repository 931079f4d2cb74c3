"""One part of each kind, as a stranger's package adds them to Berdseye; docs/plugins.md explains the pieces."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from berdseye.data.datasets.layouts import Imported
from berdseye.data.datasets.layouts.recognise import Layout
from berdseye.data.grammar import Arguments, Call
from berdseye.data.records import Ids, Pair, Passage, Question, Ranking, Scores
from berdseye.data.workspace import Workspace
from berdseye.detectors.protocol import UNTUNED, Floats
from berdseye.evaluation.labels.support import Support
from berdseye.evaluation.measures.measure import Definition
from berdseye.retrieval.protocol import Collection, PipelineContext, Query, Readable
from berdseye.retrieval.ranking import top_k

# A retriever: an index of the passages, and a ranking by it ------------------------------------------------------------


@dataclass(frozen=True)
class Lengths:
    """The length of each passage in characters."""

    name: str = "lengths"
    engine: str = "1"

    def build(self, batches: Iterable[Sequence[Passage]], folder: Path) -> None:
        np.save(folder / "lengths.npy", np.array([len(p.text) for batch in batches for p in batch], np.float32))

    def load(self, folder: Path) -> Scores:
        return np.asarray(np.load(folder / "lengths.npy"), np.float32)


@dataclass(frozen=True)
class Shortest:
    """`shortest`: the shortest passages first, whatever is asked."""

    name: str = "shortest"

    @property
    def indexers(self) -> tuple[Lengths]:
        return (Lengths(),)

    @property
    def versions(self) -> Mapping[str, str]:
        return {"lengths": "1"}

    def rank(self, collection: Collection, queries: Sequence[Query], k: int) -> list[Ranking]:
        lengths = collection.index(self.indexers[0])
        return [top_k(np.arange(len(lengths)), -lengths, k) for _ in queries]


def shortest(call: Call, around: PipelineContext) -> Shortest:
    """What a pipeline's text `shortest` stands for; `Arguments` reads what is in its parentheses."""
    del around
    Arguments(call).finish()
    return Shortest()


# A stage after a retriever ---------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Backwards:
    """`bm25%20 >> backwards`: the last first."""

    name: str = "backwards"

    @property
    def versions(self) -> Mapping[str, str]:
        return {}

    def apply(self, passages: Readable, queries: Sequence[Query], ids: Ids, scores: Scores) -> tuple[Ids, Scores]:
        del passages, queries
        out_ids, out_scores = ids.copy(), scores.copy()
        for row in range(len(ids)):
            found = np.flatnonzero(ids[row] >= 0)
            out_ids[row, found] = ids[row, found[::-1]]
            out_scores[row, found] = -scores[row, found[::-1]]
        return out_ids, out_scores


def backwards(call: Call, around: PipelineContext) -> Backwards:
    """What `backwards` stands for."""
    del around
    Arguments(call).finish()
    return Backwards()


# A detector ------------------------------------------------------------------------------------------------------------


class Mentions:
    """`mentions(threshold=0.5)`: the share of the perspective's words that the passage holds."""

    version = "1"
    threshold_source = UNTUNED
    measured = ""
    pairs_at_once = 10_000

    def __init__(self, threshold: float) -> None:
        self.name = str(Call("mentions", (), {"threshold": threshold}))
        self.threshold = threshold

    def predict(self, pairs: Sequence[Pair]) -> Floats:
        words = [(set(p.perspective.casefold().split()), set(p.passage.casefold().split())) for p in pairs]
        return np.array([len(asked & said) / max(1, len(asked)) for asked, said in words], np.float32)


def mentions(arguments: Arguments, workspace: Workspace | None) -> Mentions:
    """What `mentions` stands for."""
    del workspace
    return Mentions(arguments.number("threshold", 0.5, high=1))


# A measure -------------------------------------------------------------------------------------------------------------


def _first_hit(support: Support, k: int) -> npt.NDArray[np.float64]:
    hits = support.top(k).any(axis=2)
    return np.where(hits.any(axis=1), 1 / (1 + hits.argmax(axis=1)), 0.0)


first_hit = Definition(_first_hit)

# A layout of data sets -------------------------------------------------------------------------------------------------


def _read(source: Path) -> Imported:
    rows = (line.split("\t") for line in source.read_text(encoding="utf-8").splitlines() if line)
    return Imported("lines", [Question(str(n), "", text) for n, (text, *_) in enumerate(rows, 1)])


lines = Layout(lambda source: source.suffix == ".questions", _read)
