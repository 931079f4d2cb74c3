"""A pair for a person to judge: question, perspective and passage, as untrusted text, at a fixed height."""

from collections.abc import Sequence

import streamlit as st

from berdseye.annotation.evidence import Span, merged
from berdseye.annotation.judgments import PairRecord
from berdseye.app.components.passage_text import passage_text
from berdseye.app.components.plain_text import escaped, highlighted, web_address

CARD_HEIGHT = 430


def pair_card(record: PairRecord) -> None:
    """Draw a pair, of whose passage evidence may be taken."""
    with st.container(border=True, height=CARD_HEIGHT, key="pair-card", gap="xsmall"):
        _above(record)
        passage_text(record.key, record.passage)
        _below(record)


def judged_card(record: PairRecord, evidence: Sequence[Span]) -> None:
    """Draw a pair that was judged, with what people pointed at."""
    with st.container(border=True, height=CARD_HEIGHT, key="dispute-card", gap="xsmall"):
        _above(record)
        st.markdown(highlighted(record.passage, merged(evidence)))
        _below(record)


def answers_card(record: PairRecord) -> None:
    """Draw two answers to a question side by side."""
    with st.container(border=True, height=CARD_HEIGHT, key="pair-card", gap="xsmall"):
        st.markdown(f"##### {escaped(record.question)}")
        for column, name, text in zip(
            st.columns(2), ("First answer", "Second answer"), (record.passage, record.perspective), strict=True
        ):
            column.markdown(f"**{name}**")
            column.markdown(escaped(text))


def _above(record: PairRecord) -> None:
    st.markdown(f"**Question** {escaped(record.question)}")
    st.markdown(f"##### :blue[{escaped(record.perspective)}]")
    st.markdown(f"**{escaped(record.title) or 'Passage'}**")


def _below(record: PairRecord) -> None:
    address = web_address(record.url)
    source = f" · [{escaped(address.split('/')[2])}]({address})" if address else ""
    st.caption(f"{escaped(record.dataset)} · {escaped(record.corpus)}{source}")
