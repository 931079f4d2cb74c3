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
[data-testid="stSidebarUserContent"] { padding: 0.25rem 0.5rem 0.5rem; }
[data-testid="stSidebarHeader"] { height: 3.25rem; min-height: 3.25rem; margin: 0; }
[class*="st-key-card-"] { scroll-margin: 4rem 0 1rem; }
.stMainBlockContainer > [data-testid="stVerticalBlock"], .stMainBlockContainer > * > * > [data-testid="stVerticalBlock"] {
  gap: 0.75rem;
}
.st-key-kept_name, .st-key-reconnected, .st-key-chart_scrolling, .st-key-keyboard { position: absolute; }
[data-testid="stLayoutWrapper"]:has(> .st-key-question-heading) {
  position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%);
}
[data-testid="stWidgetLabel"] { min-height: 1.25rem; margin-bottom: 0.125rem; }
[data-testid="stWidgetLabel"] p { font-size: 0.8125rem; color: color-mix(in srgb, currentColor 72%, transparent); }
.stApp .stMarkdown span.stMarkdownColoredBackground { padding: 0 0.1em; }
"""
# All pages and the person stay in sight on a screen of 768 pixels.
_NAVIGATION = """
[data-testid="stSidebarNavItems"] { gap: 0; }
[data-testid="stSidebarNavItems"] li::before {
  display: block; padding: 0.375rem 0 0; font-size: 0.8125rem; font-weight: 600; line-height: 1.25;
}
[data-testid="stSidebarNavItems"] li { margin: 0; }
[data-testid="stSidebarNavLinkContainer"] { padding: 0; margin: 0; }
[data-testid="stSidebarNavLink"] { padding-block: 0; margin: 0; height: 1.5rem; min-height: 1.5rem; }
[data-testid="stSidebarNav"] { margin-bottom: 0; }
[data-testid="stSidebarNavSeparator"] { display: none; }
[data-testid="stSidebarUserContent"] [data-testid="stVerticalBlock"] { gap: 0.5rem; }
"""
# The title of a page and what it answers are one line, above what one came to see. What it answers takes a second line where the
# buttons leave too little room.
_HEAD = """
.st-key-page-head { gap: 0 0.75rem; }
@media (min-width: 641px) {
  .st-key-page-head { flex-wrap: nowrap; }
  .st-key-page-head > :has([data-testid="stCaptionContainer"]) { flex: 0 1 auto; min-width: 0; }
  .st-key-page-head [data-testid="stCaptionContainer"] p { line-height: 1.25; text-wrap: balance; }
}
:is(.st-key-page-head, .st-key-page-head > *) > :has(.st-key-last-judgments) { flex: none; width: auto; }
.st-key-page-head button p { white-space: nowrap; }
@media (max-width: 1200px) {
  :is(.st-key-judging-idle, [data-testid="stLayoutWrapper"]:has(> .st-key-judging-idle)) { display: none; }
}
.st-key-page-head button { min-height: 1.75rem; padding-block: 0; }
.st-key-page-head > .st-key-palette { margin-left: auto; }
@media (max-width: 640px) {
  .st-key-page-head > .st-key-palette { position: fixed; top: 0.625rem; right: 1rem; z-index: 999991; }
}
.st-key-page-head > :has(.st-key-palette-found) { position: absolute; }
.st-key-page-help a { color: inherit; text-decoration: none; opacity: 0.65; }
.st-key-page-help a:is(:hover, :focus-visible) { opacity: 1; }
.st-key-page-head h1 { font-size: 1.375rem; font-weight: 650; line-height: 1.25; padding: 0; }
"""
# A few bars, dots or lines do not become clearer on a wide screen.
_CHARTS = """
:is(.st-key-standings, .st-key-by-k, .st-key-quality-against-cost, .st-key-leaning, .st-key-stances, .st-key-reasons,
.st-key-history, .st-key-task-shares, .st-key-places, .st-key-people-reliability) { max-width: 52rem; }
[data-testid="stVegaLiteChart"] { max-width: 100%; overflow-x: auto; }
"""
# The line that judges, with the perspectives or the passage it is about, stays in sight above the passages.
_JUDGING = """
@media (min-width: 641px) and (min-height: 500px) {
  [data-testid="stLayoutWrapper"]:has(> .st-key-judging) {
    position: sticky; top: 3rem; z-index: 90; padding-block: 0.25rem;
    background-color: var(--page-colour, Canvas);
    box-shadow: 0 0 0 0.25rem var(--page-colour, Canvas), 0 0.375rem 0.375rem 0.125rem var(--page-colour, Canvas);
  }
  .st-key-passage-read { max-height: 35vh; overflow-y: auto; }
}
.st-key-judging [data-testid="stCaptionContainer"] p {
  white-space: nowrap; overflow: hidden; text-overflow: ellipsis; line-height: 1.35;
}
"""
# The text of a perspective takes the room that the ranks leave.
_COVERAGE = """
.st-key-coverage :is(td, th) { padding-block: 0.25rem; }
.st-key-coverage :is(td, th) * { max-width: none !important; }
@media (min-width: 641px) {
  .st-key-coverage :is(td, thead th) * { white-space: nowrap !important; }
  .st-key-coverage tbody th { width: 99%; }
}
@media (max-width: 640px) {  /* a perspective takes a line of its own, above its ranks */
  .st-key-coverage tr { display: flex; flex-wrap: wrap; }
  .st-key-coverage :is(td, thead th) { flex: 1 0 30%; }
  .st-key-coverage tbody th { flex: 0 0 100%; border-inline-end: 0; }
  .st-key-coverage thead th:first-child { display: none; }
}
"""
# The name of a list and its measures: on one line, or on two where a line is too short for both.
_LISTS = """
[class*="st-key-list-head-"] { gap: 0 0.5rem; align-items: baseline; }
[class*="st-key-list-head-"] p { white-space: nowrap; overflow: hidden; text-overflow: ellipsis; line-height: 1.35; }
"""
# On a telephone, and where a large magnification leaves a low window, the verdicts of Annotate and Adjudication stay at the
# bottom of the screen, and the rest is below the passage.
_TELEPHONE = """
@media (max-width: 640px), (max-height: 540px) {
  .st-key-verdicts {
    position: fixed; z-index: 99; left: 0; right: 0; bottom: var(--tour-height, 0rem); padding: 0.5rem 1rem;
    background-color: Canvas; border-top: 1px solid color-mix(in srgb, currentColor 25%, transparent);
  }
  .stMainBlockContainer:has(.st-key-verdicts) { padding-bottom: 8rem; }
}
@media (max-width: 640px) {
  .st-key-detectors-table td { min-width: 9rem; }
  /* A map that is wider than the screen scrolls by itself, and begins with its cells, which are at its right. */
  .st-key-hole-map { overflow-x: auto; direction: rtl; }
  .st-key-hole-map :is(svg, canvas, [data-testid="stElementToolbar"]) { direction: ltr; }
  /* The tools of a table cover what is above it; they come when the table is touched. */
  .stElementContainer:not(:focus-within) [data-testid="stElementToolbar"] { display: none; }
}
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

STYLE = "".join(
    (
        SECTION_TITLES,
        _ROOM,
        _NAVIGATION,
        _HEAD,
        _CHARTS,
        _JUDGING,
        _COVERAGE,
        _LISTS,
        _TELEPHONE,
        _CHOSEN,
        _SMALL_PRINT,
        _FILLED,
        CHIPS,
    )
)
"""The whole style, as rules."""


def apply_style() -> None:
    """Add the style to the page. `berdseye app` serves it in the document already; `streamlit run` does not."""
    st.html(f"<style>{STYLE}</style>")
