"""The style of every page beyond the theme in `app/.streamlit/config.toml`: spacing, highlighted words and readable
colours."""

import streamlit as st

from berdseye.app.components.perspective_mark import CHIPS
from berdseye.app.navigation import SECTION_TITLES

SIDEBAR = 224
"""The width of the sidebar in pixels. On a screen of 1024 pixels the page needs the rest."""
# Streamlit leaves 6 rem above a page and 5 beside it. The bar above takes 3 and covers what is scrolled under it.
_ROOM = """
.stMainBlockContainer { padding: 3.25rem 2rem 2rem; }
[data-testid="stHeader"] { height: 3rem; min-height: 3rem; }
[data-testid="stSidebarContent"] { padding: 0 0.75rem; }
[data-testid="stSidebarUserContent"] { padding: 0.25rem 0.5rem 1rem; }
[data-testid="stSidebarHeader"] { height: 3.25rem; min-height: 3.25rem; margin: 0; }
[class*="st-key-card-"] { scroll-margin: 4rem 0 1rem; }
.st-key-kept_name, .st-key-reconnected { position: absolute; }
.stApp .stMarkdown span.stMarkdownColoredBackground { padding: 0 0.1em; }
"""
# All pages and the person stay in sight on a screen of 768 pixels.
_NAVIGATION = """
[data-testid="stSidebarNavItems"] { gap: 0; }
[data-testid="stSidebarNavItems"] li::before {
  display: block; padding: 0.5rem 0 0.125rem; font-size: 0.8125rem; font-weight: 600; line-height: 1.25;
}
[data-testid="stSidebarNavItems"] li { margin: 0; }
[data-testid="stSidebarNavLinkContainer"] { padding: 0; margin: 0; }
[data-testid="stSidebarNavLink"] { padding-block: 0; margin: 0; height: 1.75rem; min-height: 1.75rem; }
[data-testid="stSidebarNav"] { margin-bottom: 0; }
[data-testid="stSidebarNavSeparator"] { display: none; }
[data-testid="stSidebarUserContent"] [data-testid="stVerticalBlock"] { gap: 0.5rem; }
"""
# The title of a page and what it answers are one line, above what one came to see.
_HEAD = """
.st-key-page-head { gap: 0 0.75rem; }
.st-key-page-head h1 { font-size: 1.375rem; font-weight: 650; line-height: 1.25; padding: 0; }
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
    st.html(f"<style>{SECTION_TITLES}{_ROOM}{_NAVIGATION}{_HEAD}{_CHOSEN}{_SMALL_PRINT}{_FILLED}{CHIPS}</style>")
