"""Two detectors on the same judged pairs: how far they agree, which is right more often, and where they differ."""

from typing import NamedTuple

import numpy as np
import pandas as pd
from statsmodels.stats.contingency_tables import mcnemar

from berdseye.detectors.protocol import Floats
from berdseye.evaluation.agreement.pairwise import cohen_kappa
from berdseye.evaluation.detection.errors import UNKNOWN
from berdseye.evaluation.detection.improvement import Difference, paired_differences
from berdseye.evaluation.detection.operating_points import RESAMPLES, said_at
from berdseye.evaluation.detection.pairs import JudgedPairs
from berdseye.evaluation.statistics.intervals import Estimate

_FEW = 25


class Side(NamedTuple):
    """A detector with its probabilities float32[n] and its threshold."""

    name: str
    probabilities: Floats
    threshold: float


class TwoDetectors(NamedTuple):
    """`kappa` is Cohen's, of what they say (n pairs); `both_right`, `only_a`, `only_b` and `neither` count pairs by who is right;
    `mcnemar_p` takes pairs for independent, `differences` (b minus a) draw whole questions."""

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
        """Pairs of which both say the same."""
        return self.both_right + self.neither


def two_detectors(judged: JudgedPairs, a: Side, b: Side, *, resamples: int = RESAMPLES) -> TwoDetectors:
    """Compare two detectors, each at its threshold.

    McNemar's test (1947) of the pairs that one alone has right: exact below 25 of them, else the chi-squared one with
    continuity correction; NaN where there are none.
    """
    truth = judged.truth
    said_a, said_b = said_at(a.probabilities, a.threshold), said_at(b.probabilities, b.threshold)
    right_a, right_b = said_a == truth, said_b == truth
    only_a, only_b = int((right_a & ~right_b).sum()), int((~right_a & right_b).sum())
    both, neither = int((right_a & right_b).sum()), int((~right_a & ~right_b).sum())
    exact = only_a + only_b < _FEW
    test = mcnemar([[both, only_a], [only_b, neither]], exact=exact, correction=True)
    table = np.array([[[(x & y).sum() for y in (said_b, ~said_b)] for x in (said_a, ~said_a)]], dtype=np.float64)
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
    """By value of a column of `judged.table`: n, how many they say different things of, and of those who is right.

    Columns value, n, differ, share, only_a, only_b; the values with the largest share first.
    """
    said_a, said_b = said_at(a.probabilities, a.threshold), said_at(b.probabilities, b.threshold)
    differ = said_a != said_b
    frame = pd.DataFrame(
        {
            "value": judged.table[column].replace("", UNKNOWN),
            "n": 1,
            "differ": differ,
            "only_a": differ & (said_a == judged.truth),
            "only_b": differ & (said_b == judged.truth),
        }
    )
    found = frame.groupby("value", as_index=False).sum()
    return found.assign(share=found["differ"] / found["n"])[
        ["value", "n", "differ", "share", "only_a", "only_b"]
    ].sort_values(["share", "value"], ascending=[False, True], ignore_index=True)


def examples(judged: JudgedPairs, a: Side, b: Side) -> pd.DataFrame:
    """Rows of `judged.table` of which the two say different things, those with the widest gap first, with `probability_a`,
    `probability_b` and `right`: the name of the one that is."""
    said_a, said_b = said_at(a.probabilities, a.threshold), said_at(b.probabilities, b.threshold)
    places = np.flatnonzero(said_a != said_b)
    first, second = (side.probabilities[places].astype(np.float64) for side in (a, b))
    found = judged.table.iloc[places].assign(
        right=np.where(said_a[places] == judged.truth[places], a.name, b.name),
        probability_a=first,
        probability_b=second,
        gap=np.abs(first - second),
    )
    return found.sort_values(["gap", "pair"], ascending=[False, True], ignore_index=True)
