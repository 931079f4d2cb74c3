"""What a person corrects where they read: on disk before the page is drawn again, and taken back step by step."""

import streamlit as st

from berdseye.annotation.judgments.log import PairRecord, Verdict
from berdseye.app.access.session import annotator, judgments
from berdseye.data.records import Passage, Question

LAST = "last_action"
"""Where the session keeps what was done last, to be read beside the buttons."""


def correct(question: Question, place: int, corpus: str, passage: Passage, verdict: Verdict) -> None:
    """Give the signed-in person's word on a passage and the perspective at `place` (from 1), the labels in sight.

    Nothing is recorded for a person without a name, nor for a verdict that already is theirs: a key that is pressed twice before
    the page is drawn again counts once.
    """
    person = annotator()
    if person is None:
        return
    [pair] = judgments().add_pairs([PairRecord.of(question, question.perspectives[place - 1], corpus, passage)])
    if all(j.annotator.id != person.id or j.verdict != verdict for j in judgments().present([pair])):
        judgments().judge(person, pair, verdict, source="explore", shown=True)
    st.session_state[LAST] = f"P{place} of “{passage.title}”: {verdict}"


def undo() -> None:
    """Take back the person's last word."""
    person = annotator()
    if person is not None:
        undone = judgments().undo(person)
        st.session_state[LAST] = "Undone." if undone else "There is nothing to undo."
