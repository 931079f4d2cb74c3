"""Formatting of tables of figures for display."""

from collections.abc import Collection
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from berdseye.evaluation.measures.shown import shown


def readable(table: pd.DataFrame, shares: Collection[str] = ()) -> pd.DataFrame:
    """Format a table as texts, each figure followed by its interval: `62.2 [58.0, 66.1]`; unknown values stay empty. The columns
    `shares` hold shares from 0 to 1 and are written in percent, as `shown` writes them."""
    texts_by_column = pd.DataFrame(index=table.index)
    for column in table.columns:
        if column.endswith(("_low", "_high")):
            continue
        write = partial(shown, bare=True) if column in shares else _text
        texts = [write(value) for value in table[column]]
        if f"{column}_low" in table:
            ends = zip(table[f"{column}_low"], table[f"{column}_high"], strict=True)
            texts = [
                f"{text} [{write(low)}, {write(high)}]" if text and not pd.isna(low) else text
                for text, (low, high) in zip(texts, ends, strict=True)
            ]
        texts_by_column[column] = texts
    return texts_by_column


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value
    if pd.isna(value):
        return ""
    if isinstance(value, int | np.integer) or abs(value) >= 1000 or (abs(value) > 1 and float(value).is_integer()):
        return f"{value:.0f}"
    return f"{value:.{1 if abs(value) > 1 else 3}f}"
