"""Feedback in a training batch of checks: the known answer after each verdict, and a person's answers once they have finished.

An exam gives none."""

import pandas as pd
import streamlit as st

from berdseye.annotation.batches.qualification import GATE, answers_of, gives_feedback, known_answers
from berdseye.annotation.batches.stored import Batch
from berdseye.annotation.judgments.log import Annotator
from berdseye.app.access.session import judgments
from berdseye.evaluation.measures.shown import shown


def feedback(batch: Batch | None, pair: str, verdict: str) -> str:
    """Return whether a verdict is the known one, as Markdown; empty where the batch gives no feedback."""
    if batch is None or not gives_feedback(batch):
        return ""
    known = known_answers(batch)[pair]
    return ": right" if verdict == known else f"; the known answer is **{known}**"


def draw_answers(batch: Batch | None, person: Annotator) -> None:
    """Draw a person's answers in a training batch beside the known ones, the wrong ones first; nothing for another batch."""
    if batch is None or not gives_feedback(batch):
        return
    known, answers = known_answers(batch), answers_of(judgments(), batch, person.name)
    if not answers:
        return
    right = sum(known[pair] == verdict for pair, verdict in answers.items())
    st.markdown(
        f"You were right on **{right} of {len(answers)}** ({shown(right / len(answers))}). More than {GATE:.0%} of the whole "
        "batch is needed; your first verdict on each item counts."
    )
    records = judgments().pair_records(list(answers))
    wrong_first = sorted(answers, key=lambda pair: answers[pair] == known[pair])
    rows = [(answers[pair], known[pair], records[pair].perspective, records[pair].passage) for pair in wrong_first]
    st.dataframe(
        pd.DataFrame(rows, columns=["You", "Known answer", "Statement", "Read"]),
        hide_index=True,
        key="training-answers",
    )
