"""The pages of the app, in sections by the job that they serve, and the line above each page that says what it answers."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

import streamlit as st
from streamlit.delta_generator import DeltaGenerator
from streamlit.navigation.page import StreamlitPage

from berdseye.app.access.roles import may, right_of_page
from berdseye.app.access.session import role
from berdseye.app.documentation import FIRST, anchor_of, documentation_address
from berdseye.app.serving.gate import START_PAGE

_STATIC = Path(__file__).parent / "static"
# Files of this package: Streamlit fetches an icon given by name from another machine.
ICON, WORDMARK = _STATIC / "icon.svg", _STATIC / "wordmark.svg"


class View(NamedTuple):
    """A page: its title, its icon, and what it answers. Its file is `app/views/NAME.py`.

    `documented` is the place of its documentation, a document and a heading of it (`docs/judging#batches`); by default the
    section of `docs/README.md` with the page's title.
    """

    title: str
    icon: str
    answers: str
    documented: str = ""

    @property
    def documentation(self) -> tuple[str, str]:
        """The document about the page, and the anchor of the heading in it."""
        document, _, anchor = (self.documented or f"{FIRST}#{anchor_of(self.title)}").partition("#")
        return document, anchor


# The pages are not in a folder `pages`: Streamlit would run a file there without main.py for the first visitor of its address.
SECTIONS: Mapping[str, Mapping[str, View]] = {
    "": {"home": View("Home", "home", "What this workspace holds, and what waits for you.")},
    "Judge": {
        "annotate": View("Annotate", "rule", "What is your verdict on what is shown?"),
        "adjudication": View("Adjudication", "gavel", "Which verdict holds where annotators disagree?"),
        "perspectives": View(
            "Perspectives", "forum", "Which perspectives does a question have, and who proposes others?"
        ),
        "agreement": View("Agreement", "handshake", "How well do people agree with one another and with detectors?"),
    },
    "Explore": {
        "explore": View(
            "Explore", "travel_explore", "Which perspectives do the first passages of each corpus support?"
        ),
        "search": View("Search", "search", "Which passages of a corpus contain these words or resemble this text?"),
        "failures": View("Failures", "scatter_plot", "Which perspectives does a run miss, and why?"),
        "compare": View("Compare", "compare_arrows", "Where does one run find what another one misses?"),
    },
    "Measure": {
        "runs": View("Runs", "leaderboard", "Which system finds the most perspectives, and how certain is that?"),
        "bias": View("Bias", "balance", "Does a system favour one side, or the side that the question takes?"),
        "studies": View("Studies", "science", "What do the experiments of the papers give on this workspace?"),
    },
    "Improve": {
        "detectors": View("Detectors", "psychology", "Which detector is in use, and is a trained one better?"),
    },
    "Manage": {
        "data": View("Data", "database", "Which corpora and questions are here, and how are others added?"),
        "build": View(
            "Build", "construction", "How is a data set made from sources, and what was rejected on the way?"
        ),
        "batches": View(
            "Batches", "inventory_2", "Which pairs are sent out for judging, to whom, and how far are they?"
        ),
        "people": View("People", "group", "Who works here, what may each do, and which guidelines do they follow?"),
        "label_studio": View("Label Studio", "sync", "Which batches are in Label Studio, and what changed there?"),
        "jobs": View("Jobs", "pending_actions", "Which long tasks are running, and how did the others end?"),
        "workspace": View("Workspace", "settings", "Is this workspace sound, and what are its settings?"),
    },
}
"""The pages of the navigation by section, each by the name of its file. The first page belongs to no section."""
UNLISTED: Mapping[str, View] = {
    "passage": View("Passage", "article", "What do detectors and people say of this passage?"),
    "question": View("Question", "help", "What does every run find for this question?"),
    "documentation": View(
        "Documentation", "menu_book", "How is this done, and what does it mean?", f"{FIRST}#every-page"
    ),
    "keys": View("Keys", "keyboard", "Which keys does each page have?", "app/components/README#keys"),
    "detector_lab": View("Detector lab", "biotech", "Where is a detector wrong, and at which threshold?"),
}
"""Pages about one passage or one question, and those about the app: reached by links, not listed in the navigation."""
VIEWS: Mapping[str, View] = {name: view for views in (*SECTIONS.values(), UNLISTED) for name, view in views.items()}


def _title_rule(title: str, names: Iterable[str]) -> str:
    links = ", ".join(f'[href$="/{"" if name == START_PAGE else name}"]' for name in names)
    item = f'[data-testid="stSidebarNavItems"] li:has(a:is({links}))'
    return f'{item}:not({item} ~ li)::before {{ content: "{title}"; }}\n'


SECTION_TITLES = "".join(_title_rule(title, views) for title, views in SECTIONS.items() if title)
"""The style that writes the title of each section above its first page that the person's role includes.

Streamlit's own sections are lists with headings between their items, which screen readers announce wrongly.
"""


def pages() -> dict[str, StreamlitPage]:
    """Return all pages by name; those that the person's role does not include are hidden from the navigation."""
    return {
        name: st.Page(
            f"views/{name}.py",
            title=view.title,
            icon=f":material/{view.icon}:",
            default=name == START_PAGE,
            visibility="visible" if _listed(name) else "hidden",
        )
        for name, view in VIEWS.items()
    }


def navigation(all_pages: Mapping[str, StreamlitPage]) -> StreamlitPage:
    """Draw the navigation, and return the chosen page."""
    st.logo(WORDMARK, size="large", icon_image=ICON)
    return st.navigation(list(all_pages.values()), expanded=True)


def page_head(name: str) -> DeltaGenerator:
    """Name the page in the browser's tab, and draw its title, what it answers and the link to its documentation. Return the
    container of these."""
    view = VIEWS[name]
    st.set_page_config(page_title=f"{view.title} · Berdseye")
    head = st.container(horizontal=True, vertical_alignment="bottom", key="page-head")
    with head:
        st.title(view.title, anchor=False, width="content")
        st.caption(view.answers, width="content")
        with st.container(key="page-help", width="content"):
            st.markdown(f"[:material/help:]({documentation_address(*view.documentation)})")
    return head


def _listed(name: str) -> bool:
    return name not in UNLISTED and may(role(), right_of_page(name))
