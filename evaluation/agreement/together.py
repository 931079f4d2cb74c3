"""Agreement of all raters together: each coefficient with its interval, its number of items and the package that computed it; and
`Agreement`, a brief form with the agreement of every pair of raters and two coefficients of all raters without intervals.
"""

from dataclasses import dataclass
from typing import NamedTuple

import krippendorff
import numpy as np
import pandas as pd
from statsmodels.stats.inter_rater import fleiss_kappa

from berdseye.data.statistics import NO_INTERVAL, bootstrap_interval
from berdseye.evaluation.agreement import coefficients
from berdseye.evaluation.agreement.alignment import Aligned, DuplicateRule, Ints, aligned
from berdseye.evaluation.agreement.coefficients import (
    RESAMPLES,
    Doubles,
    Patterns,
    ac1,
    drawn,
    drawn_over_groups,
    patterns,
)
from berdseye.evaluation.agreement.pairwise import PairAgreement, pair_agreements, positive_and_negative, with_width
from berdseye.evaluation.agreement.pattern_draws import PATTERN_INTERVAL, pattern_interval

_OWN = "Berdseye"


class Statistic(NamedTuple):
    """A coefficient with its 95% interval over n items; `n_dropped` counts the labelled items that it cannot use."""

    statistic: str
    value: float
    low: float
    high: float
    n: int
    n_dropped: int
    interval: str
    computed_by: str


