"""The details of one batch: what it asks for, how far it is, the share of each person, its flags, and what to do with it."""

import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pandas as pd
import streamlit as st

from berdseye.annotation.batches.check_outcomes import check_outcomes, outcome_text
from berdseye.annotation.batches.progress import Progress, Share, batch_frame, batch_progress, batch_shares, flags
from berdseye.annotation.batches.qualification import known_answers, qualification
from berdseye.annotation.batches.stored import Batch, close_batch, load_batch
from berdseye.annotation.checks import PURPOSE
from berdseye.annotation.label_studio.batch_projects import write_batch_file
from berdseye.annotation.label_studio.connection import server_url
from berdseye.app.access.roles import Right, check, may, right_of_command
from berdseye.app.access.session import (
    acting_person,
    annotator,
    errors_in_place,
    judgments,
    role,
    started_by,
    workspace,
)
from berdseye.app.cached.batches import standing
from berdseye.app.components.batches.batch_list import draw_progress_bar, people_of, state_badge
from berdseye.app.components.downloads import download
from berdseye.app.components.job_box import draw_unfinished_jobs
from berdseye.app.components.page_button import page_button
from berdseye.app.components.plain_text import escaped
from berdseye.app.jobs.running import start_job
from berdseye.data.files.tables import to_csv, to_jsonl, to_parquet
from berdseye.evaluation.selection.decision import DECIDE, decides

FORMATS = {"csv": ("CSV", to_csv), "jsonl": ("JSONL", to_jsonl), "parquet": ("Parquet", to_parquet)}
"""The formats of an export by the ending of the file: the name, and the function that converts a table."""
_ORDERS = {
    "batch": "as they were chosen",
    "uncertainty": "drawn, the least certain more often",
    "random": "drawn at random",
    "disagreement": "disputed pairs first",
    "decision": "drawn, the most informative more often",
}
_TASKS = {
    "judge": "Does the passage support the perspective?",
    "verify": "Is the decision of the detector right?",
    "prefer": "Which of two answers is better?",
    "check": "Is the constructed data right?",
}


def draw_batch_details(batch: Batch) -> None:
    """Draw a batch with its buttons."""
    progress = batch_progress(judgments(), batch, time=time.time())
    with st.container(horizontal=True, vertical_alignment="center"):
        st.button(
            "All batches",
            icon=":material/arrow_back:",
            type="tertiary",
            key="all-batches",
            on_click=st.query_params.clear,
        )
        st.subheader(escaped(batch.name), anchor=False, width="content")
        st.markdown(state_badge(batch), width="content")
    with st.container(horizontal=True, vertical_alignment="center", key="batch-actions"):
        _draw_buttons(batch, progress)
    draw_unfinished_jobs(f"push-{batch.name}", lambda job: job.arguments[:3] == ("label-studio", "push", batch.name))
    draw_progress_bar(progress.judgments - progress.extra, progress.wanted)
    st.caption(progress_text(progress))
    if decides(batch):
        _draw_standing(batch)
    if batch.check is not None:
        st.info(escaped(outcome_text(batch.check, check_outcomes(judgments(), batch))), icon=":material/checklist:")
    left, right = st.columns(2, gap="large")
    with left:
        _draw_shares(batch_shares(judgments(), batch))
        if known_answers(batch) and _may("batch", "qualification"):
            _draw_qualification(batch)
        _draw_flags(batch, flags(judgments(), batch))
    with right:
        st.markdown("**What it asks for**")
        st.table(pd.DataFrame(asked_for(batch), columns=["", " "]).set_index(""), border="horizontal", hide_header=True)


def progress_text(progress: Progress) -> str:
    """Describe the progress of the pairs in one line."""
    parts = [f"{progress.finished:,} of {progress.pairs:,} pairs finished", f"{progress.disputed:,} disputed"]
    parts.append(f"{progress.decided:,} adjudicated")
    if progress.reserved:
        parts.append(f"{progress.reserved:,} reserved by people who are judging")
    if progress.extra:
        parts.append(f"{progress.extra:,} judgments more than asked for")
    return " · ".join(parts)


