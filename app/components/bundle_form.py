"""The bundle of the runs that the page Runs shows: a zip file with tables and everything that they were computed from."""

from collections.abc import Sequence

import streamlit as st

from berdseye.app.access.roles import check, right_of_command
from berdseye.app.access.session import judgments, role, started_by, workspace
from berdseye.app.components.downloads import download
from berdseye.data.runs.stored import RunManifest, load_run
from berdseye.evaluation.bundle.writing import bundle_of
from berdseye.evaluation.labels.sources import parse_label_source
from berdseye.evaluation.measures import parse_measures


def bundle_form(runs: Sequence[RunManifest], source: str, measures: Sequence[str]) -> None:
    """Draw the button that packs the shown runs, measured as shown, and downloads the bundle."""
    with st.popover("Bundle", icon=":material/package_2:"):
        st.markdown(
            f"A zip file with {_counted(len(runs))}, the labels, the questions, and the tables as CSV, LaTeX and JSON. "
            "The command `berdseye verify` computes its numbers again."
        )
        passages = st.toggle(
            "Include the texts of passages", key="bundle-passages", help="Check first that their licences allow it."
        )
        names = tuple(run.name for run in runs)
        download(
            "Download the bundle",
            lambda: _bundle(names, source, measures, passages=passages),
            "bundle.zip",
            key="bundle",
        )


def _bundle(names: Sequence[str], source: str, measures: Sequence[str], *, passages: bool) -> bytes:
    check(role(), right_of_command(("bundle",)), started_by() or "this person")
    return bundle_of(
        workspace(),
        judgments(),
        [load_run(workspace(), name) for name in names],
        parse_label_source(source),
        parse_measures(" ".join(measures)),
        with_passages=passages,
    )


def _counted(runs: int) -> str:
    return "the run shown" if runs == 1 else f"the {runs:,} runs shown"
