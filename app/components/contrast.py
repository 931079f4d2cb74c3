"""White on the theme's colour in the dark too: Streamlit writes white on it, whatever it is."""

import streamlit as st

# A colour that white can be read on (5.7) is too dark to read as text on a dark page (4.5 is asked of both), and Streamlit has
# one colour for both. So the dark theme has one to be read, and what is filled with it is filled with the light theme's.
_FILLED = """<style>
[data-testid="stMultiSelectTagsContainer"] :has(> span[title]), [data-testid^="stBaseButton-primary"]:not(:disabled) {
  background-color: #1f69a6; border-color: #1f69a6;
}
[data-testid^="stBaseButton-primary"]:not(:disabled):hover { background-color: #184f7f; border-color: #184f7f; }
</style>"""


def keep_contrast() -> None:
    """Fill buttons and chips with a colour that white can be read on."""
    st.html(_FILLED)
