"""The figures of a data set or corpus on the Data page, beside those that the papers print."""

from collections.abc import Sequence

import pandas as pd
import streamlit as st

from berdseye.app.access.session import workspace
from berdseye.app.cached.cached_on import cached_on
from berdseye.data.corpora import open_corpus
from berdseye.evaluation.describing import Fact, describe_corpus, describe_dataset

_HELP = "Sizes, lengths, stances and base rates, with the figures that the papers print for their own data."


def dataset_description(name: str) -> None:
    """Draw the switch that shows the figures of a data set."""
    if st.toggle("Description", key="describe-dataset", help=_HELP):
        _table(describe_dataset(workspace(), name))


def corpus_description(name: str) -> None:
    """Draw the switch that shows the figures of a corpus. All of its passages are read the first time."""
    if st.toggle("Description", key="describe-corpus", help=_HELP):
        _table(_of_corpus(name))


@cached_on(
    lambda name: open_corpus(workspace(), name).manifest.hash, max_entries=20, show_spinner="Reading all passages…"
)
def _of_corpus(name: str) -> list[Fact]:
    return describe_corpus(workspace(), name)


def _table(facts: Sequence[Fact]) -> None:
    rows = [(f.fact, _shown(f.value), "" if f.paper is None else f"{f.paper:g} ({f.place})", f.note) for f in facts]
    table = pd.DataFrame(rows, columns=["figure", "here", "in the paper", "note"])
    table = table.drop(columns=[name for name in ("in the paper", "note") if not any(table[name])])
    right = {"here": st.column_config.TextColumn(alignment="right")}
    st.dataframe(table, hide_index=True, key="description", width="content", height="content", column_config=right)


def _shown(value: float | None) -> str:
    if value is None:
        return "–"
    return f"{value:,.0f}" if value.is_integer() else f"{value:,.2f}"
