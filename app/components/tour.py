"""The first-run tour: its steps in their order, and which of them someone is at. Two minutes, on the real pages.

The first-run tour on a page: the way in, in the sidebar, and its card below everything else, beside nothing it could cover.
"""

from collections.abc import Mapping, Sequence
from importlib.resources import files
from types import MappingProxyType
from typing import Literal, NamedTuple

import streamlit as st
from streamlit.navigation.page import StreamlitPage

from berdseye.annotation.batches.stored import list_batches
from berdseye.annotation.judgments.log import Judgments
from berdseye.app.access.roles import Right, may, right_of_page
from berdseye.app.access.session import annotator, judgments, role, workspace
from berdseye.app.components.keys import TOUR_BACK, TOUR_LEAVE, TOUR_NEXT, TOUR_START
from berdseye.data.demo.content import is_demo
from berdseye.data.people import Role
from berdseye.data.workspace import Workspace

Need = Literal["corpus", "data set", "pairs", "word", "run"]
PARAMETER = "tour"
"""What the address of a page keeps the step in, by its name, which stays what it is when steps are added."""


class Step(NamedTuple):
    """A step: its name in the address, the page it leads to (a file of app/views), what to do there and why, in Markdown; what
    there must be to show it, whether it takes a name, the page's choices that have something to show on the demo, and the right
    it is about where that is not the page's own."""

    name: str
    page: str
    title: str
    text: str
    needs: Need
    named: bool = False
    on_demo: Mapping[str, str] = MappingProxyType({})
    right: Right | None = None


STEPS = (
    Step(
        "ask",
        "explore",
        "Ask a contentious question",
        "Choose a question, or *your own question* as the **Data set**, and type one. Every corpus answers in a column of its "
        "own; the table says at which rank each perspective first comes, and where it is **missing**. What is missing, a reader "
        "of these passages never learns.",
        "corpus",
    ),
    Step(
        "correct",
        "explore",
        "Correct a label with one key",
        "The buttons below a passage say which perspectives it supports; the detector behind some of them is often wrong. Where "
        "**P1** is wrong, press `1`; `J` and `K` go to other passages, `U` takes it back. Your judgment counts before any other "
        "label at once, and moves the measures above.",
        "corpus",
        named=True,
    ),
    Step(
        "judge",
        "annotate",
        "Judge pairs, one at a time",
        "Does the passage support the perspective? `1` yes, `2` no, `3` unsure; `U` takes back, `?` shows all keys. The "
        "detector's opinion comes after yours, so it cannot sway you: agreement, training and honest measures rest on these "
        "words.",
        "pairs",
        named=True,
    ),
    Step(
        "propose",
        "perspectives",
        "Add a view that nobody wrote down",
        "Is a perspective missing, unclear, or two in one? `1` proposes another and `4` rewords one; what is accepted becomes a "
        "new version of the data set. Retrieval can only be measured against views that somebody wrote down.",
        "data set",
        named=True,
    ),
    Step(
        "agree",
        "agreement",
        "See how far people agree",
        "Statistics with their intervals, then detectors against people, then the pairs that **Two annotators** judge "
        "differently. Read some: either the guidelines are unclear there, or the perspective is. **Exports** has judgments, "
        "statistics and training data as files.",
        "word",
    ),
    Step(
        "compare",
        "runs",
        "Compare systems on one board",
        "A row is a pipeline over a corpus, with its interval. **Labels from** changes whose word counts: the detector's, "
        "people's or the authors'. Systems that share one of the **Letters** were not found to differ: look there before you "
        "call one better. **Run a pipeline** adds a row.",
        "run",
    ),
    Step(
        "holes",
        "failures",
        "Find out why it failed",
        "A hole on the map is a perspective that no passage of the **Run**'s top k supports. **Why** counts the reasons: too far "
        "down, found by another pipeline alone, by none, or the detector and people differ. Choose a hole to read around it.",
        "run",
        on_demo={"run": "debate--pages--bm25"},
    ),
    Step(
        "exchange",
        "label_studio",
        "Judge in Label Studio as well",
        "**Send** makes tasks of runs, and a batch becomes a project for each person. What is said there comes back by itself, "
        "and counts once. That was all: *Tour*, in the sidebar, begins again.",
        "run",
        right="exchange",
    ),
)

MISSING: dict[Need, str] = {
    "corpus": "There is no corpus yet. `berdseye corpus add NAME FILE` takes your documents (README, *Bring your own*).",
    "data set": "There is no data set yet. `berdseye dataset add NAME FILE` takes your questions (README, *Bring your "
    "own*).",
    "pairs": "There is nothing to judge yet: it takes a run, from the Runs page or `berdseye run`, or a batch.",
    "word": "Nobody has judged anything here yet: do so on Annotate or Explore, and come back.",
    "run": "There is no run yet: make one on the Runs page or with `berdseye run`.",
}
"""What to do where a workspace lacks what a step shows."""
DEMO = (
    "To see it all at work, `berdseye demo --workspace demo` makes a small workspace, and `berdseye app --workspace demo` shows "
    "it."
)
"""The other way, for all of these."""


def steps_of(role: Role | None) -> tuple[Step, ...]:
    """The steps on pages that a role may use, about what it may do there."""
    return tuple(step for step in STEPS if may(role, step.right or right_of_page(step.page)))


def step_at(steps: Sequence[Step], page: str, asked: str | None, kept: str | None) -> Step | None:
    """Where someone is: the step that the address asks for; else, in a tour that has begun (`kept` is its last step), that or the
    first step of the page they went to, if it has one. None outside the tour."""
    if not steps or (asked is None and kept is None):
        return None
    known = {step.name: step for step in steps}
    if asked in known:
        return known[asked]
    here = [step for step in steps if step.page == page]
    last = known.get(kept or "")
    return last if last in here or (last is not None and not here) else (here or steps)[0]


def lacks(workspace: Workspace, judgments: Judgments, need: Need) -> bool:
    """Whether there is nothing here for a step to show."""
    if need == "corpus":
        return not workspace.corpora()
    if need == "data set":
        return not workspace.datasets()
    if need == "word":
        return not judgments.version()
    without_run = next(workspace.runs_folder.glob("*.json"), None) is None
    return without_run and (need == "run" or not any(batch.is_open for batch in list_batches(judgments)))


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
        if not judgments().has_judged(person):
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
            st.markdown(step_text(step))
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


def step_text(step: Step) -> str:
    """The text of a step, in Markdown; where the workspace has nothing to show it on, what to do about that."""
    if lacks(workspace(), judgments(), step.needs):
        return f"{MISSING[step.needs]} {DEMO}"
    return f"{'Enter your name in the sidebar. ' if step.named and annotator() is None else ''}{step.text}"
