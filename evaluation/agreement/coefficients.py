"""Agreement coefficients for any number of raters, as functions of the frequencies of label patterns.

The pattern of an item is how many raters gave it each value. Two or three raters leave about a dozen patterns, however many items
there are, and every coefficient is a function of sums over patterns; drawing pattern frequencies from a multinomial is therefore
the bootstrap over items, at a cost that does not grow with the number of items.

`counts` is int64[n_patterns, n_values] and `times` [..., n_patterns], for one data set or for all resamples at once. Items with
fewer than two labels count only in AC1. A coefficient is NaN where it is undefined. The reported values come from statsmodels and
the krippendorff package; these functions compute their intervals, and the tests check that both agree.

AC1 and its variance are implemented here because the package irrCAC requires old versions of numpy, pandas and scipy; the tests
compare with its published examples. Source: Gwet (2008), "Computing inter-rater reliability and its variance in the presence of
high agreement", British Journal of Mathematical and Statistical Psychology 61; missing labels as in his Handbook (2014), chapter
5.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.stats import t

from berdseye.evaluation.agreement.alignment import Ints

Doubles = npt.NDArray[np.float64]
RESAMPLES = 1000
_MANY = 20
Coefficient = Callable[[Ints, Doubles], Doubles]


class Patterns(NamedTuple):
    """Distinct patterns of labels: `counts` int64[n_patterns, n_values], sorted; `times` int64[n_patterns]: the frequency of
    each; `of_item` int64[n_items]: the place of each item's pattern."""

    counts: Ints
    times: Ints
    of_item: Ints


def patterns(counts: Ints) -> Patterns:
    """Return the patterns of items; `counts` int64[n_items, n_values] says how many raters gave an item each value."""
    base = int(counts.max(initial=0)) + 1
    if base ** counts.shape[1] < 2**62:  # sorting one number per item is many times faster than sorting rows
        codes = counts @ (base ** np.arange(counts.shape[1], dtype=np.int64))
        _, first, of_item, times = np.unique(codes, return_index=True, return_inverse=True, return_counts=True)
        return Patterns(counts[first], times, of_item)
    distinct, of_item, times = np.unique(counts, axis=0, return_inverse=True, return_counts=True)
    return Patterns(distinct, times, of_item.reshape(-1))


def drawn(times: Ints, *, resamples: int = RESAMPLES, seed: int = 0) -> Doubles:
    """Draw the frequency of each pattern in resamples of the items, float64[resamples, n_patterns]."""
    rng = np.random.default_rng(seed)
    n = int(times.sum())
    if n >= _MANY * len(times):
        return rng.multinomial(n, times / n, size=resamples).astype(np.float64)
    of_item = np.repeat(np.arange(len(times)), times)
    return np.array(
        [np.bincount(of_item[rng.integers(n, size=n)], minlength=len(times)) for _ in range(resamples)],
        dtype=np.float64,
    )


def drawn_over_groups(of_item: Ints, groups: Ints, *, resamples: int = RESAMPLES, seed: int = 0) -> Doubles:
    """Draw the frequency of each pattern in resamples of groups of items (questions), float64[resamples, n_patterns].

    `of_item` int64[n_items] is the place of each item's pattern, `groups` int64[n_items] its group.
    """
    names, place = np.unique(groups, return_inverse=True)
    inside = np.zeros((len(names), int(of_item.max(initial=-1)) + 1))
    np.add.at(inside, (place, of_item), 1.0)
    return drawn(np.ones(len(names), dtype=np.int64), resamples=resamples, seed=seed) @ inside


class Ac1(NamedTuple):
    """AC1 with its standard error and 95% interval (t with n - 1 degrees of freedom), each float64[...]."""

    value: Doubles
    error: Doubles
    low: Doubles
    high: Doubles


