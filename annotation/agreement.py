"""Agreement between annotators, aligned by item: Cohen's and Fleiss' kappa, Krippendorff's alpha, raw agreement.

Kappas and the interval of Cohen's (asymptotic; Fleiss, Cohen and Everitt, 1969) are computed by statsmodels, alpha by the
krippendorff package.
"""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple

import krippendorff
import numpy as np
import pandas as pd
from statsmodels.stats.inter_rater import aggregate_raters, cohens_kappa, fleiss_kappa

from data.errors import BadInputError

COLUMNS = ("item", "annotator", "label")


class PairAgreement(NamedTuple):
    """Agreement of two annotators on the n items both labelled; kappa is NaN where it is undefined (one label only)."""

    a: str
    b: str
    cohen_kappa: float
    low: float
    high: float
    raw: float
    n: int


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


def agreement(labels: pd.DataFrame) -> Agreement:
    """Agreement from long-form labels (columns item, annotator, label), one row an item and annotator.

    Raises `BadInputError` for missing columns, empty cells or an annotator who labels an item twice.
    """
    wide = _wide(labels)
    pairs = [_pair(wide, a, b) for a, b in combinations(wide.columns, 2)]
    complete = wide.dropna()
    values = sorted(set(wide.stack().dropna()))
    return Agreement(pairs, _fleiss(complete), _alpha(wide, values), len(wide), len(complete))


def confusion(labels: pd.DataFrame, a: str, b: str, values: Sequence[str]) -> pd.DataFrame:
    """Counts of the items both labelled: rows what `a` said, columns what `b` said, in the order of `values`."""
    both = _wide(labels).reindex(columns=[a, b]).dropna()
    table = pd.crosstab(both[a], both[b]).reindex(index=list(values), columns=list(values), fill_value=0)
    return table.rename_axis(index=a, columns=b)


def _wide(labels: pd.DataFrame) -> pd.DataFrame:
    missing = [c for c in COLUMNS if c not in labels.columns]
    if missing:
        raise BadInputError(
            f"The table has no column {', '.join(missing)}.",
            hint=f"It needs the columns {', '.join(COLUMNS)}.",
        )
    table = labels.loc[:, list(COLUMNS)]
    blank = table.isna()
    for column in COLUMNS:
        blank[column] |= table[column].astype(str).str.strip() == ""
    empty = table.index[blank.any(axis=1)].tolist()
    if empty:
        first = empty[0] + 1 if isinstance(empty[0], int) else empty[0]
        raise BadInputError(f"{len(empty)} rows have an empty cell, first row {first}.", hint="Fill or drop them.")
    table = table.astype(str)
    twice = table[table.duplicated(["item", "annotator"])]
    if len(twice):
        row = twice.iloc[0]
        raise BadInputError(
            f"{row['annotator']} labels item '{row['item']}' twice.",
            hint="Keep one label an item and annotator.",
        )
    return table.pivot(index="item", columns="annotator", values="label")


def _pair(wide: pd.DataFrame, a: str, b: str) -> PairAgreement:
    both = wide[[a, b]].dropna()
    if both.empty:
        return PairAgreement(a, b, np.nan, np.nan, np.nan, np.nan, 0)
    raw = float((both[a] == both[b]).mean())
    values = sorted(pd.unique(both.to_numpy().ravel()))
    if len(values) < 2:
        return PairAgreement(a, b, np.nan, np.nan, np.nan, raw, len(both))
    table = pd.crosstab(both[a], both[b]).reindex(index=values, columns=values, fill_value=0)
    with warnings.catch_warnings():  # where one of the two always says the same, there is no interval
        warnings.simplefilter("ignore", RuntimeWarning)
        result = cohens_kappa(table.to_numpy())
    low, high = np.clip([result.kappa_low, result.kappa_upp], -1.0, 1.0).tolist()
    return PairAgreement(a, b, float(result.kappa), low, high, raw, len(both))


def _fleiss(complete: pd.DataFrame) -> float:
    if complete.empty or complete.shape[1] < 2:
        return float("nan")
    counts, values = aggregate_raters(complete.to_numpy())
    return float(fleiss_kappa(counts)) if len(values) > 1 else float("nan")


def _alpha(wide: pd.DataFrame, values: list[str]) -> float:
    if len(values) < 2 or wide.shape[1] < 2 or not (wide.notna().sum(axis=1) > 1).any():
        return float("nan")
    codes = wide.apply(lambda column: column.map({v: i for i, v in enumerate(values)})).to_numpy(dtype=float)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        return float(krippendorff.alpha(reliability_data=codes.T, level_of_measurement="nominal"))
