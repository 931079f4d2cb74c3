"""The Streamlit app: `berdseye app`, or `streamlit run app/main.py` on a workspace."""

import streamlit as st

from app.components.plain_text import escaped
from app.session import errors_in_place, sign_in_box, workspace
from data.errors import BerdseyeError

st.set_page_config(page_title="Berdseye", page_icon=":material/visibility:", layout="wide")

PAGES = [
    st.Page("pages/explore.py", title="Explore", icon=":material/travel_explore:", default=True),
    st.Page("pages/annotate.py", title="Annotate", icon=":material/rule:"),
    st.Page("pages/agreement.py", title="Agreement", icon=":material/handshake:"),
    st.Page("pages/runs.py", title="Runs", icon=":material/leaderboard:"),
    st.Page("pages/label_studio.py", title="Label Studio", icon=":material/sync:"),
]


def main() -> None:
    """Draw the navigation, the name entry and the page."""
    page = st.navigation(PAGES)
    try:
        workspace()
    except BerdseyeError as error:
        st.error(escaped(str(error)), icon=":material/error:")
        st.stop()
    with errors_in_place():
        sign_in_box()
        page.run()


main()
