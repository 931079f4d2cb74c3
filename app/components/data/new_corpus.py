"""Adding a corpus on the Data page: choose a file, see how it will be read, and start the job; or let questions search the
web."""

from pathlib import Path
from typing import Any

import pandas as pd
import streamlit as st
import typer.main

from berdseye.app.access.session import errors_in_place, started_by, workspace
from berdseye.app.cli import cli
from berdseye.app.components.command_form import command_form, leaf_commands
from berdseye.app.components.data.sources import chosen_file, chosen_name, chosen_way, name_of_file
from berdseye.app.components.plain_text import escaped
from berdseye.app.jobs.running import start_job
from berdseye.data.corpora.manifest import Kind
from berdseye.data.corpora.preview import CorpusPreview, preview_corpus
from berdseye.data.errors import BadInputError
from berdseye.data.texts.counts import counted

WEB = "Web search"
_ENDINGS = "JSON Lines, CSV, TSV, Parquet, HTML, text, Markdown; compressed or in a tar archive"
_CUTS = {
    "": "Passages of about 100 words",
    "blocks(100)": "Passages of exactly 100 words",
    "sentences(100)": "Whole sentences, about 100 words",
    "characters(2000)": "Whole paragraphs, up to 2,000 characters",
    "whole": "One passage per document",
    "pages": "Whole pages, cut for each question",
}
"""The ways to cut documents, by chunker; texts that are passages already are not cut by the first."""


def new_corpus() -> None:
    """Draw the form."""
    way = chosen_way("corpus", (WEB,))
    if way == WEB:
        _web()
        return
    path = chosen_file("corpus", way, _ENDINGS)
    if path is None:
        return
    left, right = st.columns(2)
    with left:
        name = chosen_name("corpus", name_of_file(path), workspace().corpora())
    cut = right.selectbox("Cut into", list(_CUTS), format_func=_CUTS.__getitem__, key="corpus-cut")
    kind, chunker = _kind_and_chunker(cut or "")
    with st.spinner("Reading the beginning of the file…"):
        preview = _preview(path, kind, chunker, _state(path))
    _draw_counts(preview, kind)
    with st.container(horizontal=True, vertical_alignment="center"):
        pressed = st.button("Add the corpus", type="primary", icon=":material/add:", disabled=name is None)
        near = st.toggle(
            "Leave out near-duplicates",
            key="corpus-near",
            help="Passages whose sequences of five words are the same by 80% or more (Jaccard similarity). Exact duplicates "
            "are always stored once.",
        )
        skip = st.toggle(
            "Skip invalid rows",
            key="corpus-skip",
            help="Without this, nothing is added if a row is invalid. The rows that were skipped are listed with the corpus.",
        )
    if pressed and name:
        chosen = {"--pages": kind == "pages", "--skip-bad": skip}
        options = [option for option, wanted in chosen.items() if wanted]
        options += ["--chunker", chunker] if chunker else []
        options += ["--near-duplicates", "drop"] if near else []
        start_job(workspace(), ("corpus", "add", name, str(path.resolve()), *options), person=started_by())
        st.session_state["corpus"] = name
        st.rerun()
    _draw_preview(preview)


def _kind_and_chunker(cut: str) -> tuple[Kind, str | None]:
    return ("pages", None) if cut == "pages" else ("passages", cut or None)


def _state(path: Path) -> tuple[int, int]:
    """Return what changes when the file or folder does."""
    try:
        stat = path.stat()
    except (OSError, ValueError) as error:
        raise BadInputError("There is no such file or folder.", where=path, hint="Check the path.") from error
    return stat.st_mtime_ns, stat.st_size


@st.cache_data(max_entries=8, show_spinner=False)
def _preview(path: Path, kind: Kind, chunker: str | None, state: tuple[int, int]) -> CorpusPreview:
    del state  # part of the cache key
    return preview_corpus(path, kind=kind, chunker=chunker)


def _draw_counts(preview: CorpusPreview, kind: Kind) -> None:
    held = counted(preview.count, "document")
    if kind != "pages":
        held += f", {counted(preview.passages, 'passage')}"
    how_far = (
        "" if preview.complete else f" so far; the whole source ({megabytes(preview.bytes)}) is read when it is added"
    )
    bad = f" :red[{counted(preview.bad, 'invalid row')}.]" if preview.bad else ""
    st.markdown(f"**{escaped(', '.join(preview.formats) or 'Unknown format')}**: {held}{how_far}.{bad}")


def _draw_preview(preview: CorpusPreview) -> None:
    """Draw how the source is read: the invalid rows with line and reason, and the first documents."""
    if preview.bad:
        rows = pd.DataFrame(preview.bad_rows).rename(columns={"where": "file"})
        st.dataframe(
            rows,
            hide_index=True,
            height=min(38 + 35 * len(rows), 180),
            column_config={"line": st.column_config.NumberColumn(width="small")},
        )
        st.caption("Nothing is added unless these rows are corrected in the file, or skipped.")
    if not preview.documents:
        st.warning("No document could be read from the beginning of this file.", icon=":material/warning:")
        return
    st.dataframe(
        pd.DataFrame(preview.documents).rename(columns={"text": "first passage"}),
        hide_index=True,
        height=min(38 + 35 * len(preview.documents), 250),
        column_config={"first passage": st.column_config.TextColumn(width="large")},
    )


def megabytes(size: int) -> str:
    """Return a size in bytes as people read it."""
    for unit, factor in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if size >= factor:
            return f"{size / factor:,.1f} {unit}"
    return f"{size} bytes"


def _web() -> None:
    """Draw the form of a corpus that searches the web for each question."""
    st.caption(
        "For each question, Berdseye searches the web, and fetches, cuts and stores the pages that it finds. This needs a "
        "SearXNG server, or an account at serper.dev whose key is in the environment variable SERPER_API_KEY."
    )
    command: Any = leaf_commands(typer.main.get_command(cli))["corpus", "web"]
    arguments = command_form(command, {}, "corpus-web", "Add the corpus")
    if arguments is not None:
        with errors_in_place():
            start_job(workspace(), ("corpus", "web", *arguments), person=started_by())
            st.rerun()
