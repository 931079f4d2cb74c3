"""The data sets of the workspace: a table with their sizes and versions, and for one of them its questions, and its removal."""

import pandas as pd
import streamlit as st

from berdseye.app.access.session import workspace
from berdseye.app.cached.questions import questions_of
from berdseye.app.components.choices import selectbox_by_id
from berdseye.app.components.data.description import dataset_description
from berdseye.app.components.data.new_dataset import questions_table
from berdseye.app.components.page_button import open_page
from berdseye.app.components.plain_text import escaped
from berdseye.data.datasets.stored import dataset_names, remove_dataset, split_version, version_numbers
from berdseye.data.runs.stored import list_runs
from berdseye.data.texts.counts import counted


def datasets_table() -> None:
    """Draw one row for each data set."""
    runs = [split_version(run.dataset)[0] for run in list_runs(workspace())]
    rows = []
    for name in workspace().datasets():
        questions = questions_of(name).values()
        perspectives = [p for question in questions for p in question.perspectives]
        rows.append(
            {
                "data set": name,
                "questions": len(questions),
                "perspectives": len(perspectives),
                "with a side": sum(p.stance is not None for p in perspectives),
                "versions": len(version_numbers(workspace(), name)),
                "runs": runs.count(name),
            }
        )
    columns = {
        name: st.column_config.NumberColumn(format="localized") for name in ("questions", "perspectives", "with a side")
    }
    st.dataframe(pd.DataFrame(rows), hide_index=True, key="datasets-table", column_config=columns)


def one_dataset() -> None:
    """Draw the choice of a data set or of a version of it, and its questions."""
    name = selectbox_by_id("Data set", dataset_names(workspace()), "dataset", str)
    dataset, _ = split_version(name)
    questions = list(questions_of(name).values())
    with st.container(horizontal=True, vertical_alignment="center"):
        if st.button("Explore it", icon=":material/travel_explore:"):
            open_page("explore", set=name)
        if st.button("Edit perspectives", icon=":material/forum:"):
            open_page("perspectives", dataset=dataset)
        if st.button("Run pipelines", icon=":material/play_arrow:"):
            open_page("runs")
        if name == dataset:
            with st.popover("Delete", icon=":material/delete:", type="tertiary"):
                _delete(name)
    dataset_description(name)
    shown = st.text_input(
        "Filter", key="dataset-filter", placeholder="Filter questions and perspectives", label_visibility="collapsed"
    )
    wanted = (shown or "").strip().casefold()
    found = [q for q in questions if wanted in " ".join([q.text, *(p.text for p in q.perspectives)]).casefold()]
    if not found:
        st.info("No question contains this text.")
        return
    questions_table(found[:500])
    if len(found) > 500:
        st.caption(f"The first 500 of {len(found):,} questions.")


def _delete(name: str) -> None:
    st.markdown(
        f"**{escaped(name)}** with its {counted(len(questions_of(name)), 'question')} and all of its versions is deleted. "
        "Runs, gold labels and judgments stay stored, but pages no longer show those runs."
    )
    if st.button("Delete it", type="primary", icon=":material/delete:", key=f"really-{name}"):
        remove_dataset(workspace(), name)
        st.session_state.pop("dataset", None)
        st.rerun()