def asked_for(batch: Batch) -> list[tuple[str, str]]:
    """Return what a batch asks for as pairs of a name and Markdown."""
    recipe = batch.recipe
    task = _TASKS[batch.task] if batch.check is None else batch.check.question
    rows = [("Task", task), ("People", escaped(people_of(batch)))]
    if purpose := recipe.get(PURPOSE):
        rows.append(
            ("Qualifies people as", "an exam, without feedback" if purpose == "exam" else "training, with feedback")
        )
    rows.append(("People for each pair", f"{batch.per_pair:,}"))
    if batch.calibration:
        rows.append(("Calibration pairs", f"{batch.calibration:,}, judged first by everyone"))
    if decides(batch):
        rows.append(("Decides between", " and ".join(escaped(run) for run in recipe[DECIDE])))
        rows.append(("Measure", escaped(str(recipe["measure"]))))
    elif runs := recipe.get("runs"):
        rows.append(("Runs", ", ".join(escaped(str(run)) for run in runs)))
        rows.append(("Top k", escaped(str(recipe.get("k", "")))))
    elif file := recipe.get("file"):
        rows.append(("File", escaped(str(file))))
    for key, title in (("preset", "Preset"), ("questions", "Questions of each data set"), ("sample", "Sample")):
        if key in recipe:
            rows.append((title, escaped(str(recipe[key]))))
    if without := recipe.get("without"):
        rows.append(("Without the questions of", escaped(", ".join(map(str, without)))))
    rows += [("Order", _ORDERS[batch.order]), ("Detector's label before judging", _sight(batch))]
    if detector := recipe.get("detector"):
        rows.append(("Detector", escaped(str(detector))))
    rows.append(("Guidelines", f"its own, {batch.guidelines}" if batch.guidelines else "those of the workspace"))
    rows.append(("Reservation", f"{batch.hold / 60:g} minutes"))
    rows.append(("Created", f"{batch.at[:10]}{f' by {escaped(batch.made_by)}' if batch.made_by else ''}"))
    return rows


def _sight(batch: Batch) -> str:
    if batch.shown_share is not None:
        return f"an experiment: shown for a random {batch.shown_share:.0%}"
    return "hidden (blind)" if batch.blind else "shown"


def _draw_buttons(batch: Batch, progress: Progress) -> None:
    person = annotator()
    admitted = person is None or batch.admits(person)
    page_button(
        "annotate",
        "Judge it",
        key="judge-it",
        icon="rule",
        kind="primary",
        disabled=not batch.is_open or not admitted,
        help=None if batch.is_open and admitted else _why_not(batch),
        batch=batch.name,
    )
    page_button(
        "adjudication",
        f"Adjudicate {progress.disputed:,}" if progress.disputed else "Adjudicate",
        key="adjudicate-it",
        icon="gavel",
        disabled=not progress.disputed,
        help=None if progress.disputed else "No pair is disputed.",
        of=batch.name,
    )
    st.button(
        "Close" if batch.is_open else "Open again",
        icon=":material/lock:" if batch.is_open else ":material/lock_open:",
        key="close-batch",
        help="A closed batch serves no pairs. Its judgments are kept." if batch.is_open else None,
        on_click=change_state,
        args=(batch,),
    )
    _draw_push(batch)
    if _may("batch", "export"):
        with st.popover("Export", icon=":material/download:"):
            _draw_exports(batch)


def _why_not(batch: Batch) -> str:
    return "Only the people of this batch get its pairs." if batch.is_open else "A closed batch serves no pairs."


def _may(*words: str) -> bool:
    right: Right | None = right_of_command(words)
    return may(role(), right)


def change_state(batch: Batch) -> None:
    """Close an open batch, or open a closed one again."""
    with errors_in_place():
        check(role(), right_of_command(("batch", "close")), started_by() or "this person")
        now = load_batch(judgments(), batch.name)
        close_batch(judgments(), now, made_by=acting_person(), reopen=not batch.is_open)


