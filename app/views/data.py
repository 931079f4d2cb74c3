"""The Data page: the corpora and data sets of the workspace, and the ways to add others."""

from pathlib import Path

import streamlit as st

from berdseye.app.access.session import errors_in_place, workspace
from berdseye.app.components.choices import one_of
from berdseye.app.components.data.corpora import corpora_table, one_corpus
from berdseye.app.components.data.datasets import datasets_table, one_dataset
from berdseye.app.components.data.new_corpus import new_corpus
from berdseye.app.components.data.new_dataset import new_dataset
from berdseye.app.components.job_box import draw_unfinished_jobs
from berdseye.app.jobs.running import Job, list_jobs
from berdseye.data.uploads import remove_unused_uploads

CORPORA, DATASETS = "Corpora", "Data sets"
_JOBS = {CORPORA: ("corpus", "index"), DATASETS: ("dataset",)}


def page() -> None:
    """Draw the page."""
    _tidy()
    shown = one_of("Show", (CORPORA, DATASETS), key="show", named=False)
    have = workspace().corpora() if shown == CORPORA else workspace().datasets()
    _introduce(shown, empty=not have)
    kind = "a corpus" if shown == CORPORA else "a data set"
    with st.expander(f"Add {kind}", icon=":material/add:", expanded=not have), errors_in_place():
        new_corpus() if shown == CORPORA else new_dataset()
    draw_unfinished_jobs(shown, lambda job: job.arguments[:1] in {(word,) for word in _JOBS[shown]})
    if not have:
        return
    if shown == CORPORA:
        corpora_table()
        one_corpus()
    else:
        datasets_table()
        one_dataset()


def _introduce(shown: str, *, empty: bool) -> None:
    if not empty:
        return
    if shown == CORPORA:
        st.info(
            "This workspace has no corpus. A corpus is a collection of passages to search: add documents, and Berdseye cuts "
            "them into passages.",
            icon=":material/library_books:",
        )
    else:
        st.info(
            "This workspace has no data set. A data set is a list of questions with the perspectives that readers should find.",
            icon=":material/quiz:",
        )


def _tidy() -> None:
    """Delete uploads that no job needs any more."""
    remove_unused_uploads(workspace(), {path for job in list_jobs(workspace()) for path in _files(job)})


def _files(job: Job) -> list[Path]:
    return [] if job.state == "done" else [Path(word) for word in job.arguments if "/" in word]


with errors_in_place():
    page()
