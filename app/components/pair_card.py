"""A pair for a person to judge: question, perspective and passage, as untrusted text, at a fixed height."""

import streamlit as st

from annotation.judgments import PairRecord
from app.components.plain_text import escaped, web_address

CARD_HEIGHT = 430


def pair_card(record: PairRecord, *, key: str = "pair-card", height: int = CARD_HEIGHT) -> None:
    """Draw a pair."""
    with st.container(border=True, height=height, key=key):
        st.caption(f"{escaped(record.dataset)} · {escaped(record.corpus)}")
        st.markdown(f"**Question** {escaped(record.question)}")
        st.markdown(f"##### :blue[{escaped(record.perspective)}]")
        st.markdown(f"**{escaped(record.title) or 'Passage'}**")
        st.markdown(escaped(record.passage))
        if address := web_address(record.url):
            st.caption(f"[{escaped(address.split('/')[2])}]({address})")


def answers_card(record: PairRecord) -> None:
    """Draw two answers to a question side by side."""
    with st.container(border=True, height=CARD_HEIGHT, key="pair-card"):
        st.markdown(f"##### {escaped(record.question)}")
        for column, name, text in zip(
            st.columns(2), ("First answer", "Second answer"), (record.passage, record.perspective), strict=True
        ):
            column.markdown(f"**{name}**")
            column.markdown(escaped(text))
