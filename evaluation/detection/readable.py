"""Formatting of tables of figures for display."""

from typing import Any

import numpy as np
import pandas as pd


def readable(table: pd.DataFrame) -> pd.DataFrame:
    """Format a table as texts, each figure followed by its interval: `62.2 [58.0, 66.1]`; unknown values stay empty."""
    shown = pd.DataFrame(index=table.index)
    for column in table.columns:
        if column.endswith(("_low", "_high")):
            continue
        texts = [_text(value) for value in table[column]]
        if f"{column}_low" in table:
            ends = zip(table[f"{column}_low"], table[f"{column}_high"], strict=True)
            texts = [
                f"{text} [{_text(low)}, {_text(high)}]" if text and not pd.isna(low) else text
                for text, (low, high) in zip(texts, ends, strict=True)
            ]
        shown[column] = texts
    return shown


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value
    if pd.isna(value):
        return ""
    if isinstance(value, int | np.integer) or abs(value) >= 1000 or (abs(value) > 1 and float(value).is_integer()):
        return f"{value:.0f}"
    return f"{value:.{1 if abs(value) > 1 else 3}f}"
