"""What people said of a disputed pair, under their names or under letters, and all that was ever done about it."""

from random import Random

import pandas as pd
import streamlit as st

from berdseye.annotation.adjudication import Dispute, trail
from berdseye.app.components.plain_text import escaped
from berdseye.app.components.verdict_buttons import ICONS
from berdseye.app.session import judgments


def names_of(dispute: Dispute, *, hidden: bool) -> dict[int, str]:
    """How each voter is called, by id. Hidden names are letters, shuffled for each pair, so that nobody is known by their
    place."""
    if not hidden:
        return {vote.annotator.id: vote.annotator.name for vote in dispute.votes}
    people = [vote.annotator.id for vote in dispute.votes]
    Random(dispute.key).shuffle(people)
    return {person: f"Person {_letter(place)}" for place, person in enumerate(people)}


def votes(dispute: Dispute, *, hidden: bool) -> None:
    """Everyone's word, comment and evidence, and the decision where there is one."""
    names = names_of(dispute, hidden=hidden)
    for vote in sorted(dispute.votes, key=lambda vote: names[vote.annotator.id]) if hidden else dispute.votes:
        with st.container(border=True, gap="xsmall"):
            st.markdown(f"{ICONS[vote.verdict]} **{vote.verdict}** · {escaped(names[vote.annotator.id])}")
            if vote.comment:
                st.markdown(escaped(vote.comment))
            for start, end in vote.evidence:
                st.caption(f"“{escaped(dispute.record.passage[start:end])}”")
    if dispute.decision is not None:
        by = "" if hidden else f" by {escaped(dispute.decision.by)}"
        st.success(f"Decided{by}: **{dispute.decision.verdict}**. {escaped(dispute.decision.comment)}")


def trail_table(dispute: Dispute, *, hidden: bool) -> None:
    """What was done about the pair, step by step; what was taken back is marked."""
    names = names_of(dispute, hidden=hidden)
    rows = [
        {
            "When": step.at[:16].replace("T", " "),
            "Who": names.get(step.annotator.id, "someone else" if hidden else step.annotator.name),
            "What": step.kind + (" (taken back)" if step.undone else ""),
            "Word": step.verdict,
            "Comment": step.comment,
        }
        for step in trail(judgments(), dispute.key)
    ]
    with st.expander(f"The trail: {len(rows)} steps", icon=":material/history:"):
        st.dataframe(pd.DataFrame(rows), hide_index=True, key="trail")


def _letter(place: int) -> str:
    return chr(ord("A") + place) if place < 26 else str(place + 1)