def together(
    labels: Aligned,
    *,
    positive: str | None = None,
    questions: Ints | None = None,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> list[Statistic]:
    """Compute raw, positive and negative agreement, Fleiss' kappa, Krippendorff's alpha, Gwet's AC1 and PABAK.

    Fleiss' kappa is over the items that have the most frequent number of labels (of equally frequent numbers, the larger).
    Intervals come from a percentile bootstrap over items or, with `questions` int64[n_items], over whole questions. Over items,
    those of Fleiss' kappa and alpha are quantiles of a posterior distribution (`evaluation.agreement.pattern_draws`), and that
    of AC1 is Gwet's analytic one. There is no interval over few items, or if all resamples have the same value; then `interval`
    says so (`berdseye.data.statistics`).
    """
    counts = labels.counts()
    labelled = counts.sum(axis=1) > 0
    grouped = patterns(counts[labelled])
    groups = None if questions is None else questions[labelled]
    draws, method = _drawn(grouped, groups, resamples, seed)
    raters = grouped.counts.sum(axis=1)
    paired = raters > 1
    usual = usual_raters(grouped)
    n, n_paired, n_usual = (int(grouped.times[kept].sum()) for kept in (raters > 0, paired, raters == usual))
    times = grouped.times.astype(np.float64)
    up, down = positive_and_negative(labels.values, positive)

    def row(name: str, value: float, kept: Ints, form: coefficients.Coefficient, over: int, by: str) -> Statistic:
        units = over if groups is None else len(np.unique(groups))
        low, high = bootstrap_interval(form(grouped.counts[kept], draws[:, kept]) if over else np.zeros(0), units)
        return Statistic(name, value, low, high, over, n - over, method if low == low else NO_INTERVAL, by)

    def chance_corrected(
        name: str, value: float, kept: Ints, form: coefficients.Coefficient, over: int, by: str
    ) -> Statistic:
        if groups is not None:
            return row(name, value, kept, form, over, by)
        ends = pattern_interval(grouped.counts[kept], times[kept], form, value, seed=seed)
        method = PATTERN_INTERVAL if ends[0] == ends[0] else NO_INTERVAL
        return Statistic(name, value, *ends, over, n - over, method, by)

    def simple(name: str, form: coefficients.Coefficient) -> Statistic:
        kept = np.flatnonzero(paired)
        return row(name, float(form(grouped.counts[kept], times[kept])), kept, form, n_paired, _OWN)

    rows = [simple("raw agreement", coefficients.raw)]
    for place, name in ((up, "positive agreement"), (down, "negative agreement")):
        if place is not None:
            rows.append(simple(f"{name} ({labels.values[place]})", coefficients.on_label(place)))
    fleiss_value, alpha_value = _fleiss(grouped, usual), _alpha(grouped)
    usual_ones, several = np.flatnonzero(raters == usual), np.flatnonzero(paired)
    rows += [
        chance_corrected("Fleiss' kappa", fleiss_value, usual_ones, coefficients.fleiss, n_usual, "statsmodels"),
        chance_corrected("Krippendorff's alpha", alpha_value, several, coefficients.alpha, n_paired, "krippendorff"),
    ]
    gwet = ac1(grouped.counts, times) if n_paired else None
    if gwet is None or questions is not None:
        value = float(gwet.value) if gwet is not None else np.nan
        rows.append(row("Gwet's AC1", value, np.flatnonzero(raters > 0), coefficients.gwet, n if gwet else 0, _OWN))
    else:
        low, high = (float(end) for end in with_width(gwet.low, gwet.high, np.array(n)))
        gwet_method = "analytic (Gwet, 2008)" if low == low else NO_INTERVAL
        rows.append(Statistic("Gwet's AC1", float(gwet.value), low, high, n, 0, gwet_method, _OWN))
    return [*rows, simple("PABAK", coefficients.pabak)]


def statistics_table(statistics: list[Statistic]) -> pd.DataFrame:
    """Return one row per coefficient, with the fields of `Statistic` as columns."""
    return pd.DataFrame(statistics, columns=list(Statistic._fields))


def usual_raters(grouped: Patterns) -> int:
    """Return the most frequent number of labels per item, two or more (of equally frequent ones, the larger); 2 if no item has
    two."""
    raters = grouped.counts.sum(axis=1)
    items = np.bincount(raters, weights=grouped.times, minlength=3)
    items[:2] = 0
    return int(len(items) - 1 - np.argmax(items[::-1])) if items.any() else 2


def fleiss_of(counts: Ints) -> float:
    """Compute Fleiss' kappa of items with equal numbers of labels, by statsmodels; NaN without two labels and two values."""
    if len(counts) == 0 or counts[0].sum() < 2 or (counts.sum(axis=0) > 0).sum() < 2:
        return float("nan")
    return float(fleiss_kappa(counts))


def _fleiss(grouped: Patterns, usual: int) -> float:
    kept = grouped.counts.sum(axis=1) == usual
    return fleiss_of(np.repeat(grouped.counts[kept], grouped.times[kept], axis=0))


def _alpha(grouped: Patterns) -> float:
    kept = grouped.counts.sum(axis=1) > 1
    counts = np.repeat(grouped.counts[kept], grouped.times[kept], axis=0)
    if len(counts) == 0 or (counts.sum(axis=0) > 0).sum() < 2:
        return float("nan")
    return float(krippendorff.alpha(value_counts=counts, level_of_measurement="nominal"))


def _drawn(grouped: Patterns, groups: Ints | None, resamples: int, seed: int) -> tuple[Doubles, str]:
    if len(grouped.times) == 0:
        return np.zeros((0, 0)), "none"
    if groups is None:
        return drawn(grouped.times, resamples=resamples, seed=seed), f"bootstrap over items ({resamples:,} resamples)"
    draws = drawn_over_groups(grouped.of_item, groups, resamples=resamples, seed=seed)
    return draws, f"bootstrap over questions ({resamples:,} resamples)"


@dataclass(frozen=True)
class Agreement:
    """Agreement of all pairs of annotators, and of all annotators together.

    Fleiss' kappa is over the `n_complete` items that every annotator labelled; alpha is over all items with at least two labels.
    """

    pairs: list[PairAgreement]
    fleiss_kappa: float
    krippendorff_alpha: float
    n_items: int
    n_complete: int


def agreement(labels: pd.DataFrame, *, duplicates: DuplicateRule = "refuse") -> Agreement:
    """Compute the agreement of long-form labels (columns item, annotator, label), one row per item and annotator.

    Raises `BadInputError` for missing columns, empty cells or an item that an annotator labels twice.
    """
    return agreement_of(aligned(labels, duplicates=duplicates))


def agreement_of(labels: Aligned, positive: str | None = None) -> Agreement:
    """Compute the agreement of labels that are already aligned."""
    counts = labels.counts()
    complete = counts[counts.sum(axis=1) == len(labels.raters)] if len(labels.raters) > 1 else counts[:0]
    several = counts[counts.sum(axis=1) > 1]
    known = len(several) > 0 and (several.sum(axis=0) > 0).sum() > 1
    alpha = krippendorff.alpha(value_counts=several, level_of_measurement="nominal") if known else float("nan")
    n_complete = int((counts.sum(axis=1) == len(labels.raters)).sum()) if len(labels.raters) else 0
    return Agreement(
        pair_agreements(labels, positive), fleiss_of(complete), float(alpha), len(labels.items), n_complete
    )
