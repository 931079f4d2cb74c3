"""How far detectors agree with one another, and with the labels."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from berdseye.annotation.agreement import agreement
from berdseye.data.labelled_pairs import LabelledPair
from berdseye.evaluation.detection.scoring import Scored

LABELS = "labels"
"""The name of the file's own labels among the raters."""


def agreement_table(rows: Sequence[LabelledPair], scored: Sequence[Scored]) -> pd.DataFrame:
    """Cohen's kappa with its 95% interval and the share of equal verdicts (percent) of each two detectors, and of each with
    the labels, over distinct pairs with one label.

    Columns a, b, kappa, kappa_low, kappa_high, percent, n.
    """
    first = {row.pair: place for place, row in reversed(list(enumerate(rows)))}
    disputed = {row.pair for row in rows if row.supports != rows[first[row.pair]].supports}
    places = [place for pair, place in first.items() if pair not in disputed]
    said = {LABELS: np.array([row.supports for row in rows], dtype=bool)} | {s.detector: s.verdicts for s in scored}
    long = pd.DataFrame(
        [(place, name, "yes" if verdicts[place] else "no") for name, verdicts in said.items() for place in places],
        columns=["item", "annotator", "label"],
    )
    if not places:
        return pd.DataFrame(columns=["a", "b", "kappa", "kappa_low", "kappa_high", "percent", "n"])
    return pd.DataFrame(
        {
            "a": p.a,
            "b": p.b,
            "kappa": p.cohen_kappa,
            "kappa_low": p.low,
            "kappa_high": p.high,
            "percent": 100 * p.raw,
            "n": p.n,
        }
        for p in agreement(long).pairs
    )
