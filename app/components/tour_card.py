"""The first-run tour on a page: the way in, in the sidebar, and its card below everything else, beside nothing it could cover."""

from collections.abc import Mapping, Sequence
from importlib.resources import files

import streamlit as st
from streamlit.navigation.page import StreamlitPage

from berdseye.app.components.key_map import TOUR_BACK, TOUR_LEAVE, TOUR_NEXT, TOUR_START
from berdseye.app.session import annotator, judgments, role, workspace
from berdseye.app.tour import DEMO, MISSING, PARAMETER, Step, lacks, step_at, steps_of
from berdseye.data.demo.marker import is_demo

_MOUNT = st.components.v2.component(
    "berdseye_tour", js=(files("app.components") / "tour_card.js").read_text(encoding="utf-8")
)
_STEP, _LEFT, _GOING, _JUDGED = "tour_step", "tour_left", "tour_going", "tour_judged"
# The bar has one height for all steps, and takes room instead of lying over the page; the desk, which fits itself to the window,
# is as much lower.
_FITTING = """<style>
:root { --tour-height: 6.75rem; }
@media (max-width: 1200px) { :root { --tour-height: 8.5rem; } }
@media (max-width: 760px) { :root { --tour-height: 15rem; } }
.stMain { scroll-padding-bottom: var(--tour-height); }
[data-testid="stBottomBlockContainer"] {
  height: var(--tour-height); padding: 0.5rem 2rem; overflow-y: auto;
  background-color: rgb(42 120 184 / 0.08); border-top: 2px solid rgb(42 120 184 / 0.6);
}
.st-key-tour button { min-height: 2rem; }
.st-key-tour-text p { font-size: 0.9375rem; line-height: 1.5; }
.st-key-tour-text code { white-space: nowrap; }
</style>"""


def tour(here: str, pages: Mapping[str, StreamlitPage]) -> None:
    """Offer the tour on the page `here`, or show the step that the person is at; `pages` are by the names of their files."""
    steps = steps_of(role())
    if not steps:
        return
    step = _step(here, steps, pages)
    _way_in(here, steps[0], running=step is not None)
    if step is not None:
        _card(step, steps, here, pages)


def _step(here: str, steps: Sequence[Step], pages: Mapping[str, StreamlitPage]) -> Step | None:
    """The step to show; a button that was pressed leads to its page."""
    state = st.session_state
    going = state.pop(_GOING, None)
    if going is not None:
        state[_STEP] = going.name
        if going.page != here:
            shown = going.on_demo if is_demo(workspace().folder) else {}
            st.switch_page(pages[going.page], query_params={**shown, PARAMETER: going.name})
    elif state.get(_LEFT):
        st.query_params.pop(PARAMETER, None)
        return None
    step = step_at(steps, here, st.query_params.get(PARAMETER), state.get(_STEP))
    if step is not None:
        state[_STEP] = step.name
        if st.query_params.get(PARAMETER) != step.name:
            st.query_params[PARAMETER] = step.name
    return step


def _go(step: Step, here: str) -> None:
    """Turn to a step: at once where it is of this page, whose choices then stay; else when the page is drawn again."""
    st.session_state.pop(_LEFT, None)
    st.session_state[_GOING] = step
    if step.page == here:
        st.query_params[PARAMETER] = step.name


def _leave() -> None:
    """End the tour; it is not offered again to this session."""
    st.session_state.pop(_STEP, None)
    st.session_state[_LEFT] = True
    st.query_params.pop(PARAMETER, None)


def _way_in(here: str, first: Step, *, running: bool) -> None:
    """The button in the sidebar: of one size, whether it offers itself to someone new or only stands there."""
    offered = not running and _new_here()
    st.sidebar.button(
        "Two-minute tour" if offered else "Tour",
        icon=":material/explore:",
        type="secondary" if offered else "tertiary",
        shortcut=TOUR_START,
        key="tour-start",
        on_click=_go,
        args=(first, here),
        help="New here? What to do on each page, and why.",
    )


def _new_here() -> bool:
    """Whether someone has given no name yet, or no word, and has not left the tour."""
    if st.session_state.get(_LEFT):
        return False
    person = annotator()
    if person is None:
        return True
    if st.session_state.get(_JUDGED) != person.id:
        if not judgments().heard(person):
            return True
        st.session_state[_JUDGED] = person.id
    return False


def _card(step: Step, steps: Sequence[Step], here: str, pages: Mapping[str, StreamlitPage]) -> None:
    """The step and the ways on, back and out, at the same place for each."""
    at = steps.index(step)
    place = f"{at + 1} of {len(steps)}"
    st.html(_FITTING)
    with st.bottom, st.container(key="tour", gap="xsmall"):
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            with st.container(key="tour-title"):
                st.markdown(f":blue-badge[{place}] **{step.title}**")
            st.button(
                "Back",
                shortcut=TOUR_BACK,
                key="tour-back",
                disabled=at == 0,
                on_click=_go,
                args=(steps[at - 1], here),
            )
            _onward(step, steps[at + 1 :], here, pages)
            st.button("Leave", type="tertiary", shortcut=TOUR_LEAVE, key="tour-leave", on_click=_leave)
        with st.container(key="tour-text"):
            st.markdown(told(step))
        _MOUNT(data={"label": f"Tour, step {place}"}, key="tour-region")


def _onward(step: Step, rest: Sequence[Step], here: str, pages: Mapping[str, StreamlitPage]) -> None:
    """The next step, or the page that this one is about."""
    aside = step.page != here
    label = f"Go to {pages[step.page].title}" if aside else "Next" if rest else "Done"
    going = step if aside else rest[0] if rest else None
    st.button(
        label,
        type="primary",
        shortcut=TOUR_NEXT,
        key="tour-next",
        on_click=_leave if going is None else _go,
        args=() if going is None else (going, here),
    )


def told(step: Step) -> str:
    """The text of a step, in Markdown; where the workspace has nothing to show it on, what to do about that."""
    if lacks(workspace(), judgments(), step.needs):
        return f"{MISSING[step.needs]} {DEMO}"
    return f"{'Enter your name in the sidebar. ' if step.named and annotator() is None else ''}{step.text}"
