"""A measure, and the declaration that makes one.

BERDS' measures of a ranking's top k, computed in NumPy from what each passage supports.
"""

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
"""How deep a measure without a cutoff looks; no run is as deep."""
ANSWER_MEASURES = ("PD", "DA", "Direct-Score", "G-Eval", "Num-of-POVs", "BLEU", "ROUGE-L", "BARTScore", "SemScore")
"""Names of the measures of answers, which `berdseye.evaluation.answer_measures` computes."""


@dataclass(frozen=True)
class Definition:
    """What a name of a measure stands for: adding a measure is adding one of these to `MEASURES`.

    `compute` gives a value for each question, float64[n_questions]. `cutoff` says whether the name takes `@k`, of at most
    `deepest`. `pooled`: the labels of passages beyond the run are needed too (`Support.rest`). `library`: the name under
    which ir_measures computes it, together with others of its kind.
    """

    compute: Compute
    cutoff: Cutoff = "needed"
    deepest: int = WHOLE_RUN
    pooled: bool = False
    library: str = ""
    unit: Unit = "share"


@dataclass(frozen=True)
class Measure:
    """A measure with its cutoff, `WHOLE_RUN` where the name has none; `str()` is its canonical name."""

    name: str
    k: int
    definition: Definition

    def __str__(self) -> str:
        return self.name if self.k == WHOLE_RUN else f"{self.name}@{self.k}"

    @property
    def unit(self) -> Unit:
        """What the value counts; shares are shown in percent."""
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
        """Whether the value depends on the labels of passages that the run does not hold."""
        return self.definition.pooled

    def values(self, support: Support) -> Values:
        """The value of each question, NaN for one without perspectives."""
        found = self.definition.compute(support, self.k).astype(np.float64)
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
