"""The style of every page beyond the theme in `app/.streamlit/config.toml`: spacing, highlighted words and readable
colours."""

import streamlit as st

from berdseye.app.components.perspective_mark import CHIPS

SIDEBAR = 224
"""The width of the sidebar in pixels. On a screen of 1024 pixels the page needs the rest."""
# Streamlit leaves 6 rem above a page and 5 beside it. The bar above takes 3 and covers what is scrolled under it.
_ROOM = """
.stMainBlockContainer { padding: 3.25rem 2rem 2rem; }
[data-testid="stHeader"] { height: 3rem; min-height: 3rem; }
[data-testid="stSidebarContent"] { padding: 0 0.75rem; }
[data-testid="stSidebarUserContent"] { padding: 1rem 0.5rem; }
[class*="st-key-card-"] { scroll-margin: 4rem 0 1rem; }
.st-key-kept_name, .st-key-reconnected { position: absolute; }
.stApp .stMarkdown span.stMarkdownColoredBackground { padding: 0 0.1em; }
"""
# Chosen names wrap to a second line instead of disappearing under the edge.
_CHOSEN = """
.stMultiSelect .react-aria-ComboBox > div { height: auto; min-height: 2.5rem; max-height: none; }
[data-testid="stMultiSelectTagsContainer"] { flex-wrap: wrap; height: auto; overflow: visible; }
"""
# A colour with enough contrast to white text (5.7) is too dark for text on a dark page (both need 4.5), and Streamlit has one
# colour for both. So the dark theme's colour suits text, and filled elements use the colour of the light theme.
_FILLED = """
[data-testid="stMultiSelectTagsContainer"] :has(> span[title]), [data-testid^="stBaseButton-primary"]:not(:disabled) {
  background-color: #1f69a6; border-color: #1f69a6;
}
[data-testid^="stBaseButton-primary"]:not(:disabled):hover { background-color: #184f7f; border-color: #184f7f; }
"""
# Streamlit fades captions as a whole, which leaves their links too pale to read.
_SMALL_PRINT = """
[data-testid="stCaptionContainer"] { opacity: 1; color: color-mix(in srgb, currentColor 62%, transparent); }
"""


def apply_style() -> None:
    """Add the style to the page."""
    st.html(f"<style>{_ROOM}{_CHOSEN}{_SMALL_PRINT}{_FILLED}{CHIPS}</style>")
