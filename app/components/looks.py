"""How every page looks beyond the theme of `app/.streamlit/config.toml`: room, highlighted words, and colours to read on."""

import streamlit as st

from berdseye.app.components.perspective_mark import CHIPS

SIDEBAR = 224
"""The width of the sidebar in pixels: on a screen of 1024 the page needs the rest."""
# Streamlit leaves 6 rem above a page and 5 beside it. The bar above, which covers what is scrolled under it, takes 3.
_ROOM = """
.stMainBlockContainer { padding: 3.25rem 2rem 2rem; }
[data-testid="stHeader"] { height: 3rem; min-height: 3rem; }
[data-testid="stSidebarContent"] { padding: 0 0.75rem; }
[data-testid="stSidebarUserContent"] { padding: 1rem 0.5rem; }
[class*="st-key-card-"] { scroll-margin: 4rem 0 1rem; }
.st-key-kept_name, .st-key-reconnected { position: absolute; }
.stApp .stMarkdown span.stMarkdownColoredBackground { padding: 0 0.1em; }
"""
# Names that were chosen go on in a second line instead of under the edge.
_CHOSEN = """
.stMultiSelect .react-aria-ComboBox > div { height: auto; min-height: 2.5rem; max-height: none; }
[data-testid="stMultiSelectTagsContainer"] { flex-wrap: wrap; height: auto; overflow: visible; }
"""
# A colour that white can be read on (5.7) is too dark to read as text on a dark page (4.5 is asked of both), and Streamlit has
# one colour for both. So the dark theme has one to be read, and what is filled with it is filled with the light theme's.
_FILLED = """
[data-testid="stMultiSelectTagsContainer"] :has(> span[title]), [data-testid^="stBaseButton-primary"]:not(:disabled) {
  background-color: #1f69a6; border-color: #1f69a6;
}
[data-testid^="stBaseButton-primary"]:not(:disabled):hover { background-color: #184f7f; border-color: #184f7f; }
"""
# Streamlit fades small print as a whole; of the links in it too little is left to read.
_SMALL_PRINT = """
[data-testid="stCaptionContainer"] { opacity: 1; color: color-mix(in srgb, currentColor 62%, transparent); }
"""


def looks() -> None:
    """Give the page its looks."""
    st.html(f"<style>{_ROOM}{_CHOSEN}{_SMALL_PRINT}{_FILLED}{CHIPS}</style>")
