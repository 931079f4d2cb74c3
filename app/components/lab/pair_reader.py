"""One judged pair to read: the perspective, the passage, what is said of it, and the ways on."""

from typing import Any
from urllib.parse import urlencode

import streamlit as st

from berdseye.annotation.judgments.log import PairRecord, Verdict
from berdseye.app.access.session import annotator, judgments
from berdseye.app.components.pair_card import choices_of
from berdseye.app.components.plain_text import escaped, highlighted, web_address
from berdseye.retrieval.lexical.query_words import matched_spans


def pair_reader(row: dict[str, Any], told: str) -> None:
    """Draw a row of `JudgedPairs.table`; `told` is what detectors say of it."""
    with st.container(border=True, key=f"pair-{row['pair']}"):
        if row["question"]:
            st.markdown(f"**{escaped(row['question'])}**")
        st.markdown(f"{escaped(row['perspective'])}" + (f" :gray-badge[{row['stance']}]" if row["stance"] else ""))
        says = "supports" if row["supports"] else "does not support"
        st.markdown(f"By the labels: **{says}** · {escaped(told)}")
        source = " · ".join(part for part in (row["title"] or "untitled", row["corpus"]) if part)
        st.markdown(f"**{escaped(source)}**")
        st.markdown(highlighted(row["passage"], matched_spans(row["passage"], row["perspective"])))
        with st.container(horizontal=True, vertical_alignment="center"):
            _judge(row)
            if row["dataset"] and row["question_id"]:
                asked = {"set": row["dataset"], "question": row["question_id"]}
                address = urlencode(asked | ({"corpora": row["corpus"]} if row["corpus"] else {}))
                st.markdown(f"[Open the question in Explore](./?{address})")
            if address := web_address(row["url"]):
                st.markdown(f"[Source]({address})")


def _judge(row: dict[str, Any]) -> None:
    """Buttons that give the person's own word, where the pair is one that people judge."""
    if not (row["dataset"] and row["question_id"]):
        st.caption("The file does not say which question of which data set this is, so it cannot be judged here.")
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
    # The detector's opinion stands beside it.
    judgments().judge(person, row["pair"], verdict, source="explore", shown=True)
    st.toast(f"Your word: {verdict}. Undo takes it back on Explore.")
