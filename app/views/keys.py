"""The Keys page: the keys of every page, as tables that can be printed."""

import streamlit as st

from berdseye.app.access.session import errors_in_place
from berdseye.app.components.keys import PAGES, key_table

_PRINTED = """<style>
.st-key-all-keys { columns: 22rem 3; column-gap: 2rem; display: block; }
.st-key-all-keys code { white-space: nowrap; }
.st-key-all-keys > * { break-inside: avoid; margin-bottom: 1.25rem; width: 100% !important; }
@media print {
  [data-testid="stSidebar"], [data-testid="stHeader"], .st-key-palette, .st-key-page-help { display: none; }
  .st-key-all-keys { columns: 2; font-size: 0.8rem; }
}
</style>"""


def page() -> None:
    """Draw the page."""
    st.markdown(
        "A key acts on the page that you see, and only while no text box has the focus; `Esc` leaves a text box. "
        "A key that is held down counts once."
    )
    st.html(_PRINTED)
    with st.container(key="all-keys"):
        for name, bindings in PAGES.items():
            with st.container(gap="xsmall"):
                st.subheader(name, anchor=False)
                st.markdown(key_table(bindings))


with errors_in_place():
    page()
