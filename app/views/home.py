"""The start page: what the workspace holds, what waits for the person, its last runs, and ways to begin."""

import math
from typing import Literal

import pandas as pd
import streamlit as st

from berdseye.app.access.roles import may, right_of_page
from berdseye.app.access.session import annotator, errors_in_place, name_entry, role, started_by, workspace
from berdseye.app.cached.overview import (
    MEASURE,
    Holdings,
    batches_waiting,
    disputed_pairs,
    holdings,
    last_runs,
    open_proposals,
)
from berdseye.app.components.first_steps import draw_first_steps
from berdseye.app.components.job_box import draw_unfinished_jobs
from berdseye.app.components.judging import age
from berdseye.app.components.page_button import open_page
from berdseye.app.components.plain_text import escaped
from berdseye.app.jobs.running import list_jobs, start_job
from berdseye.data.texts.counts import counted, plural
from berdseye.evaluation.labels.sources import default_source

# A count is large and aligned with what is counted; a border on the left separates one from the next.
TILES = """<style>
.st-key-holdings [data-testid="stColumn"] { border-left: 3px solid #1f69a6; padding-left: 0.25rem; }
.st-key-holdings [data-testid="stBaseButton-tertiary"] p { font-size: 1rem; }
.st-key-holdings [data-testid="stBaseButton-tertiary"] strong { font-size: 1.375rem; }
.st-key-holdings [data-testid="stCaptionContainer"] { padding-left: 0.5rem; }
</style>"""


def allowed(page: str) -> bool:
    """Whether the person's role includes a page."""
    return may(role(), right_of_page(page))


def draw_holdings(held: Holdings) -> None:
    """Draw the counts of the workspace, each with a link to its page."""
    tiles = (
        (
            "data",
            f"**{held.corpora:,}** {plural(held.corpora, 'corpus', 'corpora')}",
            counted(held.passages, "passage"),
            "Corpora",
        ),
        (
            "data",
            f"**{held.datasets:,}** {plural(held.datasets, 'data set')}",
            counted(held.questions, "question"),
            "Data sets",
        ),
        ("runs", f"**{held.runs:,}** {plural(held.runs, 'run')}", "of pipelines on data sets", ""),
        ("agreement", f"**{held.judgments:,}** {plural(held.judgments, 'judgment')}", _people(held.people), ""),
    )
    st.html(TILES)
    with st.container(key="holdings"):
        for column, (page, text, detail, show) in zip(st.columns(len(tiles)), tiles, strict=True):
            with column, st.container(gap=None):
                _link(page, text, "", **({"show": show} if show else {}))
                st.caption(detail)


def _people(count: int) -> str:
    return f"by {counted(count, 'person', 'people')}" if count else "by nobody yet"


def draw_waiting() -> None:
    """Draw what waits for the person: batches, disputes, proposals, and jobs that failed."""
    st.markdown("##### Waiting for you")
    person = annotator()
    found = False
    if person is None:
        st.caption("Enter your name to see what waits for you.")
        name_entry("name_entry_of_page")
        return
    for waiting in batches_waiting(person):
        found = True
        _link(
            "annotate",
            f"{waiting.left:,} of {waiting.pairs:,} pairs to judge in the batch {escaped(waiting.batch.name)}",
            "rule",
            batch=waiting.batch.name,
        )
    if allowed("adjudication") and (disputed := disputed_pairs()):
        found = True
        _link("adjudication", f"{counted(disputed, 'disputed pair')} to decide", "gavel")
    if may(role(), "adjudicate"):
        for dataset, number in open_proposals().items():
            found = True
            text = f"{counted(number, 'proposed edit')} of perspectives in {escaped(dataset)}"
            _link("perspectives", text, "forum", dataset=dataset)
    if allowed("jobs"):
        failed = sum(job.state in ("failed", "cut off") for job in list_jobs(workspace()))
        if failed:
            found = True
            _link("jobs", f"{counted(failed, 'job')} did not finish", "error")
    if not found:
        st.caption("Nothing waits for you.")


