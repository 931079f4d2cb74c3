"""The Streamlit app. `berdseye app` starts it; so does `streamlit run app/main.py` on a workspace."""

from pathlib import Path

import streamlit as st

from berdseye.app.access.roles import may, right_of_page
from berdseye.app.access.session import (
    draw_signed_in_person,
    enter,
    errors_in_place,
    people,
    require_sign_in,
    role,
    sign_in_box,
    timed,
)
from berdseye.app.components.browser_state import redraw_when_reconnected
from berdseye.app.components.job_box import job_line
from berdseye.app.components.looks import SIDEBAR, apply_style
from berdseye.app.components.plain_text import escaped
from berdseye.app.components.tour import tour
from berdseye.app.serving.gate import START_PAGE
from berdseye.data.errors import BerdseyeError

# A file of this package: Streamlit fetches an icon given by name from another machine.
ICON = Path(__file__).parent / "static" / "icon.svg"
st.set_page_config(page_title="Berdseye", page_icon=ICON, layout="wide", initial_sidebar_state=SIDEBAR)

# The pages are not in a folder `pages`: Streamlit would run a file there without this one for the first visitor of its address.
VIEWS = {
    "explore": ("Explore", ":material/travel_explore:"),
    "search": ("Search", ":material/search:"),
    "annotate": ("Annotate", ":material/rule:"),
    "perspectives": ("Perspectives", ":material/forum:"),
    "adjudication": ("Adjudication", ":material/gavel:"),
    "agreement": ("Agreement", ":material/handshake:"),
    "runs": ("Runs", ":material/leaderboard:"),
    "failures": ("Failures", ":material/scatter_plot:"),
    "compare": ("Compare", ":material/compare_arrows:"),
    "bias": ("Bias", ":material/balance:"),
    "studies": ("Studies", ":material/science:"),
    "detectors": ("Detectors", ":material/psychology:"),
    "detector_lab": ("Detector lab", ":material/biotech:"),
    "label_studio": ("Label Studio", ":material/sync:"),
    "jobs": ("Jobs", ":material/pending_actions:"),
    "passage": ("Passage", ":material/article:"),
    "question": ("Question", ":material/help:"),
}
# Pages about one passage or one question: reached by links, not listed in the navigation.
OF_ONE = ("passage", "question")


def main() -> None:
    """Draw the navigation, the signed-in person and the page."""
    try:
        team = people().team
    except BerdseyeError as error:
        st.error(escaped(str(error)), icon=":material/error:")
        st.stop()
    with errors_in_place():
        if team and not require_sign_in():
            st.navigation([st.Page(_nothing, title="Sign in")], position="hidden")
            return
        pages = {
            name: st.Page(
                f"views/{name}.py",
                title=title,
                icon=icon,
                default=name == START_PAGE,
                visibility="visible" if name not in OF_ONE and may(role(), right_of_page(name)) else "hidden",
            )
            for name, (title, icon) in VIEWS.items()
        }
        page = st.navigation(list(pages.values()), expanded=True)
        if team:
            draw_signed_in_person()
        else:
            sign_in_box()
        here = next(name for name, other in pages.items() if other == page)
        with timed(here):
            enter(here)
            apply_style()
            redraw_when_reconnected()
            tour(here, pages)
            if may(role(), right_of_page("jobs")):
                job_line(pages["jobs"])
            page.run()


def _nothing() -> None:
    """Draw the empty page of a visitor who has not signed in."""


main()
