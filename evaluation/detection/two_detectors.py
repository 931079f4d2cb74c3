"""Comparison of two detectors on the same judged pairs: their agreement, which is correct more often, and where they differ."""

from typing import NamedTuple

import numpy as np
import pandas as pd
from statsmodels.stats.contingency_tables import mcnemar

from berdseye.detectors.protocol import Floats
from berdseye.evaluation.agreement.kappa import cohen_kappa
from berdseye.evaluation.detection.errors import UNKNOWN
from berdseye.evaluation.detection.improvement import Difference, paired_differences
from berdseye.evaluation.detection.operating_points import RESAMPLES, decisions_at
from berdseye.evaluation.detection.pairs import JudgedPairs
from berdseye.evaluation.statistics.intervals import Estimate

_FEW = 25


class Side(NamedTuple):
    """A detector with its probabilities float32[n] and its threshold."""

    name: str
    probabilities: Floats
    threshold: float


class TwoDetectors(NamedTuple):
    """Two detectors compared on judged pairs.

    `kappa` is Cohen's kappa of their labels (n pairs); `both_right`, `only_a`, `only_b` and `neither` count pairs by which
    detector is correct; `mcnemar_p` assumes independent pairs (`exact`: the exact test); `differences` (b minus a) resample whole
    questions.
    """

    kappa: Estimate
    both_right: int
    only_a: int
    only_b: int
    neither: int
    mcnemar_p: float
    exact: bool
    differences: tuple[Difference, ...]

    @property
    def same(self) -> int:
        """The number of pairs to which both detectors give the same label."""
        return self.both_right + self.neither


def two_detectors(judged: JudgedPairs, a: Side, b: Side, *, resamples: int = RESAMPLES) -> TwoDetectors:
    """Compare two detectors, each at its threshold.

    McNemar's test (1947) is on the pairs that only one detector labels correctly: exact for fewer than 25 of them, otherwise
    chi-squared with continuity correction; NaN if there are none.
    """
    truth = judged.truth
    called_a, called_b = decisions_at(a.probabilities, a.threshold), decisions_at(b.probabilities, b.threshold)
    right_a, right_b = called_a == truth, called_b == truth
    only_a, only_b = int((right_a & ~right_b).sum()), int((~right_a & right_b).sum())
    both, neither = int((right_a & right_b).sum()), int((~right_a & ~right_b).sum())
    exact = only_a + only_b < _FEW
    test = mcnemar([[both, only_a], [only_b, neither]], exact=exact, correction=True)
    table = np.array(
        [[[(x & y).sum() for y in (called_b, ~called_b)] for x in (called_a, ~called_a)]], dtype=np.float64
    )
    kappa, low, high = (float(part[0]) for part in cohen_kappa(table))
    return TwoDetectors(
        Estimate(kappa, low, high, len(truth)),
        both,
        only_a,
        only_b,
        neither,
        float(test.pvalue) if only_a + only_b else np.nan,
        exact,
        paired_differences(
            truth, (a.probabilities, a.threshold), (b.probabilities, b.threshold), judged.groups, resamples=resamples
        ),
    )


def where_they_differ(judged: JudgedPairs, a: Side, b: Side, column: str) -> pd.DataFrame:
    """Count, by the values of a column of `judged.table`, the pairs with different labels, and which detector is correct on them.

    Columns: value, n, differ, share, only_a, only_b; the values with the largest share first.
    """
    called_a, called_b = decisions_at(a.probabilities, a.threshold), decisions_at(b.probabilities, b.threshold)
    differ = called_a != called_b
    frame = pd.DataFrame(
        {
            "value": judged.table[column].replace("", UNKNOWN),
            "n": 1,
            "differ": differ,
            "only_a": differ & (called_a == judged.truth),
            "only_b": differ & (called_b == judged.truth),
        }
    )
    counts = frame.groupby("value", as_index=False).sum()
    return counts.assign(share=counts["differ"] / counts["n"])[
        ["value", "n", "differ", "share", "only_a", "only_b"]
    ].sort_values(["share", "value"], ascending=[False, True], ignore_index=True)


def examples(judged: JudgedPairs, a: Side, b: Side) -> pd.DataFrame:
    """Return the rows of `judged.table` to which the detectors give different labels, the largest gap of probabilities first,
    with `probability_a`, `probability_b` and `right` (the name of the correct detector)."""
    called_a, called_b = decisions_at(a.probabilities, a.threshold), decisions_at(b.probabilities, b.threshold)
    places = np.flatnonzero(called_a != called_b)
    first, second = (side.probabilities[places].astype(np.float64) for side in (a, b))
    rows = judged.table.iloc[places].assign(
        right=np.where(called_a[places] == judged.truth[places], a.name, b.name),
        probability_a=first,
        probability_b=second,
        gap=np.abs(first - second),
    )
    return rows.sort_values(["gap", "pair"], ascending=[False, True], ignore_index=True)
