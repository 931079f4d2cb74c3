"""`Measure` and its `Definition`, and BERDS's measures of the top k of a ranking, computed in NumPy from the support array."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from berdseye.evaluation.labels.support import Support

Values = npt.NDArray[np.float64]
Compute = Callable[[Support, int], Values]
Cutoff = Literal["needed", "may", "none"]
Unit = Literal["share", "passages"]

WHOLE_RUN = 1_000_000
"""The cutoff of a measure without a cutoff; no run is this deep."""
ANSWER_MEASURES = (
    "PD", "DA", "Acknowledge", "Direct-Score", "G-Eval", "Num-of-POVs", "BLEU", "ROUGE-L", "BARTScore", "SemScore",
)  # fmt: skip
"""The names of the measures of answers, which `berdseye.evaluation.answer_measures` computes."""


@dataclass(frozen=True)
class Definition:
    """The definition of a measure; to add a measure, add a definition to `MEASURES`.

    `compute` returns a value for each question, float64[n_questions]. `cutoff` says whether the name takes `@k`, with k at most
    `deepest`. `pooled`: the measure also needs labels of passages outside the run (`Support.rest`). `library`: the name under
    which ir_measures computes it, together with other measures of the library.
    """

    compute: Compute
    cutoff: Cutoff = "needed"
    deepest: int = WHOLE_RUN
    pooled: bool = False
    library: str = ""
    unit: Unit = "share"


@dataclass(frozen=True)
class Measure:
    """A measure with its cutoff, `WHOLE_RUN` if the name has none; `str()` gives its canonical name."""

    name: str
    k: int
    definition: Definition

    def __str__(self) -> str:
        return self.name if self.k == WHOLE_RUN else f"{self.name}@{self.k}"

    @property
    def unit(self) -> Unit:
        """The unit of the value; shares are shown in percent."""
        return self.definition.unit

    @property
    def bounds(self) -> tuple[float, float]:
        """The least and the largest value that a question can have."""
        return (0.0, 1.0) if self.unit == "share" else (1.0, self.k + 1.0)

    @property
    def differences(self) -> tuple[float, float]:
        """The least and the largest difference that two values of a question can have."""
        low, high = self.bounds
        return low - high, high - low

    @property
    def pooled(self) -> bool:
        """Whether the value depends on labels of passages outside the run."""
        return self.definition.pooled

    def values(self, support: Support) -> Values:
        """Compute the value of each question, NaN for questions without perspectives, float64[n_questions]."""
        values = self.definition.compute(support, self.k).astype(np.float64)
        return np.asarray(np.where(support.counts > 0, values, math.nan))


def mrecall(support: Support, k: int) -> Values:
    """Compute MRecall@k (Min et al., 2021; BERDS, section 2.2): 1 if the top k supports every perspective or, with more than k
    perspectives, at least k of them; 0 otherwise."""
    covered = support.top(k).any(axis=1).sum(axis=1)
    return np.asarray(covered >= np.minimum(support.counts, k), dtype=np.float64)


def precision(support: Support, k: int) -> Values:
    """Compute Precision@k (BERDS, section 2.2): the share of k passages that support at least one perspective; the count is
    divided by k also for rankings shorter than k, as in the released evaluator."""
    return np.asarray(support.top(k).any(axis=2).sum(axis=1) / k)


def coverage(support: Support, k: int) -> Values:
    """Compute Coverage@k: the share of a question's perspectives that the top k supports (subtopic recall, Zhai et al., 2003)."""
    return np.asarray(support.top(k).any(axis=1).sum(axis=1) / np.maximum(support.counts, 1))
