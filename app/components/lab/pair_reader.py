"""One judged pair to read: the perspective, the passage, its labels, the buttons that judge it and the links to other
pages."""

from typing import Any
from urllib.parse import urlencode

import streamlit as st

from berdseye.annotation.judgments.log import PairRecord, Verdict
from berdseye.app.access.session import annotator, judgments
from berdseye.app.components.pair_card import choices_of
from berdseye.app.components.plain_text import escaped, highlighted, web_address
from berdseye.retrieval.lexical.query_words import matched_spans


def pair_reader(row: dict[str, Any], labels: str) -> None:
    """Draw a row of `JudgedPairs.table`. `labels` is a text with the detectors' labels of the pair."""
    with st.container(border=True, key=f"pair-{row['pair']}"):
        if row["question"]:
            st.markdown(f"**{escaped(row['question'])}**")
        st.markdown(f"{escaped(row['perspective'])}" + (f" :gray-badge[{row['stance']}]" if row["stance"] else ""))
        says = "supports" if row["supports"] else "does not support"
        st.markdown(f"Label: **{says}** · {escaped(labels)}")
        source = " · ".join(part for part in (row["title"] or "untitled", row["corpus"]) if part)
        st.markdown(f"**{escaped(source)}**")
        st.markdown(highlighted(row["passage"], matched_spans(row["passage"], row["perspective"])))
        with st.container(horizontal=True, vertical_alignment="center"):
            _judge(row)
            if row["dataset"] and row["question_id"]:
                query = {"set": row["dataset"], "question": row["question_id"]}
                address = urlencode(query | ({"corpora": row["corpus"]} if row["corpus"] else {}))
                st.markdown(f"[Open the question in Explore](explore?{address})")
            if address := web_address(row["url"]):
                st.markdown(f"[Source]({address})")


def _judge(row: dict[str, Any]) -> None:
    """Draw the buttons that record the person's judgment, if the pair belongs to a question of a data set."""
    if not (row["dataset"] and row["question_id"]):
        st.caption("The file names no data set and question for this pair, so it cannot be judged here.")
        return
    for choice in choices_of("judge"):
        st.button(
            choice.label,
            icon=choice.icon,
            key=f"lab-{choice.verdict}-{row['pair']}",
            disabled=annotator() is None,
            help=None if annotator() else "Enter your name first.",
            on_click=_give,
            args=(row, choice.verdict),
        )


def _give(row: dict[str, Any], verdict: Verdict) -> None:
    person = annotator()
    if person is None:
        return
    fields = ("dataset", "question_id", "question", "perspective", "corpus", "title", "passage", "url")
    record = PairRecord(**{name: row[name] for name in fields}, stance=row["stance"] or None)
    judgments().add_pairs([record])
    # shown=True: the person saw the detector's label.
    judgments().judge(person, row["pair"], verdict, source="lab", shown=True)
    st.toast(f"Your judgment: {verdict}. L opens your last judgments, to change or undo it.")
