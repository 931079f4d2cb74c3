"""Running a pipeline from a page: a form that starts a job, and the runs that are under way."""

import streamlit as st

from berdseye.app.components.under_way import under_way
from berdseye.app.jobs import start_job
from berdseye.app.pipelines import pipeline_of
from berdseye.app.session import errors_in_place, started_by, workspace
from berdseye.data.errors import BadInputError
from berdseye.retrieval.registry import DEFAULT_PIPELINES


def run_form() -> None:
    """Run one more pipeline, in the background; one that stands is not run again unless that is wanted."""
    with st.expander("Run a pipeline", icon=":material/play_arrow:"), st.form("run", border=False):
        columns = st.columns([2, 2, 3, 1])
        datasets = columns[0].multiselect("Data sets", workspace().datasets(), default=workspace().datasets())
        corpora = columns[1].multiselect("Corpora", workspace().corpora(), default=workspace().corpora())
        pipeline = columns[2].text_input(
            "Pipeline", DEFAULT_PIPELINES[0], help="bm25(k1=1.2,b=0.75), dense(static) >> mmr(0.9)"
        )
        k = columns[3].number_input("k", 1, 1000, 20)
        anew = st.toggle("Again where a run of this depth stands", key="run-again")
        if st.form_submit_button("Run", type="primary", icon=":material/play_arrow:"):
            with errors_in_place():
                if not datasets or not corpora:
                    raise BadInputError("Nothing was chosen to run on.", hint="Choose a data set and a corpus.")
                named = str(pipeline_of(workspace(), pipeline))
                words = [
                    *(w for d in datasets for w in ("--dataset", d)),
                    *(w for c in corpora for w in ("--corpus", c)),
                ]
                chosen = ("run", *words, "--pipeline", named, "--k", str(int(k)), *(() if anew else ("--missing",)))
                start_job(workspace(), chosen, person=started_by())
                st.rerun()


def runs_under_way() -> None:
    """Runs that were started and are not done."""
    under_way("runs", lambda job: job.arguments[:1] == ("run",))
