"""The Streamlit app: `berdseye app`, or `streamlit run app/main.py` on a workspace."""

import streamlit as st

from app.components.plain_text import escaped
from app.session import errors_in_place, sign_in_box, workspace
from data.errors import BerdseyeError

st.set_page_config(page_title="Berdseye", page_icon=":material/visibility:", layout="wide")

# Not in a folder `pages`: Streamlit would run a file there without this one, for the first visitor of its address.
PAGES = [
    st.Page("views/explore.py", title="Explore", icon=":material/travel_explore:", default=True),
    st.Page("views/annotate.py", title="Annotate", icon=":material/rule:"),
    st.Page("views/adjudication.py", title="Adjudication", icon=":material/gavel:"),
    st.Page("views/agreement.py", title="Agreement", icon=":material/handshake:"),
    st.Page("views/runs.py", title="Runs", icon=":material/leaderboard:"),
    st.Page("views/studies.py", title="Studies", icon=":material/science:"),
    st.Page("views/detectors.py", title="Detectors", icon=":material/psychology:"),
    st.Page("views/label_studio.py", title="Label Studio", icon=":material/sync:"),
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