def _draw_push(batch: Batch) -> None:
    """Draw the button that pushes the batch, if there is a Label Studio server that can take it."""
    words = ("label-studio", "push", batch.name)
    if not batch.is_open or batch.shown_share is not None or not _may(*words) or not server_url(workspace()):
        return
    if st.button(
        "Push to Label Studio",
        icon=":material/upload:",
        key="push-batch",
        help="Creates a project for each annotator there, or one project if anyone may judge.",
    ):
        check(role(), right_of_command(words), started_by() or "this person")
        start_job(workspace(), words, person=started_by())
        st.rerun()


def _draw_exports(batch: Batch) -> None:
    st.markdown("**Judgments** with their pairs and adjudicated verdicts")
    with st.container(horizontal=True):
        for ending, (name, convert) in FORMATS.items():
            download(name, partial(_table, batch, convert), f"{batch.name}.{ending}", key=f"export-{ending}")
    if batch.shown_share is None:
        form = partial(tasks_file, batch, interface=True)
        st.markdown("**Tasks** for a Label Studio server that cannot be reached from here")
        with st.container(horizontal=True):
            download("Tasks", partial(tasks_file, batch, interface=False), f"{batch.name}.json", key="export-tasks")
            download(
                "Labeling interface",
                form,
                f"{batch.name}.config.xml",
                key="export-interface",
            )


def _table(batch: Batch, convert: Callable[[pd.DataFrame], bytes]) -> bytes:
    return convert(batch_frame(judgments(), batch))


def tasks_file(batch: Batch, *, interface: bool) -> bytes:
    """Return the tasks of a batch for Label Studio, or the labeling interface of their project."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "tasks.json"
        form = write_batch_file(judgments(), batch, path)
        return (form if interface else path).read_bytes()


def _draw_standing(batch: Batch) -> None:
    with errors_in_place():
        if (now := standing(batch.name)) is not None:
            show = st.success if now.settled else st.info
            show(escaped(str(now)), icon=":material/check:" if now.settled else ":material/compare_arrows:")


def _draw_shares(shares: tuple[Share, ...]) -> None:
    st.markdown("**People**")
    if not shares:
        st.caption("Nobody has judged yet.")
        return
    frame = pd.DataFrame(shares)
    number = st.column_config.NumberColumn
    st.dataframe(
        frame,
        hide_index=True,
        key="batch-shares",
        placeholder="–",
        column_config={
            "name": "Person",
            "judgments": number("Judgments"),
            "skipped": number("Skipped"),
            "flagged": number("Flagged"),
            "seconds": number("Median seconds", format="%.1f", help="Of the judgments on the Annotate page."),
        },
    )


def _draw_qualification(batch: Batch) -> None:
    st.markdown("**Qualification**")
    people = qualification(judgments(), batch)
    rows = [{**person._asdict(), "share": None if person.share is None else 100 * person.share} for person in people]
    number = st.column_config.NumberColumn
    st.dataframe(
        pd.DataFrame(rows, columns=["name", "passed", "share", "right", "answered", "known"]),
        hide_index=True,
        key="batch-qualification",
        placeholder="–",
        column_config={
            "name": "Person",
            "passed": "Passed",
            "share": number("Right, %", format="%.1f", help="Of the answers given."),
            "right": number("Right"),
            "answered": number("Answered"),
            "known": number("Items"),
        },
    )


def _draw_flags(batch: Batch, flagged: pd.DataFrame) -> None:
    if flagged.empty:
        return
    checks = batch.check is not None
    st.markdown("**Difficult items**" if checks else "**Flagged perspectives**")
    st.dataframe(
        flagged[["perspective", "annotator", "comment"]],
        hide_index=True,
        key="batch-flags",
        column_config={
            "perspective": "Statement" if checks else "Perspective",
            "annotator": "Marked by" if checks else "Flagged by",
            "comment": "Comment",
        },
    )
    if checks:
        return
    page_button("perspectives", "Edit perspectives", key="to-perspectives", icon="forum", kind="tertiary")
