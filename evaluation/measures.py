"""The measures, by the names they are written with: `MRecall@5`, `Precision@5`.

Each gives a value for each question, float64[n_questions] in 0..1, NaN for a question without perspectives; the measure of a
run is their mean.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from data.errors import BadInputError, UnknownNameError
from data.grammar import Call, parse
from evaluation.support import Support

Values = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Measure:
    """A measure with its cutoff; `str()` is its canonical name."""

    name: str
    k: int
    compute: Callable[[Support, int], Values]

    def __str__(self) -> str:
        return f"{self.name}@{self.k}"

    def values(self, support: Support) -> Values:
        """The value of each question."""
        found = self.compute(support, self.k).astype(np.float64)
        return np.asarray(np.where(support.counts > 0, found, math.nan))


def mrecall(support: Support, k: int) -> Values:
    """MRecall@k (Min et al., 2021; BERDS, section 2.2): 1 where the top k supports every perspective, or, where there are
    more than k perspectives, at least k of them; else 0."""
    covered = support.top(k).any(axis=1).sum(axis=1)
    return np.asarray(covered >= np.minimum(support.counts, k), dtype=np.float64)


def precision(support: Support, k: int) -> Values:
    """Precision@k (BERDS, section 2.2): the share of k passages that support at least one perspective; a ranking shorter
    than k is still divided by k, as in the released evaluator."""
    return np.asarray(support.top(k).any(axis=2).sum(axis=1) / k)


def coverage(support: Support, k: int) -> Values:
    """Coverage@k: the share of a question's perspectives that the top k supports (subtopic recall, Zhai et al., 2003)."""
    return np.asarray(support.top(k).any(axis=1).sum(axis=1) / np.maximum(support.counts, 1))


MEASURES: Mapping[str, Callable[[Support, int], Values]] = {
    "MRecall": mrecall,
    "Precision": precision,
    "Coverage": coverage,
}
DEFAULT_MEASURES = ("MRecall@5", "Precision@5", "Precision@1")


def parse_measures(text: str) -> list[Measure]:
    """Measures from their names, separated by spaces; raises `UnknownNameError` with the nearest right names."""
    measures = [_measure(parse(name), name) for name in text.split()]
    if not measures:
        raise BadInputError("No measure was named.", hint=f"Name some, such as {' '.join(DEFAULT_MEASURES)}.")
    return measures


def _measure(calls: list[Call], name: str) -> Measure:
    call = calls[0]
    if len(calls) > 1 or call.name not in MEASURES:
        raise UnknownNameError("measure", name, [f"{m}@5" for m in MEASURES])
    if call.args or call.kwargs or call.cutoff is None or call.cutoff < 1:
        raise BadInputError(f"'{name}' needs a cutoff of at least 1.", hint=f"Write it like {call.name}@5.")
    return Measure(call.name, call.cutoff, MEASURES[call.name])
