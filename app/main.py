"""The Streamlit app. `berdseye app` starts it; so does `streamlit run app/main.py` on a workspace."""

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
from berdseye.app.components.chart_scrolling import let_keys_scroll_charts
from berdseye.app.components.first_steps import note_visit
from berdseye.app.components.job_box import job_line
from berdseye.app.components.last_judgments import last_judgments_button
from berdseye.app.components.looks import SIDEBAR, apply_style
from berdseye.app.components.palette import palette
from berdseye.app.components.plain_text import escaped
from berdseye.app.components.tour import tour
from berdseye.app.navigation import ICON, navigation, page_head, pages
from berdseye.data.errors import BerdseyeError

st.set_page_config(page_title="Berdseye", page_icon=ICON, layout="wide", initial_sidebar_state=SIDEBAR)


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
        all_pages = pages()
        page = navigation(all_pages)
        if team:
            draw_signed_in_person()
        else:
            sign_in_box()
        here = next(name for name, other in all_pages.items() if other == page)
        with timed(here):
            enter(here)
            apply_style()
            redraw_when_reconnected()
            let_keys_scroll_charts()
            with page_head(here):
                last_judgments_button(here)
                palette(here)
            tour(here, all_pages)
            note_visit(here)
            if may(role(), right_of_page("jobs")):
                job_line(all_pages["jobs"])
            page.run()


def _nothing() -> None:
    """Draw the empty page of a visitor who has not signed in."""


main()
