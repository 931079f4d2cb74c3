"""Coverage-aware reranking: first the passages that together are expected to cover the most perspectives.

With P(i, j) the probability that passage i supports perspective j, and these events taken as independent, the expected
number of perspectives that a set S covers is f(S) = sum over j of 1 - prod over i in S of (1 - P(i, j)). f is monotone and
submodular, so the greedy choice reaches at least 1 - 1/e of the best set of every size (Nemhauser, Wolsey and Fisher, 1978);
adding a passage's relevance, which is modular and not negative, preserves that bound. The perspectives are those of the
question, or of a source of generated perspectives.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from berdseye.data.errors import BadInputError
from berdseye.data.grammar import show, show_name
from berdseye.data.records import Ids, Pair, Scores
from berdseye.retrieval.expansion.protocol import ExpansionSource
from berdseye.retrieval.protocol import LabelFunction, Query, Readable


@dataclass(frozen=True)
class Cover:
    """The stage `>> cover(DETECTOR)`; `weight` is the weight of coverage in the objective, the rest that of the score."""

    detector: str
    weight: float = 1.0
    source: ExpansionSource | None = None
    label_function: LabelFunction | None = field(default=None, compare=False, repr=False)

    @property
    def name(self) -> str:
        shown = [show_name(self.detector)] + ([f"weight={show(self.weight)}"] if self.weight != 1 else [])
        shown += [f"perspectives={self.source.name}"] if self.source is not None else []
        return f"cover({','.join(shown)})"

    @property
    def versions(self) -> dict[str, str]:
        """The version of the source; the detector's version is stored with its labels."""
        return {} if self.source is None else {self.source.name: self.source.version}

    def apply(self, passages: Readable, queries: Sequence[Query], ids: Ids, scores: Scores) -> tuple[Ids, Scores]:
        if self.label_function is None:
            raise BadInputError(
                "cover(...) requires detectors, which are not available here.",
                hint="Remove cover(...) from the pipeline.",
            )
        perspectives = self._perspectives(queries)
        out_ids, out_scores = ids.copy(), scores.copy()
        ranked = [passages.passages(row[row >= 0].tolist()) for row in ids]
        pairs = [
            Pair(a.text, p, a.title)
            for row, texts in zip(ranked, perspectives, strict=True)
            for a in row
            for p in texts
        ]
        probabilities, begin = self.label_function(self.detector, pairs), 0
        for row, (row_passages, texts) in enumerate(zip(ranked, perspectives, strict=True)):
            end = begin + len(row_passages) * len(texts)
            places = np.flatnonzero(ids[row] >= 0)
            if end > begin:
                supports = probabilities[begin:end].reshape(len(row_passages), len(texts))
                order, values = choose(supports, _unit_range(scores[row, places]), self.weight)
                out_ids[row, places], out_scores[row, places] = ids[row, places[order]], values
            begin = end
        return out_ids, out_scores

    def _perspectives(self, queries: Sequence[Query]) -> list[tuple[str, ...]]:
        if self.source is not None:
            return self.source.perspectives([q.text for q in queries])
        for query in queries:
            if not query.perspectives:
                raise BadInputError(
                    f"The question '{query.text[:80]}' has no perspectives to cover.",
                    hint="Use a data set with perspectives, or a source: cover(embedded,perspectives=llm).",
                )
        return [q.perspectives for q in queries]


def choose(supports: Scores, relevance: Scores, weight: float) -> tuple[list[int], list[float]]:
    """The greedy order of passages by P(supports) float32[n_passages, n_perspectives], and the gain of each choice.

    Of passages with equal gains, the earlier one comes first.
    """
    missing = np.ones(supports.shape[1])
    remaining = np.ones(len(supports), dtype=bool)
    order: list[int] = []
    gains: list[float] = []
    for _ in range(len(supports)):
        gain = weight * (supports @ missing) / supports.shape[1] + (1 - weight) * relevance
        best = int(np.where(remaining, gain, -np.inf).argmax())
        order.append(best)
        gains.append(float(gain[best]))
        remaining[best] = False
        missing *= 1 - supports[best]
    return order, gains


def _unit_range(scores: Scores) -> Scores:
    """The scores scaled to [0, 1], so that none is negative in the objective."""
    spread = float(scores.max() - scores.min())
    return (scores - scores.min()) / spread if spread > 0 else np.zeros_like(scores)
