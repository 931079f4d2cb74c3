"""Corrections of labels on the pages where people read. A correction is on disk before the page is drawn again, and can
be undone step by step."""

import streamlit as st

from berdseye.annotation.judgments.log import PairRecord, Verdict
from berdseye.app.access.session import annotator, judgments
from berdseye.data.records import Passage, Question

LAST = "last_action"
"""The key of the session state that holds the text of the last action, shown beside the buttons."""


def correct(question: Question, place: int, corpus: str, passage: Passage, verdict: Verdict) -> None:
    """Record the person's judgment of a passage and the perspective at `place` (from 1), made with the labels on screen.

    Nothing is recorded if the person has no name or has already given this verdict: a key pressed twice before the page is drawn
    again counts once.
    """
    person = annotator()
    if person is None:
        return
    [pair] = judgments().add_pairs([PairRecord.of(question, question.perspectives[place - 1], corpus, passage)])
    if all(j.annotator.id != person.id or j.verdict != verdict for j in judgments().present([pair])):
        judgments().judge(person, pair, verdict, source="explore", shown=True)
    st.session_state[LAST] = f"P{place} of “{passage.title}”: {verdict}"


def undo() -> None:
    """Undo the person's last judgment."""
    person = annotator()
    if person is not None:
        undone = judgments().undo(person)
        st.session_state[LAST] = "Undone." if undone else "There is nothing to undo."
