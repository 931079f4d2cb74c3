"""Whom the stored runs speak for, computed once for all sessions."""

import pandas as pd
import streamlit as st

from berdseye.app.access.session import workspace
from berdseye.app.cached.runs import Made, counted, systems
from berdseye.evaluation.bias.sides import leaning_beside_people, leaning_shares, stance_shares, wholly_judged
from berdseye.evaluation.labels.sources import HUMAN
from berdseye.evaluation.scores.enough_judged import min_judged_of

Figures = tuple[pd.DataFrame, pd.DataFrame]


@st.cache_data(max_entries=50, show_spinner="Counting the sides…")
def leaning_figures(kept: Made, source: str, k: int, version: int) -> Figures:
    """Shares of leanings by system, and the same beside people's; `version` is that of the judgments."""
    del version  # part of the key
    held = systems(kept, source, k)
    shares = leaning_shares(held, k, counted(kept, source), min_judged_of(workspace()))
    return shares, leaning_beside_people(held, systems(kept, HUMAN, k), k)


@st.cache_data(max_entries=50, show_spinner="Adding up the stances…")
def stance_figures(kept: Made, source: str, k: int, version: int) -> Figures:
    """Shares of stances by system, and, of the questions whose top k people judged whole, theirs beside the labels'."""
    del version  # part of the key
    held, people = systems(kept, source, k), systems(kept, HUMAN, k)
    whole = {name: [wholly_judged(run, k) for run in runs] for name, runs in people.items()}
    columns = ["system", "stance"]
    both = stance_shares(held, k, whole)[[*columns, "value"]].rename(columns={"value": "labels"}).merge(
        stance_shares(people, k, whole)[[*columns, "value", "low", "high", "n"]].rename(columns={"value": "people"}), on=columns
    )  # fmt: skip
    return stance_shares(held, k, min_judged=min_judged_of(workspace())), both[both["n"] > 0]


def side_by_side(cells: pd.DataFrame, across: str, digits: int) -> pd.DataFrame:
    """Figures as texts with their intervals, a system a row and the values of a column `across` beside one another; then how many
    questions they are of, and what share of the pairs has a label."""
    told = [
        "–"
        if value != value
        else f"{value:.{digits}f}"
        if low != low
        else f"{value:.{digits}f} [{low:.{digits}f}, {high:.{digits}f}]"
        for value, low, high in cells[["value", "low", "high"]].to_numpy(dtype=float).tolist()
    ]
    wide = cells.assign(told=told).pivot(index="system", columns=across, values="told")
    wide = wide.loc[cells["system"].unique(), cells[across].unique()].fillna("–")
    by = cells.groupby("system", sort=False)
    for name, form in (("n", "{:.0f}"), ("undefined", "{:.0f}"), ("judged", "{:.0f}%")):
        if name in cells:
            ends = zip(by[name].min(), by[name].max(), strict=True)
            wide[name] = [" to ".join(dict.fromkeys(map(form.format, pair))) for pair in ends]
    return wide.reset_index().rename_axis(columns=None)
