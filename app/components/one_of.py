"""A row of choices of which one is always chosen, the first unless told otherwise; it stands in the address."""

from collections.abc import Iterable
from typing import TypeVar

import streamlit as st

T = TypeVar("T")


def one_of(label: str, options: Iterable[T], *, key: str, default: T | None = None, named: bool = True) -> T:
    """Draw the row; gives the chosen one. `named` False shows the label to screen readers alone. There must be an option."""
    known = list(options)
    first = known[0] if default is None else default
    chosen = st.segmented_control(
        label,
        known,
        default=first,
        required=True,
        key=key,
        bind="query-params",
        label_visibility="visible" if named else "collapsed",
    )
    return first if chosen is None else chosen
