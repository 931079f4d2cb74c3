"""The Annotate page: shows the pairs of a batch, or of the runs a person chooses, one at a time and blind."""

from functools import partial

import streamlit as st

from berdseye.annotation.batches.queue import BatchQueue
from berdseye.annotation.batches.runs_queue import RunsQueue, pairs_of_runs
from berdseye.annotation.batches.stored import Batch, batch_pairs, list_batches, load_batch
from berdseye.annotation.judgments.log import Annotator, PairRecord
from berdseye.app.access.roles import may, right_of_page
from berdseye.app.access.session import annotator, errors_in_place, judgments, name_entry, role, workspace
from berdseye.app.cached.overview import batches_waiting
from berdseye.app.components.desk import Desk, draw_desk
from berdseye.app.components.keys import ANNOTATE, key_list, keyboard
from berdseye.app.components.page_button import page_button
from berdseye.app.components.plain_text import escaped
from berdseye.data.errors import BadInputError
from berdseye.data.records import Pair
from berdseye.data.runs.stored import list_runs
from berdseye.detectors.detector_registry import parse_detector
from berdseye.detectors.labelling import opined
from berdseye.detectors.trained import adopted_detector

CHOSEN_RUNS = "pairs of runs that you choose"
_UNKNOWN = "unknown batch"


@st.cache_data(max_entries=20, show_spinner="Gathering the pairs of these runs…")
def queue(runs: tuple[str, ...], created: tuple[str, ...], k: int) -> dict[str, PairRecord]:
    """Return the pairs of the top k of the runs, by key. `created` is part of the cache key, so that a run made again is
    read again."""
    del created
    return pairs_of_runs(workspace(), runs, k)


def chosen_batch(person: Annotator) -> Batch | None:
    """Draw the choice of what to judge and return the batch, or None for pairs of runs. The batches open to this person are
    listed newest first."""
    open_ones = {b.name: b for b in list_batches(judgments()) if b.is_open and b.admits(person)}
    names, asked = [*open_ones, CHOSEN_RUNS], str(st.query_params.get("batch", ""))
    if asked:  # Streamlit drops a name that is not in the list from the address
        st.session_state[_UNKNOWN] = "" if asked in names else asked
    if not open_ones and not st.session_state.get(_UNKNOWN):
        return None
    chosen = st.selectbox(
        "What to judge",
        names,
        key="batch",
        bind="query-params",
        label_visibility="collapsed",
        on_change=_take_what_is_shown,
    )
    return open_ones.get(str(chosen))


def is_another_queue(batch: Batch | None) -> bool:
    """Whether the address named a batch that this person cannot judge, so that the page shows another queue. Its pairs are
    offered only after a click."""
    unknown, shown = st.session_state.get(_UNKNOWN), CHOSEN_RUNS if batch is None else batch.name
    if not unknown:
        return False
    st.warning(
        f"There is no batch open to you with the name “{escaped(unknown)}”; this is “{escaped(shown)}”.",
        icon=":material/link_off:",
    )
    st.button(f"Judge {escaped(shown)}", icon=":material/rule:", key="judge-another", on_click=_take_what_is_shown)
    return True


def _take_what_is_shown() -> None:
    st.session_state.pop(_UNKNOWN, None)


def nothing_to_judge(person: Annotator) -> bool:
    """Whether no batch is open to this person and there are no runs; the page then says so, with the way to both."""
    if list_runs(workspace()) or any(b.is_open and b.admits(person) for b in list_batches(judgments())):
        return False
    st.info(
        "There is nothing to judge yet: no batch is open to you, and this workspace has no runs.",
        icon=":material/rule:",
    )
    with st.container(horizontal=True):
        page_button("runs", "Go to Runs", key="empty-to-runs", icon="leaderboard", kind="primary")
        page_button("batches", "New batch", key="empty-to-batches", icon="add", new="")
    if not may(role(), right_of_page("batches")):
        st.caption("A researcher of your team can send you a batch.")
    return True


def chosen_pairs() -> dict[str, PairRecord]:
    """Draw the choice of runs and of k, and return the pairs of their top k by key. Raises `BadInputError` where there
    are none."""
    runs = {r.name: r for r in list_runs(workspace())}
    with st.popover("Runs to judge", icon=":material/leaderboard:"):
        chosen = st.multiselect("Runs", list(runs), default=list(runs)[:2], key="runs", bind="query-params")
        k = st.number_input("Top k", 1, 100, 5, key="depth", bind="query-params")
    if not chosen:
        raise BadInputError("You have chosen no run.", hint="Choose at least one above.")
    pairs = queue(tuple(chosen), tuple(runs[name].created for name in chosen), int(k))
    if not pairs:
        raise BadInputError(
            "These runs have no pairs to judge.",
            hint="Their questions have no perspectives, or the runs retrieved nothing. Choose other runs.",
        )
    return pairs


def opinion(record: PairRecord) -> str:
    """The adopted detector's opinion of a pair, as Markdown."""
    detector = parse_detector(adopted_detector(workspace()), workspace())
    [found] = opined(workspace(), detector, [Pair(record.passage, record.perspective, record.title)])
    return f"detector {escaped(detector.name)}: **{found.opinion}**, {found.probabilities}"


def runs_finished() -> None:
    """Draw what is shown when no pair of the chosen runs is left."""
    st.success("You have judged every pair of these runs. Choose other runs or a larger k.")


def batch_finished(person: Annotator, name: str) -> None:
    """Draw what is shown when a batch has no pair for this person, and buttons that lead to what comes next."""
    batch = load_batch(judgments(), name)  # it may have been closed since the page was drawn
    queue, shown = BatchQueue(judgments(), batch), escaped(name)
    done, pairs = queue.done(person)
    kinds = judgments().judged_pairs(person)
    skipped = "skip" in {kinds.get(pair) for pair in batch_pairs(judgments(), batch)}
    if done == pairs:
        judged = "judged or skipped" if skipped else "judged"
        st.success(f"You have {judged} {'the only pair' if pairs == 1 else f'all {pairs:,} pairs'} of {shown}.")
    elif not batch.is_open:
        st.info(f"The batch {shown} is closed.")
    elif queue.left(person):
        st.info("No pair of this batch needs you now. A pair that another annotator has open returns if they leave it.")
    else:
        st.success(f"No pair of {shown} needs you any more: other people have judged the rest.")
    with st.container(horizontal=True):
        following = next((w for w in batches_waiting(person) if w.batch.name != name), None)
        if following is not None:
            page_button(
                "annotate",
                f"Judge {escaped(following.batch.name)}: {following.left:,} left",
                key="finished-to-batch",
                icon="rule",
                kind="primary",
                batch=following.batch.name,
            )
        page_button("home", "Home", key="finished-to-home", icon="home")


def page() -> None:
    """Draw the page."""
    person = annotator()
    if person is None:
        name_entry("name_entry_of_page")
        return
    if nothing_to_judge(person):
        return
    with st.container(horizontal=True, horizontal_alignment="right", vertical_alignment="center"):
        batch = chosen_batch(person)
        if is_another_queue(batch):
            return
        pairs = chosen_pairs() if batch is None else {}
        key_list(ANNOTATE)
    if batch is None:
        draw_desk(Desk("runs", person, RunsQueue(judgments(), pairs), runs_finished, opinion=opinion))
    else:
        finished = partial(batch_finished, person, batch.name)
        draw_desk(Desk(f"batch {batch.name}", person, BatchQueue(judgments(), batch), finished, batch))
    keyboard(ANNOTATE)


with errors_in_place():
    page()
