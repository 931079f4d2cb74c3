"""A choice that stands in the address of the page by its id, whatever it is shown as."""

from collections.abc import Callable, Sequence

import streamlit as st


def selectbox_by_id(
    label: str, ids: Sequence[str], key: str, shown: Callable[[str], str], *, first: str = "", help: str | None = None
) -> str:
    """One of the ids, at least one of which there is; `first` is chosen where the address, under `key`, names none of them.

    Streamlit's own binding would put what is shown into the address: texts that are long, change, and may be there twice.
    """
    default = first if first in ids else ids[0]
    if st.session_state.get(key) not in ids:
        asked = st.query_params.get(key, default)
        st.session_state[key] = asked if asked in ids else default
    chosen = st.selectbox(label, ids, key=key, format_func=shown, help=help)
    found = chosen if chosen in ids else default
    if found != default:
        st.query_params[key] = found
    elif key in st.query_params:
        del st.query_params[key]
    return found
