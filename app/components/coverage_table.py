"""The table of the perspectives that each ranking covers, with the rank of the first supporting passage."""

from collections.abc import Sequence
from math import isnan

import pandas as pd
import streamlit as st

from berdseye.app.components.perspective_mark import perspective_mark, side_badge
from berdseye.app.components.plain_text import escaped
from berdseye.data.records import Question
from berdseye.evaluation.exploration.inspection import Listing, Shown
from berdseye.evaluation.measures.shown import shown


def coverage_table(question: Question, listings: Sequence[Listing]) -> None:
    """Draw a table with one row per perspective and one column per ranking: the first covering rank or 'missing'.

    A rank says "topic" or "unsure" if its label comes from a detector that does not tell sides, or is unsure; the first rank of a
    label that says which side the passage takes then follows.
    """
    columns = [escaped(f"{entry.corpus} · {entry.pipeline}") for entry in listings]
    rows: dict[str, list[str]] = {}
    for place, perspective in enumerate(question.perspectives):
        rows[f"{perspective_mark(place)}{side_badge(perspective)} {escaped(perspective.text)}"] = [
            first_ranks_shown(entry, place) for entry in listings
        ]
    with st.container(key="coverage"):
        st.table(pd.DataFrame.from_dict(rows, orient="index", columns=columns))


def measures_line(listing: Listing, k: int) -> str:
    """Return Markdown of the measures of this question for a ranking, in percent; empty without perspectives."""
    if isnan(listing.mrecall):
        return ""
    return f":small[:gray[MRecall@{k} {shown(listing.mrecall)} · Precision@{k} {shown(listing.precision)}]]"


def missing_line(question: Question, listings: Sequence[Listing]) -> str:
    """Return Markdown that lists the perspectives that no ranking covers, or says that every perspective is covered, or for how
    many no label says that a passage takes their side."""
    missing = [
        f"{perspective_mark(place)} {escaped(p.text)}"
        for place, p in enumerate(question.perspectives)
        if all(entry.first_ranks[place] is None for entry in listings)
    ]
    if missing:
        return f":red[Missing everywhere:] {' · '.join(missing)}"
    places = range(len(question.perspectives))
    doubtful = [place for place in places if all(_first_sure(entry, place) is None for entry in listings)]
    if not doubtful:
        return ":green[Every perspective is covered by at least one ranking.]"
    opinions = {
        hit.chips[place].opinion
        for place in doubtful
        for entry in listings
        for hit in entry.hits
        if hit.chips and hit.chips[place].supports
    }
    if "on topic" not in opinions:
        why = "the detector is unsure about every passage that may support them"
    else:
        why = "the labels say only that a passage is on the topic" + (", or are unsure" if "unsure" in opinions else "")
    return f":gray[No perspective is missing, but for {len(doubtful)} of {len(places)} {why}.]"


def without_labels(listings: Sequence[Listing], chosen: Shown) -> str:
    """Return a sentence if people's or gold labels are chosen and no pair of the listings has one; empty otherwise."""
    if chosen not in ("people", "gold") or any(
        chip.by != "detector" for listing in listings for hit in listing.hits for chip in hit.chips
    ):
        return ""
    has = "Nobody has judged these pairs" if chosen == "people" else "These pairs have no gold label"
    return f"{has}: every chip shows the detector's opinion."


def _first_sure(listing: Listing, place: int) -> int | None:
    """Return the rank of the first passage that supports the perspective by a label that says sides; None if there is none."""
    sure = (hit.rank for hit in listing.hits if hit.chips and hit.chips[place].supports and hit.chips[place].takes_side)
    return next(sure, None)


def first_ranks_shown(listing: Listing, place: int) -> str:
    """Return Markdown of the first covering rank of a perspective, with what its label leaves in doubt, or that it is missing."""
    rank = listing.first_ranks[place]
    if rank is None:
        return ":red-badge[missing]"
    chip = next((hit.chips[place] for hit in listing.hits if hit.rank == rank), None)
    if chip is None or chip.takes_side:
        return f"rank {rank}"
    sure = _first_sure(listing, place)
    then = "" if sure is None else f" · sure at rank {sure}"
    return f"rank {rank} :gray-badge[{'topic' if chip.opinion == 'on topic' else 'unsure'}]{then}"
