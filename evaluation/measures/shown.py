"""How values are written for readers: shares in percent with one digit, as the papers print them, and other measures in their
unit with one digit. Coefficients (kappa, alpha, tau), p-values and a detector's probabilities are neither; they stay 0 to 1.

Files for programs (CSV of Compare, bundles, the command line) hold raw values, shares from 0 to 1.
"""

from collections.abc import Iterable, Mapping
from math import isnan

import pandas as pd

from berdseye.evaluation.measures.measure import Unit

FACTORS: Mapping[Unit, float] = {"share": 100.0, "passages": 1.0}
"""By which a value is multiplied where readers see it."""
UNIT_NAMES: Mapping[Unit, str] = {"share": "percent", "passages": "passages"}
"""The units as titles of columns and axes name them."""
DIFFERENCE_NAMES: Mapping[Unit, str] = {"share": "points", "passages": "passages"}
"""The units of differences: two shares differ by points, not by percent."""
MISSING = "–"


def shown(value: float, unit: Unit = "share", *, signed: bool = False, bare: bool = False) -> str:
    """Write a value (a share from 0 to 1, or a number of passages) for readers: '66.7%', '3.2', or a dash for NaN.

    `bare` leaves out the percent sign, for a table or an axis whose title names the unit, and for differences, which are points.
    """
    if isnan(value):
        return MISSING
    sign = "%" if unit == "share" and not bare else ""
    return f"{FACTORS[unit] * value:{'+' if signed else ''}.1f}{sign}"


def scaled(frame: pd.DataFrame, columns: Iterable[str], unit: Unit = "share") -> pd.DataFrame:
    """Return a copy of the frame with these columns in the unit that readers see, for a table that formats its numbers itself."""
    copy = frame.copy()
    for column in columns:
        copy[column] = copy[column] * FACTORS[unit]
    return copy