def _link(page: str, text: str, icon: str, **query: str) -> None:
    """Draw a link to a page, which only those follow whose role includes it."""
    label = f":material/{icon}: {text}" if icon else text
    if st.button(label, key=f"to-{page}-{text}", type="tertiary", disabled=not allowed(page)):
        open_page(page, **query)


def draw_beginnings() -> None:
    """Draw three ways to begin: with a question, with pairs to judge, or with a pipeline to measure."""
    st.markdown("##### Begin")
    ways = (
        (
            "explore",
            "Ask a question",
            ":material/travel_explore:",
            "Read what each corpus says first, and what it leaves out.",
        ),
        ("annotate", "Judge pairs", ":material/rule:", "Does a passage support a perspective? One key per pair."),
        (
            "runs",
            "Measure a pipeline",
            ":material/leaderboard:",
            "It ranks passages for every question.",
        ),
    )
    for page, label, icon, text in ways:
        if allowed(page):
            with st.container(gap="xxsmall"):
                if st.button(label, icon=icon, width="stretch", key=f"begin-{page}"):
                    open_page(page)
                st.caption(text)


def draw_set_up(held: Holdings) -> None:
    """Draw the steps of an empty workspace, with a tick for those that are done."""
    st.markdown("##### Set up this workspace")
    steps = (
        (held.corpora, "data", "Add a corpus", "Passages to search: upload documents, or search the web.", "Corpora"),
        (held.datasets, "data", "Add questions", "With their perspectives: upload, write or fetch them.", "Data sets"),
        (
            held.runs,
            "runs",
            "Run a pipeline",
            "It ranks passages for every question. Then measure, compare and judge.",
            "",
        ),
    )
    missing = [number for number, (done, *_) in enumerate(steps) if not done]
    for number, (done, page, label, text, show) in enumerate(steps):
        with st.container(horizontal=True, vertical_alignment="center"):
            st.markdown(":green[:material/check_circle:]" if done else f"**{number + 1}**", width=32)
            kind: Literal["primary", "secondary"] = "primary" if number == missing[0] else "secondary"
            if st.button(label, key=f"set-up-{number}", type=kind, width=200) and allowed(page):
                open_page(page, **({"show": show} if show else {}))
            st.caption(text)
    loading = any(job.runs and job.arguments[:1] == ("demo",) for job in list_jobs(workspace()))
    if may(role(), "administer") and len(missing) == len(steps) and not loading:
        with st.container(horizontal=True, vertical_alignment="center"):
            if st.button("Load the demo data", icon=":material/school:", type="tertiary", key="load-demo"):
                start_job(workspace(), ("demo",), person=started_by())
                st.rerun()
            st.caption("Or look around first: 24 questions over three small corpora, with runs and judgments.")
    draw_unfinished_jobs("demo", lambda job: job.arguments[:1] == ("demo",))


def draw_last_runs() -> None:
    """Draw the newest runs, each with its value and its difference from the best other run on the same data."""
    rows = [
        {
            "data set": last.run.dataset,
            "corpus": last.run.corpus,
            "pipeline": last.run.pipeline,
            MEASURE: last.value,
            "difference": None if math.isnan(last.difference) else last.difference,
            "made": age(last.run.created),
        }
        for last in last_runs()
    ]
    if not rows:
        return
    st.markdown(
        "##### Last runs", help=f"{MEASURE} in percent, with labels from {escaped(default_source(workspace()))}."
    )
    st.dataframe(
        pd.DataFrame(rows),
        hide_index=True,
        column_config={
            MEASURE: st.column_config.NumberColumn(format="%.1f"),
            "difference": st.column_config.NumberColumn(
                format="%+.1f",
                help="From the best other run on the same data set and corpus, in points.",
            ),
        },
    )


def page() -> None:
    """Draw the page."""
    held = holdings()
    if not (held.corpora and held.datasets and held.runs) and allowed("data"):
        draw_set_up(held)
        if not held.corpora and not held.datasets:
            return
        st.space("small")
    draw_holdings(held)
    left, right = st.columns([3, 1], gap="large")
    with left:
        draw_waiting()
        last = st.container()
        draw_first_steps()
    with right:
        draw_beginnings()
    if held.runs and allowed("runs"):
        with last, errors_in_place():
            draw_last_runs()


with errors_in_place():
    page()
