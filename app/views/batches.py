"""The Batches page: the batches with their progress, the details of one, and the form that creates another."""

import streamlit as st

from berdseye.annotation.batches.stored import list_batches
from berdseye.app.access.session import errors_in_place, judgments, workspace
from berdseye.app.components.batches.batch_details import draw_batch_details
from berdseye.app.components.batches.batch_list import BATCH, draw_batch_list
from berdseye.app.components.batches.new_batch import AWAITED, CREATED, NEW, begin_new, draw_new_batch
from berdseye.app.components.batches.power_panel import draw_power
from berdseye.app.components.job_box import draw_unfinished_jobs
from berdseye.app.components.page_button import page_button
from berdseye.app.components.plain_text import escaped
from berdseye.app.jobs.batches import batch_title, creates_batch
from berdseye.data.runs.stored import list_runs

WHAT_IT_IS = "A batch is a set of pairs that you send out for judging, to anyone or to the people whom you name."


def draw_nothing() -> None:
    """Explain what a batch is, with the button that creates the first."""
    st.info(f"No batches yet. {WHAT_IT_IS}", icon=":material/inventory_2:")
    with st.container(horizontal=True):
        new_button()
        if not list_runs(workspace()):
            page_button("runs", "Go to Runs", key="empty-to-runs", icon="leaderboard")
    if not list_runs(workspace()):
        st.caption("Most batches take their pairs from runs, and this workspace has no runs yet.")


def new_button() -> None:
    """Draw the button that begins a new batch."""
    st.button("New batch", icon=":material/add:", type="primary", key="new-batch", on_click=begin_new)


def page() -> None:
    """Draw the page."""
    if message := st.session_state.pop(CREATED, ""):
        st.success(escaped(message), icon=":material/check:")
    if NEW in st.query_params:
        draw_new_batch()
        return
    batches = list_batches(judgments())
    if st.session_state.get(AWAITED) in {batch.name for batch in batches}:
        st.query_params.from_dict({BATCH: st.session_state.pop(AWAITED)})
    name = st.query_params.get(BATCH, "")
    chosen = next((batch for batch in batches if batch.name == name), None)
    if chosen is not None:
        draw_batch_details(chosen)
        return
    if name:
        st.warning(f"No batch is called {escaped(name)}.", icon=":material/search_off:")
    draw_unfinished_jobs("batches", creates_batch, titled=batch_title)
    if not batches:
        draw_nothing()
    else:
        new_button()
        draw_batch_list(batches)
    draw_power()


with errors_in_place():
    page()
