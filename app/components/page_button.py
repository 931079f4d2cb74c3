"""Opening another page from Python, and a button that does, for people whose role includes that page."""

from typing import Literal

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from berdseye.app.access.roles import may, right_of_page
from berdseye.app.access.session import role


def page_button(
    page: str,
    label: str,
    *,
    key: str,
    icon: str,
    kind: Literal["primary", "secondary", "tertiary"] = "secondary",
    disabled: bool = False,
    help: str | None = None,
    **query: str,
) -> None:
    """Draw a button that opens a page with `query` in its address. Nothing is drawn for people who may not see that page."""
    if may(role(), right_of_page(page)) and st.button(
        label, key=key, icon=f":material/{icon}:", type=kind, disabled=disabled, help=help
    ):
        open_page(page, **query)


def open_page(page: str, **query: str) -> None:
    """Open a page with `query` in its address.

    Streamlit refuses to change a parameter of the address to which a widget of the present page is bound, also when that page
    is left. So the widgets of the present page let go of the address first, and of their values: the next page may have a widget
    of the same name.
    """
    context = get_script_run_ctx()
    if context is not None:
        with context.session_state.query_params() as parameters:
            for name in {str(key) for key in st.session_state}:
                if (binding := parameters.get_binding_for_param(name)) is not None:
                    parameters.unbind_widget(binding.widget_id)
                    st.session_state.pop(name, None)  # the next page reads its own address
    st.switch_page(f"views/{page}.py", query_params=query)
