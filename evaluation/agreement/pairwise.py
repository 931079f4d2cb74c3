"""Agreement of pairs of raters, computed for all pairs at once from their contingency tables.

Cohen's kappa has the interval of `berdseye.evaluation.agreement.kappa`; the others are analytic. Raw agreement: Wilson (1927).
Agreement on one label, 2a / (2a + b + c), equals 2p / (1 + p) with p = a / (a + b + c), and its interval is Wilson's interval of
p, transformed in this way. PABAK (Byrt, Bishop and Carlin, 1993; for q labels Brennan and Prediger, 1981) is linear in raw
agreement, and so is its interval. AC1: Gwet (2008).
"""

from collections.abc import Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd
from statsmodels.stats.proportion import proportion_confint

from berdseye.data.statistics import FEWEST_UNITS
from berdseye.evaluation.agreement.alignment import SUPPORTS, Aligned, aligned
from berdseye.evaluation.agreement.coefficients import ac1
from berdseye.evaluation.agreement.kappa import KAPPA_INTERVAL, cohen_kappa

Doubles = npt.NDArray[np.float64]
_SAME = 1e-9
INTERVALS = {
    "kappa": KAPPA_INTERVAL,
    "raw": "analytic (Wilson, 1927)",
    "positive": "analytic (Wilson, 1927, transformed by 2p/(1+p))",
    "negative": "analytic (Wilson, 1927, transformed by 2p/(1+p))",
    "ac1": "analytic (Gwet, 2008)",
    "pabak": "analytic (Wilson, 1927, transformed by (qp-1)/(q-1))",
}


class PairAgreement(NamedTuple):
    """Agreement of two raters on the n items that both labelled, with 95% intervals; NaN where a figure is undefined.

    `low` and `high` are the interval of kappa; `positive` and `negative` are the agreement on one label. `n_dropped` counts the
    items that only one of the two raters labelled.
    """

    a: str
    b: str
    cohen_kappa: float
    low: float
    high: float
    raw: float
    n: int
    raw_low: float = np.nan
    raw_high: float = np.nan
    positive: float = np.nan
    positive_low: float = np.nan
    positive_high: float = np.nan
    negative: float = np.nan
    negative_low: float = np.nan
    negative_high: float = np.nan
    ac1: float = np.nan
    ac1_low: float = np.nan
    ac1_high: float = np.nan
    pabak: float = np.nan
    pabak_low: float = np.nan
    pabak_high: float = np.nan
    n_dropped: int = 0


def pair_agreements(labels: Aligned, positive: str | None = None) -> list[PairAgreement]:
    """Compute the agreement of every pair of raters, in the order of `labels.raters`."""
    places = list(combinations(range(len(labels.raters)), 2))
    if not places:
        return []
    k = len(labels.values)
    tables = _tables(labels, places)
    n = tables.sum(axis=(1, 2))
    agreed = np.trace(tables, axis1=1, axis2=2)
    labelled = (labels.codes >= 0).sum(axis=0)
    dropped = labelled[[i for i, _ in places]] + labelled[[j for _, j in places]] - 2 * n.astype(np.int64)
    raw = _share(agreed, n)
    cells = np.zeros((k * k, k), dtype=np.int64)
    np.add.at(cells, (np.arange(k * k), np.arange(k * k) // k), 1)
    np.add.at(cells, (np.arange(k * k), np.arange(k * k) % k), 1)
    gwet = ac1(cells, tables.reshape(-1, k * k))
    gwet_low, gwet_high = with_width(gwet.low, gwet.high, n)
    up, down = positive_and_negative(labels.values, positive)
    columns = [
        *cohen_kappa(tables),
        *(raw[0], n.astype(np.int64), raw[1], raw[2]),
        *on_one_label(tables, up),
        *on_one_label(tables, down),
        *(gwet.value, gwet_low, gwet_high),
        *((k * part - 1) / (k - 1) if k > 1 else np.full(len(n), np.nan) for part in raw),
        dropped,
    ]
    rows = zip(*(column.tolist() for column in columns), strict=True)
    return [PairAgreement(labels.raters[i], labels.raters[j], *row) for (i, j), row in zip(places, rows, strict=True)]


def positive_and_negative(values: Sequence[str], positive: str | None = None) -> tuple[int | None, int | None]:
    """Return the places of the positive and the negative label, None where there is none.

    The positive label is `positive`, by default 'supports'; without 'supports', the later of two labels in alphabetical order
    ('yes', '1'). The negative label is the first of the others (for judgments, any label but 'unsure').
    """
    chosen = positive or (SUPPORTS if SUPPORTS in values else values[-1] if len(values) == 2 else None)
    if chosen is None or chosen not in values:
        return None, None
    up = list(values).index(chosen)
    return up, next((place for place in range(len(values)) if place != up), None)


def with_width(low: Doubles, high: Doubles, n: Doubles) -> tuple[Doubles, Doubles]:
    """Return the ends of analytic intervals over n items; NaN if n is too small for an asymptotic variance, or if that is 0."""
    kept = (n >= FEWEST_UNITS) & (high - low > _SAME)
    return np.where(kept, low, np.nan), np.where(kept, high, np.nan)


def on_one_label(tables: Doubles, place: int | None) -> tuple[Doubles, Doubles, Doubles]:
    """Compute the specific agreement on a label, 2a / (2a + b + c) (Dice, 1945; Cicchetti and Feinstein, 1990), and its
    interval."""
    if place is None:
        return (np.full(len(tables), np.nan),) * 3
    both = tables[:, place, place]
    either = tables[:, place, :].sum(axis=1) + tables[:, :, place].sum(axis=1) - both
    value, low, high = (2 * p / (1 + p) for p in _share(both, either))
    return value, low, high


def confusion(labels: pd.DataFrame, a: str, b: str, values: Sequence[str]) -> pd.DataFrame:
    """Count the items that both raters labelled: rows are the labels of `a`, columns those of `b`, in the order of `values`."""
    both = labels[labels["annotator"].isin((a, b)) & labels["label"].isin(tuple(values))]
    labels_of_both = aligned(both, values)
    table = np.zeros((len(values), len(values)), dtype=np.int64)
    if a in labels_of_both.raters and b in labels_of_both.raters:
        table = _tables(labels_of_both.of_raters((a, b)), [(0, 1)])[0].astype(np.int64)
    return pd.DataFrame(table, index=pd.Index(values, name=a), columns=pd.Index(values, name=b))


def _tables(labels: Aligned, places: Sequence[tuple[int, int]]) -> Doubles:
    masks = [(labels.codes == value).astype(np.float32) for value in range(len(labels.values))]
    first, second = np.array(places, dtype=np.int64).T
    tables = np.array([[(one.T @ other)[first, second] for other in masks] for one in masks], dtype=np.float64)
    return np.ascontiguousarray(np.moveaxis(tables.reshape(len(masks), len(masks), len(places)), 2, 0))


def _share(part: Doubles, whole: Doubles) -> tuple[Doubles, Doubles, Doubles]:
    """Return a share and its Wilson interval; NaN if `whole` is 0."""
    known = np.maximum(whole, 1)
    low, high = proportion_confint(part, known, method="wilson")
    value, low, high = (np.where(whole > 0, end, np.nan) for end in (part / known, low, high))
    return value, low, high
