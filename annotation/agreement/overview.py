"""Agreement at a glance: every two raters, and everyone together, without the intervals of the latter."""

from dataclasses import dataclass

import krippendorff
import pandas as pd

from berdseye.annotation.agreement.alignment import Aligned, DuplicateRule, aligned
from berdseye.annotation.agreement.pairwise import PairAgreement, pair_agreements
from berdseye.annotation.agreement.together import fleiss_of


@dataclass(frozen=True)
class Agreement:
    """All pairs of annotators, and everyone together.

    Fleiss' kappa is over the `n_complete` items that every annotator labelled; alpha over all items with two labels or more.
    """

    pairs: list[PairAgreement]
    fleiss_kappa: float
    krippendorff_alpha: float
    n_items: int
    n_complete: int


def agreement(labels: pd.DataFrame, *, duplicates: DuplicateRule = "refuse") -> Agreement:
    """Agreement from long-form labels (columns item, annotator, label), one row an item and annotator.

    Raises `BadInputError` for missing columns, empty cells or an annotator who labels an item twice.
    """
    return agreement_of(aligned(labels, duplicates=duplicates))


def agreement_of(labels: Aligned, positive: str | None = None) -> Agreement:
    """Agreement of labels that are aligned already."""
    counts = labels.counts()
    complete = counts[counts.sum(axis=1) == len(labels.raters)] if len(labels.raters) > 1 else counts[:0]
    several = counts[counts.sum(axis=1) > 1]
    known = len(several) > 0 and (several.sum(axis=0) > 0).sum() > 1
    alpha = krippendorff.alpha(value_counts=several, level_of_measurement="nominal") if known else float("nan")
    n_complete = int((counts.sum(axis=1) == len(labels.raters)).sum()) if len(labels.raters) else 0
    return Agreement(
        pair_agreements(labels, positive), fleiss_of(complete), float(alpha), len(labels.items), n_complete
    )
