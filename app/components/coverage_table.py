"""The table of the perspectives that each ranking covers, with the rank of the first supporting passage."""

from collections.abc import Sequence
from math import isnan

import pandas as pd
import streamlit as st

from berdseye.app.components.perspective_mark import perspective_mark, side_badge
from berdseye.app.components.plain_text import escaped
from berdseye.data.records import Question
from berdseye.evaluation.exploration.inspection import Listing
from berdseye.evaluation.measures.shown import shown


def coverage_table(question: Question, listings: Sequence[Listing]) -> None:
    """Draw a table with one row per perspective and one column per ranking: the first covering rank or 'missing'."""
    columns = [escaped(f"{entry.corpus} · {entry.pipeline}") for entry in listings]
    rows: dict[str, list[str]] = {}
    for place, perspective in enumerate(question.perspectives):
        ranks = [entry.first_ranks[place] for entry in listings]
        rows[f"{perspective_mark(place)}{side_badge(perspective)} {escaped(perspective.text)}"] = [
            _first(rank) for rank in ranks
        ]
    with st.container(key="coverage"):
        st.table(pd.DataFrame.from_dict(rows, orient="index", columns=columns))


def measures_line(listing: Listing, k: int) -> str:
    """Return Markdown of the measures of this question for a ranking, in percent; empty without perspectives."""
    if isnan(listing.mrecall):
        return ""
    return f":small[:gray[MRecall@{k} {shown(listing.mrecall)} · Precision@{k} {shown(listing.precision)}]]"


def missing_line(question: Question, listings: Sequence[Listing]) -> str:
    """Return Markdown that lists the perspectives that no ranking covers, or says that every perspective is covered."""
    missing = [
        f"{perspective_mark(place)} {escaped(p.text)}"
        for place, p in enumerate(question.perspectives)
        if all(entry.first_ranks[place] is None for entry in listings)
    ]
    return (
        f":red[Missing everywhere:] {' · '.join(missing)}"
        if missing
        else ":green[Every perspective is covered by at least one ranking.]"
    )


def _first(rank: int | None) -> str:
    return ":red-badge[missing]" if rank is None else f"rank {rank}"
