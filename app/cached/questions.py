"""The questions of data sets, read once for all pages and sessions."""

import streamlit as st

from berdseye.app.access.session import workspace
from berdseye.data.datasets.stored import dataset_names, load_dataset, version_file
from berdseye.data.records import Question


def questions_of(dataset: str) -> dict[str, Question]:
    """The questions of a data set (or of a version of it) by id; nobody changes what is given. Raises `UnknownNameError`."""
    known = dataset in dataset_names(workspace())
    return _questions(dataset, version_file(workspace(), dataset).stat().st_mtime_ns if known else 0)


@st.cache_resource(max_entries=32, show_spinner=False)
def _questions(dataset: str, written: int) -> dict[str, Question]:
    del written  # part of the key: a data set that was replaced is read anew
    return {question.id: question for question in load_dataset(workspace(), dataset)}
