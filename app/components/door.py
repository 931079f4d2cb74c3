"""The page before anyone is in: why someone is not, and the button to sign in."""

import streamlit as st

from berdseye.app.components.plain_text import escaped
from berdseye.app.oidc import provider_trouble
from berdseye.data.errors import BerdseyeError
from berdseye.data.people import PeopleSettings


def door(people: PeopleSettings, trouble: BerdseyeError | None = None) -> None:
    """Draw it; `trouble` is why the token that someone came with is not taken."""
    st.title("Berdseye", anchor=False)
    if "is_logged_in" not in st.user.to_dict():
        st.error("This workspace is a team's: `berdseye app` serves it.", icon=":material/error:")
        return
    if trouble is None:
        st.markdown("Sign in to judge passages with your team.")
    else:
        st.warning(escaped(str(trouble)), icon=":material/lock:")
    with st.container(horizontal=True):
        asked = st.button("Sign in", type="primary", icon=":material/login:", key="sign_in")
        if trouble is not None:
            st.button("Sign out", icon=":material/logout:", key="sign_out", on_click=st.logout)
    if not asked:
        return
    # Asked first, since Streamlit would lead to a page that says nothing.
    if told := provider_trouble(people):
        st.error(
            f"Nobody can sign in now: {escaped(people.issuer)} is not there as it should be. {told} Try again in a while; "
            "what was judged is kept.",
            icon=":material/cloud_off:",
        )
    else:
        st.login()
