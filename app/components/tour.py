"""The first-run tour: two minutes on the real pages. It holds the steps in their order, the step that a person is at, the button
in the sidebar that starts the tour, and the card below the page, where it covers nothing."""

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
"""The query parameter that keeps the step by its name, which stays valid when steps are added."""
MISSING: dict[Need, str] = {
    "corpus": "This workspace has no corpus yet. Add your documents on the Data page.",
    "data set": "This workspace has no data set yet. Add your questions on the Data page.",
    "pairs": "There is nothing to judge yet. Run a pipeline on the Runs page, or create a batch on the Batches page.",
    "word": "Nobody has judged a pair yet. Judge some on Annotate or Explore, then come back.",
    "run": "This workspace has no runs yet. Run a pipeline on the Runs page.",
}
"""What to do if the workspace lacks what a step shows."""
DEMO = "To see an example, load the demo data on the Home page of an empty workspace."
"""The alternative to each text of `MISSING`: the demo workspace."""
_MOUNT = st.components.v2.component(
    "berdseye_tour", js=(files("berdseye.app.components") / "tour_card.js").read_text(encoding="utf-8")
)
_STEP, _LEFT, _GOING, _JUDGED = "tour_step", "tour_left", "tour_going", "tour_judged"
# The bar has the same height for all steps and takes up space instead of covering the page. The desk, which fits itself to the
# window, is lower by this height.
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


class Step(NamedTuple):
    """A step of the tour: its name in the address, its page (a file in app/views), its title, and what to do there and why, in
    Markdown. `needs` is what the workspace must contain to show the step; `named` says whether the person needs a name;
    `on_demo` holds the choices on the page that have something to show in the demo; `right` is the right that the step is
    about, if it is not the page's own."""

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
        "Choose a question, or choose *your own question* in the first box and type one. Every corpus has its own column. The "
        "table shows the rank at which each perspective first appears, and where it is **missing**. A reader of these passages "
        "never learns of a missing perspective.",
        "corpus",
    ),
    Step(
        "correct",
        "explore",
        "Correct a label with one key",
        "The buttons above a passage show which perspectives it supports, often by the label of a detector, which errs. "
        "What a label rests on is marked in the text. If **P1** is wrong, press `1`. `J` and `K` move between passages; `U` "
        "undoes. Your judgment overrides every other label and updates the measures.",
        "corpus",
        named=True,
    ),
    Step(
        "judge",
        "annotate",
        "Judge pairs, one at a time",
        "Does the passage support the perspective? Press `1` for yes, `2` for no, `3` for unsure; `U` undoes, `?` shows all "
        "keys. You see the detector's label only after you judge, so that it cannot sway you. Agreement, training and reliable "
        "measures depend on these judgments.",
        "pairs",
        named=True,
    ),
    Step(
        "propose",
        "perspectives",
        "Add a missing perspective",
        "Is a perspective missing, unclear, or two in one? `1` proposes another and `4` rewords one. Accepted proposals become a "
        "new version of the data set. Retrieval can only be measured against perspectives that the data set contains.",
        "data set",
        named=True,
    ),
    Step(
        "agree",
        "agreement",
        "See how far people agree",
        "The page shows the statistics with their intervals, then detectors against people, then the pairs that **Two raters** "
        "judge differently. Read some of these: either the guidelines or the perspective may be unclear. **Exports** offers "
        "judgments, statistics and training data as files.",
        "word",
    ),
    Step(
        "compare",
        "runs",
        "Compare systems on one leaderboard",
        "A row is a pipeline over a corpus, with its interval. **Labels from** sets the label source: the detector, people or "
        "the data set's authors. Systems in one of the **Significance groups** do not differ significantly: check this "
        "before you call one better. **Run a pipeline** adds a row.",
        "run",
    ),
    Step(
        "holes",
        "failures",
        "Find out why it failed",
        "A hole on the map is a perspective that no passage of the **Run**'s top k supports. **Reasons** counts why: ranked too "
        "low, found only by another pipeline, found by none, or the detector and people disagree. Choose a hole to read the "
        "passages around it.",
        "run",
        on_demo={"run": "debate--pages--bm25"},
    ),
    Step(
        "exchange",
        "label_studio",
        "Judge in Label Studio as well",
        "**Push** creates tasks from runs, and a batch becomes one project per person. Judgments made there are pulled "
        "automatically and count once. This is the last step; *Tour*, in the sidebar, starts again.",
        "run",
        right="exchange",
    ),
)


def steps_of(role: Role | None) -> tuple[Step, ...]:
    """Return the steps about pages and actions that the role may use."""
    return tuple(step for step in STEPS if may(role, step.right or right_of_page(step.page)))


