"""A new batch: the choice of its kind, its form, what will be created, and its creation."""

from collections.abc import Iterator
from contextlib import contextmanager

import streamlit as st

from berdseye.annotation.batches.stored import EVENT_KINDS
from berdseye.annotation.judgments.pace import seconds_a_judgment
from berdseye.app.access.roles import check, right_of_command
from berdseye.app.access.session import acting_person, errors_in_place, judgments, role, started_by, workspace
from berdseye.app.cached.batches import expected
from berdseye.app.components.batches.batch_form import Filled, batch_form, uploads_folder
from berdseye.app.components.batches.kinds import BY_NAME, KINDS, Kind
from berdseye.app.components.page_button import page_button
from berdseye.app.components.plain_text import escaped
from berdseye.app.jobs.batches import create_arguments, fits_job
from berdseye.app.jobs.running import start_job
from berdseye.data.errors import BerdseyeError
from berdseye.data.progress import Progress
from berdseye.data.runs.stored import list_runs
from berdseye.data.texts.counts import counted
from berdseye.evaluation.selection.request import BatchRequest, ExpectedBatch, create_requested_batch

NEW = "new"
"""The query parameter that keeps the kind of the new batch; it is empty while none is chosen."""
CREATED = "batch_created"
"""The key of the session state with the message about what has just been created."""
AWAITED = "batch_awaited"
"""The key of the session state with the name of the batch that a job creates; the page opens it once it exists."""
MANY_UNLABELLED = 100
"""The number of pairs without a label from which on the batch is created as a job."""
_ACROSS = 4
_WIDE = """<style>
.st-key-kinds .stButton button { padding: 0; justify-content: flex-start; text-align: left; }
.st-key-kinds .stButton button p { font-weight: 600; }
.st-key-kinds .stColumn [data-testid="stVerticalBlock"] { gap: 0.25rem; }
.st-key-kinds [data-testid="stColumn"] { min-width: 10rem; }
</style>"""


def draw_new_batch() -> None:
    """Draw the kinds of batches, or the form of the kind that was chosen."""
    kind = BY_NAME.get(st.query_params.get(NEW, ""))
    if kind is None:
        _draw_kinds()
        return
    with st.container(horizontal=True, vertical_alignment="center"):
        st.button("All kinds", icon=":material/arrow_back:", type="tertiary", key="other-kind", on_click=begin_new)
        st.markdown(f"**:material/{kind.icon}: {kind.title}** · {kind.text}")
    if not list_runs(workspace()) and {"runs", "two runs"} & set(kind.sources):
        _no_runs(kind)
        if "pairs file" not in kind.sources:
            return
    left, right = st.columns([5, 3], gap="large")
    with left, _upload_errors():
        filled = batch_form(kind)
        with right, st.container(border=True), _upload_errors():
            _draw_outcome(filled)


def begin_new(kind: str = "") -> None:
    """Open the form of a kind of batch, or the choice of the kind."""
    st.query_params.from_dict({NEW: kind})


def leave_new() -> None:
    """Return to the list of batches."""
    st.query_params.clear()


def _draw_kinds() -> None:
    st.button("All batches", icon=":material/arrow_back:", type="tertiary", key="leave-new", on_click=leave_new)
    st.subheader("What should this batch do?", anchor=False)
    st.html(_WIDE)
    with st.container(key="kinds"):
        for start in range(0, len(KINDS), _ACROSS):
            row = st.columns(_ACROSS)
            for column, kind in zip(row, KINDS[start : start + _ACROSS], strict=False):
                with column.container(border=True, height="stretch"):
                    st.button(
                        kind.title,
                        icon=f":material/{kind.icon}:",
                        key=f"kind-{kind.name}",
                        type="tertiary",
                        on_click=begin_new,
                        args=(kind.name,),
                    )
                    st.caption(kind.text)


def _no_runs(kind: Kind) -> None:
    other = " You can also upload a file of pairs." if "pairs file" in kind.sources else ""
    st.info(
        f"This workspace has no runs yet, and this kind of batch takes its pairs from runs.{other}",
        icon=":material/leaderboard:",
    )
    page_button("runs", "Go to Runs", key="to-runs", icon="leaderboard", kind="primary")


