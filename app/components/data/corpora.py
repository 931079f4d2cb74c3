"""The corpora of the workspace: a table with their sizes and indexes, and for one of them its passages, what was skipped when it
was read, its indexes to build, and its removal."""

from pathlib import Path

import pandas as pd
import streamlit as st

from berdseye.app.access.session import started_by, workspace
from berdseye.app.cached.cached_on import cached_on
from berdseye.app.components.choices import passage_address, selectbox_by_id
from berdseye.app.components.data.description import corpus_description
from berdseye.app.components.data.new_corpus import megabytes
from berdseye.app.components.page_button import open_page
from berdseye.app.components.plain_text import escaped
from berdseye.app.jobs.running import start_job
from berdseye.data.corpora import Corpus, open_corpus, remove_corpus
from berdseye.data.texts.counts import counted, plural
from berdseye.evaluation.pipelines import pipeline_of
from berdseye.retrieval.indexes import pipeline_of_index
from berdseye.retrieval.pipeline_registry import DEFAULT_PIPELINES

_FIRST = 20
_KINDS = {"passages": "passages", "pages": "whole pages", "web": "web search"}


def corpora_table() -> None:
    """Draw one row for each corpus."""
    rows = []
    for name in workspace().corpora():
        corpus = open_corpus(workspace(), name)
        of = corpus.manifest
        rows.append(
            {
                "corpus": name,
                "passages": of.count,
                "documents": of.documents,
                "kind": _KINDS[of.kind],
                "cut into": of.chunker,
                "indexes": ", ".join(indexes_of(corpus)) or "–",
                "size": megabytes(_size(name)),
                "read from": of.source,
                "added": of.created[:10],
            }
        )
    columns = {name: st.column_config.NumberColumn(format="localized") for name in ("passages", "documents")}
    st.dataframe(pd.DataFrame(rows), hide_index=True, key="corpora-table", column_config=columns)


def one_corpus() -> None:
    """Draw the choice of a corpus and its details."""
    name = selectbox_by_id("Corpus", workspace().corpora(), "corpus", str)
    corpus = open_corpus(workspace(), name)
    of = corpus.manifest
    with st.container(horizontal=True, vertical_alignment="center"):
        _build_index(corpus)
        if st.button("Search it", icon=":material/search:"):
            open_page("search", corpora=name)
        if st.button("Ask it a question", icon=":material/travel_explore:"):
            open_page("explore", corpora=name)
        with st.popover("Delete", icon=":material/delete:", type="tertiary"):
            _delete(name)
    if of.duplicates_merged or of.near_duplicates:
        near = f", {counted(of.near_duplicates, 'near-duplicate')} left out" if of.near_duplicates else ""
        st.caption(f"{counted(of.duplicates_merged, 'exact duplicate')} stored once{near}.")
    if of.left_out:
        skipped = f"{counted(of.left_out, 'row')} {plural(of.left_out, 'was', 'were')} skipped"
        with st.expander(skipped, icon=":material/error:"):
            st.dataframe(pd.DataFrame({"row": of.bad_rows}), hide_index=True)
    if of.kind == "web":
        st.caption(f"Searches {escaped(of.source)}. Pages are stored as questions find them.")
        return
    corpus_description(name)
    _first_passages(corpus)


def indexes_of(corpus: Corpus) -> list[str]:
    """Return the pipelines whose indexes of the corpus exist."""
    return sorted(pipeline_of_index(folder.parent) for folder in corpus.folder.glob("indexes/*/manifest.json"))


def _size(name: str) -> int:
    return _bytes_below(name)


@cached_on(lambda name: _written(workspace().corpus_folder(name)), max_entries=200, show_spinner=False)
def _bytes_below(name: str) -> int:
    return sum(file.stat().st_size for file in workspace().corpus_folder(name).rglob("*") if file.is_file())


def _written(folder: Path) -> tuple[int, ...]:
    """Return what changes when a corpus or one of its indexes is written."""
    return tuple(path.stat().st_mtime_ns for path in (folder, *sorted(folder.glob("indexes/*"))))


def _first_passages(corpus: Corpus) -> None:
    passages = corpus.passages(list(range(min(_FIRST, corpus.manifest.count))))
    rows = [
        {"title": p.title, "text": p.text, "open": passage_address(corpus.manifest.name, p.id), "id": p.source_id}
        for p in passages
    ]
    st.markdown("##### First passages")
    st.dataframe(
        pd.DataFrame(rows),
        hide_index=True,
        column_config={
            "text": st.column_config.TextColumn(width="large"),
            "open": st.column_config.LinkColumn(display_text="read", width="small"),
        },
    )


def _build_index(corpus: Corpus) -> None:
    """Draw the button that builds an index. Searches build missing indexes, but then a person waits for them."""
    if corpus.manifest.kind != "passages":
        return
    have = indexes_of(corpus)
    with st.popover("Build an index", icon=":material/database:"):
        st.caption(f"Built: {escaped(', '.join(have))}." if have else "No index is built yet.")
        choices = [name for name in DEFAULT_PIPELINES if name not in have]
        pipeline = st.selectbox(
            "For the pipeline",
            choices,
            key="index-pipeline",
            accept_new_options=True,
            help="For example dense(static).",
        )
        if st.button("Build", type="primary", key="index-build", disabled=not pipeline):
            canonical = str(pipeline_of(workspace(), pipeline or ""))
            arguments = ("index", corpus.manifest.name, "--pipeline", canonical)
            start_job(workspace(), arguments, person=started_by())
            st.rerun()


def _delete(name: str) -> None:
    count = open_corpus(workspace(), name).manifest.count
    st.markdown(
        f"**{escaped(name)}**, its {counted(count, 'passage')} and its indexes are deleted. Judgments and labels "
        "stay. Runs on it stay stored, but pages no longer show them."
    )
    if st.button("Delete it", type="primary", icon=":material/delete:", key=f"really-{name}"):
        remove_corpus(workspace(), name)
        st.session_state.pop("corpus", None)
        st.rerun()
