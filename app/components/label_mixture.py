"""What part of the labels behind a leaderboard comes from people, and what part from a detector; and, where it differs between
systems, the choice of the corrected detector in place of the mixture."""

from collections.abc import Mapping

import streamlit as st

from berdseye.app.components.plain_text import escaped
from berdseye.evaluation.labels.sources import CORRECTED, parse_label_source
from berdseye.evaluation.measures.shown import shown

UNEVEN = 0.1
"""The difference between the shares of two systems from which the note warns."""


def uneven(shares: Mapping[str, float]) -> bool:
    """Return whether the share of a system differs so much from that of another that the note warns."""
    return bool(shares) and max(shares.values()) - min(shares.values()) >= UNEVEN


def draw_mixing_note(shares: Mapping[str, float], source: str, *, key: str = "labels") -> None:
    """Draw the note and, where it warns, a button that chooses the corrected detector; `key` is that of the choice of the
    source."""
    note = mixing_note(shares, source)
    if not note:
        return
    st.caption(note)
    if uneven(shares):
        corrected = f"{CORRECTED}({parse_label_source(source).plain.parts[-1]})"
        st.button(
            f"Use labels from {escaped(corrected)}",
            icon=":material/balance:",
            key=f"correct-{key}",
            on_click=st.session_state.__setitem__,
            args=(key, corrected),
        )


def mixing_note(shares: Mapping[str, float], source: str) -> str:
    """Return Markdown on the share of the labels that come from people or gold and not from the detector, by system; empty if the
    source does not mix both, or nothing comes from people or gold."""
    if not shares or not any(shares.values()):
        return ""
    least, most = min(shares, key=shares.__getitem__), max(shares, key=shares.__getitem__)
    low, high = shares[least], shares[most]
    *before, detector = parse_label_source(source).plain.parts
    named = escaped(" or ".join(before))
    if not uneven(shares):
        return f"Of the labels, {shown(low)} to {shown(high)} come from {named}, the others from {escaped(detector)}."
    corrected = escaped(f"{CORRECTED}({detector})")
    return (
        f":orange[Of the labels of {escaped(most)}, {shown(high)} come from {named}, but only {shown(low)} of those of "
        f"{escaped(least)}.] Such a mixture can favour the systems whose passages people judged more (measured on TREC iKAT: "
        f"arXiv 2405.05600). For numbers without this fault, choose **{corrected}**, which needs a batch of random questions."
    )
