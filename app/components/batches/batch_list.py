"""The list of the batches, the newest first, each with its task, its state and its progress."""

import time
from collections.abc import Sequence

import streamlit as st

from berdseye.annotation.batches.progress import batch_progress
from berdseye.annotation.batches.stored import Batch
from berdseye.app.access.session import judgments
from berdseye.app.components.plain_text import escaped

BATCH = "batch"
"""The query parameter that keeps the chosen batch by its name."""
_A_PAGE = 15
_WIDTHS = (5, 2, 2, 6, 4, 2)
_COLUMNS = ("Batch", "Task", "State", "Judgments", "People", "Disputed")
_QUIET = """<style>
.st-key-batch-list { gap: 0; }
.st-key-batch-list [data-testid="stHorizontalBlock"] {
  padding: 0.375rem 0; border-bottom: 1px solid color-mix(in srgb, currentColor 12%, transparent);
}
.st-key-batch-list .stMarkdown p { font-size: 0.875rem; overflow-wrap: anywhere; }
.st-key-batch-list .stButton button { padding: 0; min-height: 1.75rem; text-align: left; }
.st-key-batch-list .stButton button p { overflow-wrap: anywhere; font-weight: 600; }
.st-key-batch-list [data-testid="stProgress"] > div { padding: 0; }
@media (max-width: 640px) {
  .st-key-batch-list-head { display: none; }
  .st-key-batch-list [data-testid="stHorizontalBlock"] { flex-flow: row wrap; gap: 0 0.75rem; }
  .st-key-batch-list [data-testid="stColumn"] { min-width: 0; width: auto; flex: 0 1 auto; }
  .st-key-batch-list [data-testid="stColumn"]:first-child, .st-key-batch-list [data-testid="stColumn"]:nth-child(4) {
    flex: 1 1 100%; min-width: 100%;
  }
}
</style>"""


def open_batch(name: str) -> None:
    """Show the details of a batch."""
    st.query_params.from_dict({BATCH: name})


def draw_batch_list(batches: Sequence[Batch]) -> None:
    """Draw the batches as rows; the name of each opens its details."""
    st.html(_QUIET)
    pages = -(-len(batches) // _A_PAGE)
    page = st.session_state.get("batches-page", 1) if pages > 1 else 1
    with st.container(key="batch-list"):
        with st.container(key="batch-list-head"):
            for column, title in zip(st.columns(_WIDTHS), _COLUMNS, strict=True):
                column.caption(title)
        for batch in batches[(page - 1) * _A_PAGE : page * _A_PAGE]:
            _draw_row(batch)
    if pages > 1:
        st.pagination(pages, key="batches-page")


def state_badge(batch: Batch) -> str:
    """Return Markdown of the state of a batch."""
    return ":green-badge[open]" if batch.is_open else ":gray-badge[closed]"


def people_of(batch: Batch) -> str:
    """Return the names of the people of a batch, or that anyone may judge it."""
    return ", ".join(person.name for person in batch.people) if batch.people else "anyone"


def _draw_row(batch: Batch) -> None:
    progress = batch_progress(judgments(), batch, time=time.time())
    name, task, state, bar, who, disputed = st.columns(_WIDTHS, vertical_alignment="center")
    name.button(escaped(batch.name), key=f"open-{batch.name}", type="tertiary", on_click=open_batch, args=(batch.name,))
    task.markdown(batch.task)
    state.markdown(state_badge(batch))
    with bar:
        draw_progress_bar(progress.judgments - progress.extra, progress.wanted)
    who.markdown(escaped(people_of(batch)))
    disputed.markdown(f":orange[{progress.disputed:,} disputed]" if progress.disputed else "")


def draw_progress_bar(judged: int, wanted: int) -> None:
    """Draw how many of the judgments that a batch asks for exist."""
    st.progress(min(1.0, judged / wanted) if wanted else 0.0, text=f"{judged:,} of {wanted:,}")