def ac1(counts: npt.NDArray[np.int64], times: Doubles) -> Ac1:
    """Compute Gwet's AC1 from patterns of labels.

    `counts` int64[n_patterns, q]: how many raters gave each of the q values, at least one rater; `times` [..., n_patterns]: how
    many items have the pattern, for one or several data sets at once. NaN if no item has two labels, and if q is 1.
    """
    raters = counts.sum(axis=1)
    pairable = (raters > 1).astype(np.float64)
    share = counts / raters[:, None]
    agree = (counts * (counts - 1)).sum(axis=1) / np.maximum(raters * (raters - 1), 1)
    with np.errstate(invalid="ignore", divide="ignore"):
        n, n_pairable = times.sum(axis=-1), times @ pairable
        observed = times @ agree / n_pairable
        prevalence = times @ share / n[..., None]
        chance = (prevalence * (1 - prevalence)).sum(axis=-1) / (counts.shape[1] - 1)
        value = (observed - chance) / (1 - chance)
        own = (n / n_pairable)[..., None] * (agree - chance[..., None] * pairable) / (1 - chance)[..., None]
        own_chance = prevalence @ (1 - share).T / (counts.shape[1] - 1)
        pull = 2 * ((1 - value) / (1 - chance))[..., None] * (own_chance - chance[..., None])
        variance = (times * (own - pull - value[..., None]) ** 2).sum(axis=-1) / (n * (n - 1))
        error = np.sqrt(variance)
        half = t.ppf(0.975, np.maximum(n - 1, 1)) * error
    return Ac1(value, error, np.maximum(value - half, -1.0), np.minimum(value + half, 1.0))


def raw(counts: Ints, times: Doubles) -> Doubles:
    """Compute raw agreement: the share of pairs of raters that agree, averaged over items."""
    raters = counts.sum(axis=1)
    return _ratio(times @ _agreeing(counts), times @ (raters > 1).astype(np.float64))


def on_label(place: int) -> Coefficient:
    """Return the specific agreement on one label: how often another rater gives this label too if one rater gives it (Fleiss,
    1981; Uebersax, 1982)."""

    def specific_agreement(counts: Ints, times: Doubles) -> Doubles:
        votes, raters = counts[:, place], counts.sum(axis=1)
        return _ratio(times @ (votes * (votes - 1.0)), times @ (votes * np.maximum(raters - 1.0, 0.0)))

    return specific_agreement


def fleiss(counts: Ints, times: Doubles) -> Doubles:
    """Compute Fleiss' kappa (1971) of items with equal numbers of raters, who may differ between items."""
    totals = times @ counts
    share = _ratio(totals, totals.sum(axis=-1)[..., None])
    chance = (share**2).sum(axis=-1)
    return _ratio(raw(counts, times) - chance, 1 - chance)


def alpha(counts: Ints, times: Doubles) -> Doubles:
    """Compute Krippendorff's alpha for nominal labels (2011); labels may be missing."""
    raters = counts.sum(axis=1)
    pairable = counts * (raters > 1)[:, None]
    matching = (counts * (counts - 1.0)).sum(axis=1) / np.maximum(raters - 1.0, 1.0)
    totals = times @ pairable.astype(np.float64)
    total = totals.sum(axis=-1)
    differing = total - times @ matching
    return 1 - _ratio((total - 1) * differing, total**2 - (totals**2).sum(axis=-1))


def gwet(counts: Ints, times: Doubles) -> Doubles:
    """Compute Gwet's AC1, the value alone."""
    return ac1(counts, times).value


def pabak(counts: Ints, times: Doubles) -> Doubles:
    """Compute PABAK: kappa as if all labels were equally frequent (Byrt et al., 1993; Brennan and Prediger, 1981)."""
    q = counts.shape[1]
    return (q * raw(counts, times) - 1) / (q - 1) if q > 1 else np.full(times.shape[:-1], np.nan)


def _agreeing(counts: Ints) -> Doubles:
    raters = counts.sum(axis=1)
    return np.asarray((counts * (counts - 1.0)).sum(axis=1) / np.maximum(raters * (raters - 1.0), 1.0))


def _ratio(part: Doubles, whole: Doubles) -> Doubles:
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(np.where(np.abs(whole) > 1e-12, part / whole, np.nan))
