"""Whom the stored runs speak for, computed once for all sessions."""

import pandas as pd
import streamlit as st

from app.run_scores import Made, systems
from evaluation.bias.sides import leaning_beside_people, leaning_shares, stance_shares, wholly_judged
from evaluation.label_sources import HUMAN

Figures = tuple[pd.DataFrame, pd.DataFrame]


@st.cache_data(max_entries=50, show_spinner="Counting the sides…")
def leaning_figures(kept: Made, source: str, k: int, version: int) -> Figures:
    """Shares of leanings by system, and the same beside people's; `version` is that of the judgments."""
    del version  # part of the key
    held = systems(kept, source, k)
    return leaning_shares(held, k), leaning_beside_people(held, systems(kept, HUMAN, k), k)


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
    return stance_shares(held, k), both[both["n"] > 0]
