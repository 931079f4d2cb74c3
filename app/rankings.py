"""Rankings that pages ask for, kept for the next drawing."""

import streamlit as st

from berdseye.app.pipelines import pipeline_of
from berdseye.app.session import workspace
from berdseye.data.corpora import open_corpus
from berdseye.data.records import Passage, Ranking
from berdseye.retrieval.queries import Query
from berdseye.retrieval.search import search


@st.cache_data(max_entries=2000, show_spinner="Searching…")
def hits(corpus: str, corpus_hash: str, pipeline: str, query: Query, k: int) -> tuple[Ranking, list[Passage]]:
    """The ranking of one query, with its passages."""
    del corpus_hash  # part of the key: a corpus made anew is searched anew
    opened = open_corpus(workspace(), corpus)
    ids, scores = search(opened, pipeline_of(workspace(), pipeline), [query], k)
    found = ids[0] >= 0
    return Ranking(ids[0][found], scores[0][found]), opened.passages(ids[0][found].tolist())