@contextmanager
def _upload_errors() -> Iterator[None]:
    """Show an error in its place. A file that was uploaded is called by its own name."""
    with errors_in_place():
        try:
            yield
        except BerdseyeError as error:
            where = f"{uploads_folder()}/"
            if where not in str(error):
                raise
            before, _, after = str(error).partition(where)
            st.error(escaped(before + after.partition("/")[2]), icon=":material/error:")


def _draw_outcome(filled: Filled) -> None:
    """Draw what will be created, with the button that creates it."""
    st.markdown("**What will be created**")
    outcome = None
    with _upload_errors():
        if filled.missing:
            st.caption(filled.missing)
        else:
            outcome = expected(filled.request)
            _draw_expected(filled.request, outcome)
    made = st.button(
        "Create batch",
        icon=":material/add:",
        type="primary",
        key="create-batch",
        disabled=outcome is None or not outcome.pairs,
        width="stretch",
    )
    if made and outcome is not None:
        create(filled.request, unlabelled=outcome.unlabelled)


def _draw_expected(request: BatchRequest, outcome: ExpectedBatch) -> None:
    most = "up to " if outcome.most else ""
    lines = [f"{most}**{counted(outcome.pairs, 'pair')}**, {most}**{counted(outcome.judgments, 'judgment')}**"]
    shared = min(request.calibration, outcome.pairs)
    if outcome.each is None:
        lines.append("Anyone may judge them.")
    else:
        about = "" if outcome.each == int(outcome.each) else "about "
        each = f"{about}**{round(outcome.each):,}** for each of {counted(len(set(request.people)), 'person', 'people')}"
        lines.append(f"{each}{f', {shared} of them calibration pairs' if shared else ''}")
    pace = seconds_a_judgment(judgments(), EVENT_KINDS[request.task])
    if pace is not None:
        whose = "in all" if outcome.each is None else "each"
        spent = (outcome.judgments if outcome.each is None else outcome.each) * pace
        lines.append(f"about **{_duration(spent)}** {whose}, at {pace:.0f} s a judgment, the mean so far")
    for line in lines:
        st.markdown(f"{line[0].upper()}{line[1:]}")
    if outcome.unlabelled:
        job = " This runs as a job." if outcome.unlabelled > MANY_UNLABELLED and fits_job(request) else ""
        st.caption(f"The detector labels {counted(outcome.unlabelled, 'pair')} first.{job}")
    st.caption("Judgments of these pairs that exist already count.")


def _duration(seconds: float) -> str:
    minutes = max(1, round(seconds / 60))
    return f"{minutes} min" if minutes < 90 else f"{minutes / 60:.1f} hours"


def create(request: BatchRequest, *, unlabelled: int) -> None:
    """Create a batch, as a job if the detector must label many pairs first, and open it or the list."""
    check(role(), right_of_command(("batch", "create")), started_by() or "this person")
    if unlabelled > MANY_UNLABELLED and fits_job(request):
        start_job(workspace(), create_arguments(request), person=started_by())
        st.session_state[AWAITED] = request.name
        leave_new()
    else:
        batch, pairs = create_requested_batch(
            workspace(), judgments(), request, made_by=acting_person(), counting=_progress_bar
        )
        st.session_state[CREATED] = f"Created {batch.name}: {counted(pairs, 'pair')}."
        st.query_params.from_dict({"batch": batch.name})
    st.rerun()


@contextmanager
def _progress_bar(work: str) -> Iterator[Progress]:
    """Show the progress of long work as a bar."""
    bar = st.progress(0.0, text=escaped(work))

    def show(done: int, what: str, total: int | None = None, /) -> None:
        of_total = f" of {total:,}" if total else ""
        bar.progress(min(1.0, done / total) if total else 0.0, text=escaped(f"{work}: {done:,}{of_total} {what}"))

    yield show
    bar.empty()
