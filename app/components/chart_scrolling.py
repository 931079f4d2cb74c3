"""Charts that are wider than their place: keys can scroll them, as the mouse and fingers can."""

from importlib.resources import files

import streamlit as st

_MOUNT = st.components.v2.component(
    "berdseye_chart_scrolling",
    js=(files("berdseye.app.components") / "chart_scrolling.js").read_text(encoding="utf-8"),
)


def let_keys_scroll_charts() -> None:
    """Make every chart of the page that scrolls sideways take the focus."""
    _MOUNT(key="chart_scrolling")
