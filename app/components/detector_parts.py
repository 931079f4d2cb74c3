"""The two parts of the work on detectors, Detectors and the lab, as tabs that lead from one page to the other."""

import streamlit as st

from berdseye.app.components.page_button import page_button

_PARTS = {"detectors": ("Detectors", "psychology"), "detector_lab": ("Lab", "biotech")}


def detector_parts(here: str) -> None:
    """Draw the tabs. `here` is the page that is shown."""
    with st.container(horizontal=True, gap="small", key="detector-parts"):
        for page, (label, icon) in _PARTS.items():
            shown = f"**{label}**" if page == here else label
            page_button(page, shown, key=f"part-{page}", icon=icon, kind="tertiary", disabled=page == here)
