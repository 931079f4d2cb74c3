"""The command palette: Ctrl-K opens a list of everything with a name, which is filtered as one types; Enter opens or does it.

What is listed at once is sent to the browser with the page and matched there, so that opening and typing wait for nothing. The
browser asks for questions and passages as one types; a fragment of its own answers. A chosen page is opened as by the button Back
of the browser, without loading the app again; like every page, it checks the person's right itself. Actions check it here.
"""

from importlib.resources import files

import streamlit as st

from berdseye.app.access.roles import check
from berdseye.app.access.session import acting_person, annotator, errors_in_place, role, workspace
from berdseye.app.cached.found import START_TOUR, UNDO_LAST, as_data, found_items, listed_items
from berdseye.app.components.judging import undo_last
from berdseye.app.components.plain_text import escaped
from berdseye.app.components.tour import start_tour
from berdseye.app.serving.gate import START_PAGE
from berdseye.data.errors import UnknownNameError

_HERE = files("berdseye.app.components")
_HTML = """<button type="button" class="opens" aria-haspopup="dialog" aria-keyshortcuts="Control+K Meta+K">
<span>Go to…</span><kbd>Ctrl K</kbd></button>
<dialog aria-label="Go to">
<div class="head"><input type="text" role="combobox" aria-expanded="false" aria-controls="palette-lines"
aria-autocomplete="list" aria-label="Page, question, run or action" placeholder="Page, question, run or action"
autocomplete="off" autocapitalize="off" spellcheck="false" maxlength="200"></div>
<div class="lines" id="palette-lines" role="listbox" aria-label="Results"></div>
<p class="nothing" hidden></p>
<div class="foot"><span><kbd>↑</kbd> <kbd>↓</kbd> choose</span><span><kbd>Enter</kbd> open</span>
<span><kbd>Esc</kbd> close</span><span role="status" class="count"></span></div>
</dialog>"""
_MOUNT = st.components.v2.component(
    "berdseye_palette",
    html=_HTML,
    css=(_HERE / "palette.css").read_text(encoding="utf-8"),
    js=(_HERE / "palette.js").read_text(encoding="utf-8"),
)
_MOUNT_FOUND = st.components.v2.component(
    "berdseye_palette_found", js=(_HERE / "palette_found.js").read_text(encoding="utf-8")
)
_FOUND = "palette-found"


def palette(here: str) -> None:
    """Draw the button that opens the palette on the page `here`, and do the action that was chosen."""
    person = annotator()
    action = _MOUNT(
        key="palette",
        data={
            "items": as_data(listed_items()),
            "start": START_PAGE,
            "memory": f"berdseye-chosen {workspace().folder.resolve()} {'' if person is None else person.id}",
        },
        on_action_change=lambda: None,
        width="content",
    ).action
    _found()
    if isinstance(action, str):
        with errors_in_place():
            do_action(action, here)


@st.fragment
def _found() -> None:
    """Answer what the browser asks for as one types, without drawing the page again."""
    asked = st.session_state.get(_FOUND)
    words = str(asked.get("words") or "") if asked is not None else ""
    with errors_in_place():
        _MOUNT_FOUND(
            key=_FOUND,
            data={"words": words, "items": as_data(found_items(words)) if words else []},
            default={"words": ""},
            on_words_change=lambda: None,
        )


def do_action(action: str, here: str) -> None:
    """Do an action on the page `here`. Raises `UnknownNameError`, or `RefusedError` if the person's role does not allow it."""
    check(role(), "judge", acting_person() or "this person")
    if action == UNDO_LAST:
        person = annotator()
        st.toast(escaped("Enter your name first." if person is None else undo_last(person)))
    elif action == START_TOUR:
        start_tour(here)
    else:
        raise UnknownNameError("action", action, [UNDO_LAST, START_TOUR])
