"""Coefficients of any number of raters, as functions of how often each pattern of labels occurs.

`counts` is int64[n_patterns, n_values] and `times` [..., n_patterns]: one data set, or all resamples at once. Items with
fewer than two labels count for nothing, but in AC1. NaN where a coefficient is undefined. The values that are shown come from
statsmodels and the krippendorff package; these forms serve their intervals, and the tests hold the two equal.
"""

from collections.abc import Callable

import numpy as np

from berdseye.annotation.agreement.alignment import Ints
from berdseye.annotation.agreement.gwet import Doubles, ac1

Coefficient = Callable[[Ints, Doubles], Doubles]


def raw(counts: Ints, times: Doubles) -> Doubles:
    """The share of pairs of raters that agree, mean over items."""
    raters = counts.sum(axis=1)
    return _ratio(times @ _agreeing(counts), times @ (raters > 1).astype(np.float64))


def on_label(place: int) -> Coefficient:
    """Specific agreement: where one rater gives this label, how often another does too (Fleiss, 1981; Uebersax, 1982)."""

    def found(counts: Ints, times: Doubles) -> Doubles:
        given, raters = counts[:, place], counts.sum(axis=1)
        return _ratio(times @ (given * (given - 1.0)), times @ (given * np.maximum(raters - 1.0, 0.0)))

    return found


def fleiss(counts: Ints, times: Doubles) -> Doubles:
    """Fleiss' kappa (1971) of patterns with one number of raters, who may be others for each item."""
    said = times @ counts
    share = _ratio(said, said.sum(axis=-1)[..., None])
    chance = (share**2).sum(axis=-1)
    return _ratio(raw(counts, times) - chance, 1 - chance)


def alpha(counts: Ints, times: Doubles) -> Doubles:
    """Krippendorff's alpha for nominal labels (2011), with labels missing."""
    raters = counts.sum(axis=1)
    pairable = counts * (raters > 1)[:, None]
    matching = (counts * (counts - 1.0)).sum(axis=1) / np.maximum(raters - 1.0, 1.0)
    said = times @ pairable.astype(np.float64)
    total = said.sum(axis=-1)
    differing = total - times @ matching
    return 1 - _ratio((total - 1) * differing, total**2 - (said**2).sum(axis=-1))


def gwet(counts: Ints, times: Doubles) -> Doubles:
    """Gwet's AC1."""
    return ac1(counts, times).value


def pabak(counts: Ints, times: Doubles) -> Doubles:
    """Kappa as if every label were as frequent as any other (Byrt et al., 1993; Brennan and Prediger, 1981)."""
    q = counts.shape[1]
    return (q * raw(counts, times) - 1) / (q - 1) if q > 1 else np.full(times.shape[:-1], np.nan)


def _agreeing(counts: Ints) -> Doubles:
    raters = counts.sum(axis=1)
    return np.asarray((counts * (counts - 1.0)).sum(axis=1) / np.maximum(raters * (raters - 1.0), 1.0))


def _ratio(part: Doubles, whole: Doubles) -> Doubles:
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(np.where(np.abs(whole) > 1e-12, part / whole, np.nan))
