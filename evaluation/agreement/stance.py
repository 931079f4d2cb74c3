"""Stance differences: do annotators, or the detector, treat supporting and opposing perspectives differently?

More pairs of one stance may be labelled as supporting because of the passages. Therefore each rater is compared with the other
people on the same pairs, and the two stances are compared by two figures: how often the rater agrees with the others, and how
often the rater says 'supports' in disagreements. Differences have Newcombe's interval (1998) and Fisher's exact test; the p
values of all raters and figures are corrected together (Holm, 1979). For all people together, the coefficients are compared by a
permutation of stances over pairs.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.stats import fisher_exact
from statsmodels.stats.proportion import confint_proportions_2indep

from berdseye.data.statistics import bootstrap_interval, holm
from berdseye.evaluation.agreement import coefficients
from berdseye.evaluation.agreement.alignment import AGAINST, SUPPORTS, Aligned, Ints, Mask
from berdseye.evaluation.agreement.coefficients import drawn, patterns

EVERYONE = "people together"
AGREES = "agrees with the other people"
LENIENT = "says 'supports' where they differ"
STANCES = ("supporting", "opposing")
RESAMPLES = 999


class StanceDifference(NamedTuple):
    """A figure for supporting and for opposing perspectives, the difference with its 95% interval, and its test."""

    rater: str
    figure: str
    supporting: float
    n_supporting: int
    opposing: float
    n_opposing: int
    difference: float
    low: float
    high: float
    p: float
    p_holm: float
    test: str


def stance_differences(labels: Aligned, stances: pd.Series, people: Sequence[str]) -> list[StanceDifference]:
    """Return the differences of all people together, then those of each rater.

    `stances` holds the stance by item; `people` are the raters with whom each rater is compared. Only the labels 'supports' and
    'does not support' count; a pair on which the other people are evenly divided does not count.
    """
    if not {SUPPORTS, AGAINST} <= set(labels.values):
        return []
    side = stances.reindex(list(labels.items)).astype(object).to_numpy()
    supporting, opposing = (np.asarray(side == stance, dtype=np.bool_) for stance in STANCES)
    together = [
        _permuted(labels.of_raters(people), supporting, opposing, name, form)
        for name, form in (("Krippendorff's alpha", coefficients.alpha), ("raw agreement", coefficients.raw))
    ]
    codes = labels.of_raters(people).codes
    balance = (codes == labels.values.index(SUPPORTS)).sum(axis=1) - (codes == labels.values.index(AGAINST)).sum(axis=1)
    alone = [row for rater in labels.raters for row in _of_rater(labels, rater, balance, people, supporting, opposing)]
    corrected = holm([row.p for row in alone])
    return together + [row._replace(p_holm=p) for row, p in zip(alone, corrected, strict=True)]


def _of_rater(
    labels: Aligned, rater: str, balance: Ints, people: Sequence[str], supporting: Mask, opposing: Mask
) -> list[StanceDifference]:
    own = labels.codes[:, labels.raters.index(rater)]
    yes, no = own == labels.values.index(SUPPORTS), own == labels.values.index(AGAINST)
    others = balance - yes + no.astype(np.int64) if rater in people else balance
    compared = (others != 0) & (yes | no)
    same = compared & (yes == (others > 0))
    differs = compared & ~same
    lenient = differs & yes
    return [
        _exact(
            rater, figure, *(int((hit & stance).sum()) for stance in (supporting, opposing) for hit in (part, whole))
        )
        for figure, part, whole in ((AGREES, same, compared), (LENIENT, lenient, differs))
    ]


def _exact(rater: str, figure: str, hits: int, n: int, other_hits: int, other_n: int) -> StanceDifference:
    rates = [part / whole if whole else np.nan for part, whole in ((hits, n), (other_hits, other_n))]
    low = high = p = np.nan
    if n and other_n:
        low, high = confint_proportions_2indep(hits, n, other_hits, other_n, method="newcomb", compare="diff")
        p = float(fisher_exact(np.array([[hits, n - hits], [other_hits, other_n - other_hits]])).pvalue)
    return StanceDifference(
        rater, figure, rates[0], n, rates[1], other_n, rates[0] - rates[1], float(low), float(high), p, np.nan,
        "Fisher's exact test",
    )  # fmt: skip


def _permuted(
    labels: Aligned, supporting: Mask, opposing: Mask, name: str, form: coefficients.Coefficient
) -> StanceDifference:
    counts = labels.counts()
    several = counts.sum(axis=1) > 1
    both = several & (supporting | opposing)
    n, other_n = int((several & supporting).sum()), int((several & opposing).sum())
    test = f"permutation of stances over pairs ({RESAMPLES:,})"
    if not n or not other_n:
        return StanceDifference(EVERYONE, name, np.nan, n, np.nan, other_n, *(np.nan,) * 5, test)
    grouped = patterns(counts[both])
    first = np.bincount(grouped.of_item[supporting[both]], minlength=len(grouped.times))
    second = grouped.times - first
    value, other = (float(form(grouped.counts, times.astype(np.float64))) for times in (first, second))
    draws = [drawn(times, resamples=RESAMPLES, seed=seed) for seed, times in enumerate((first, second))]
    differences = form(grouped.counts, draws[0]) - form(grouped.counts, draws[1])
    low, high = bootstrap_interval(differences, min(n, other_n))
    rng = np.random.default_rng(0)
    shuffled = rng.multivariate_hypergeometric(grouped.times, n, size=RESAMPLES, method="marginals").astype(np.float64)
    under = np.abs(form(grouped.counts, shuffled) - form(grouped.counts, grouped.times - shuffled))
    known = under[~np.isnan(under)]
    p = np.nan
    if len(known) and not np.isnan(value - other):
        p = (1 + int((known >= abs(value - other) - 1e-12).sum())) / (1 + len(known))
    return StanceDifference(EVERYONE, name, value, n, other, other_n, value - other, low, high, p, np.nan, test)