def step_at(steps: Sequence[Step], page: str, asked: str | None, kept: str | None) -> Step | None:
    """Return the step that a person is at, or None outside the tour.

    It is the step named in the address (`asked`). Without one, once the tour has started (`kept` is its last step), it is the
    last step if that belongs to this page or the page has no step, and otherwise the page's first step.
    """
    if not steps or (asked is None and kept is None):
        return None
    by_name = {step.name: step for step in steps}
    if asked in by_name:
        return by_name[asked]
    here = [step for step in steps if step.page == page]
    last = by_name.get(kept or "")
    return last if last in here or (last is not None and not here) else (here or steps)[0]


def lacks(workspace: Workspace, judgments: Judgments, need: Need) -> bool:
    """Whether the workspace lacks what a step needs."""
    if need == "corpus":
        return not workspace.corpora()
    if need == "data set":
        return not workspace.datasets()
    if need == "word":
        return not judgments.version()
    without_run = next(workspace.runs_folder.glob("*.json"), None) is None
    return without_run and (need == "run" or not any(batch.is_open for batch in list_batches(judgments)))


def tour(here: str, pages: Mapping[str, StreamlitPage]) -> None:
    """Offer the tour on the page `here`, or show the current step. `pages` maps the names of the page files to the pages."""
    steps = steps_of(role())
    if not steps:
        return
    step = _step(here, steps)
    _start_button(here, steps[0], running=step is not None)
    if step is not None:
        _draw_card(step, steps, here, pages)


def start_tour(here: str) -> None:
    """Start the tour at its first step. It is shown when `tour` is drawn next."""
    if steps := steps_of(role()):
        _go(steps[0], here)


def _step(here: str, steps: Sequence[Step]) -> Step | None:
    """Return the step to show. If a button of the tour was pressed, switch to the page of its step."""
    state = st.session_state
    going = state.pop(_GOING, None)
    if going is not None:
        state[_STEP] = going.name
        if going.page != here:
            shown = going.on_demo if is_demo(workspace().folder) else {}
            st.switch_page(f"views/{going.page}.py", query_params={**shown, PARAMETER: going.name})
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
    """Go to a step. If it is on this page, it is shown at once and the page's choices stay; otherwise the page switches
    when it is next drawn."""
    st.session_state.pop(_LEFT, None)
    st.session_state[_GOING] = step
    if step.page == here:
        st.query_params[PARAMETER] = step.name


def _leave() -> None:
    """End the tour. The session does not offer it again."""
    st.session_state.pop(_STEP, None)
    st.session_state[_LEFT] = True
    st.query_params.pop(PARAMETER, None)


def _start_button(here: str, first: Step, *, running: bool) -> None:
    """Draw the sidebar button that starts the tour, at the same size for new and for known people."""
    offered = not running and _new_here()
    st.sidebar.button(
        "Two-minute tour" if offered else "Tour",
        icon=":material/explore:",
        type="secondary" if offered else "tertiary",
        shortcut=TOUR_START,
        key="tour-start",
        on_click=_go,
        args=(first, here),
        help="New here? The tour shows what to do on each page, and why.",
    )


def _new_here() -> bool:
    """Whether the person has no name or no judgment yet, and has not left the tour."""
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


def _draw_card(step: Step, steps: Sequence[Step], here: str, pages: Mapping[str, StreamlitPage]) -> None:
    """Draw the step with its buttons Back, Next and Leave, at the same place for every step."""
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
            _next_button(step, steps[at + 1 :], here, pages)
            st.button("Leave", type="tertiary", shortcut=TOUR_LEAVE, key="tour-leave", on_click=_leave)
        with st.container(key="tour-text"):
            st.markdown(step_text(step))
        _MOUNT(data={"label": f"Tour, step {place}"}, key="tour-region")


def _next_button(step: Step, rest: Sequence[Step], here: str, pages: Mapping[str, StreamlitPage]) -> None:
    """Draw the button to the next step, or to the page of this one."""
    elsewhere = step.page != here
    label = f"Go to {pages[step.page].title}" if elsewhere else "Next" if rest else "Done"
    going = step if elsewhere else rest[0] if rest else None
    st.button(
        label,
        type="primary",
        shortcut=TOUR_NEXT,
        key="tour-next",
        on_click=_leave if going is None else _go,
        args=() if going is None else (going, here),
    )


def step_text(step: Step) -> str:
    """Return the text of a step in Markdown. If the workspace lacks what the step shows, return what to do about it."""
    if lacks(workspace(), judgments(), step.needs):
        return f"{MISSING[step.needs]} {DEMO}"
    return f"{'Enter your name in the sidebar. ' if step.named and annotator() is None else ''}{step.text}"
