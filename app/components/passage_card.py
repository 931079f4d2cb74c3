"""A passage with its chips: title, source, highlighted text, and a button for each perspective."""

from collections.abc import Callable

import streamlit as st

from app.components.addresses import passage_address
from app.components.perspective_mark import chip_key
from app.components.plain_text import escaped, highlighted, web_address
from evaluation.inspection import Chip, Hit
from retrieval.matching import matched_spans

WHOSE = {"adjudicator": "an adjudicator's word", "you": "your word", "people": "people's word", "detector": "detector"}
KEYED_PERSPECTIVES = 9
CARDS = '[class*="st-key-focus-"], [class*="st-key-card-"]'
"""All cards of a page, in a browser's words."""


def passage_card(
    hit: Hit, corpus: str, query: str, key: str, *, focused: bool, can_judge: bool, flip: Callable[[Chip, Hit], None]
) -> None:
    """Draw one hit of a corpus; its title leads to its page. The focused card's chips answer to the keys 1 to 9."""
    with st.container(border=True, key=f"{'focus' if focused else 'card'}-{key}"):
        address = web_address(hit.passage.url)
        source = f" · [{escaped(address.split('/')[2])}]({address})" if address else ""
        mark = ":blue-badge[in focus] " if focused else ""
        title = f"[{escaped(hit.passage.title) or 'untitled'}]({passage_address(corpus, hit.passage.id)})"
        st.markdown(f"{mark}**{hit.rank}. {title}**")
        st.caption(f"score {hit.score:.3f} · {escaped(hit.passage.source_id)}{source}")
        st.markdown(highlighted(hit.passage.text, matched_spans(hit.passage.text, query)))
        with st.container(horizontal=True, gap="small"):
            for place, chip in enumerate(hit.chips):
                _chip_button(chip, hit, place, key, focused=focused, can_judge=can_judge, flip=flip)


def _chip_button(
    chip: Chip,
    hit: Hit,
    place: int,
    key: str,
    *,
    focused: bool,
    can_judge: bool,
    flip: Callable[[Chip, Hit], None],
) -> None:
    says = "supports" if chip.supports else "does not support"
    st.button(
        f"P{place + 1} {'yes' if chip.supports else 'no'} · {chip.detected.probability:.2f}",
        key=chip_key(place, key),
        icon=":material/person:" if chip.by != "detector" else ":material/smart_toy:",
        type="primary" if chip.supports else "secondary",
        help=f"{escaped(chip.pair.perspective)} — {says} ({WHOSE[chip.by]}; detector: "
        f"P = {chip.detected.probability:.2f}). " + _next_step(chip, can_judge=can_judge),
        disabled=not can_judge or chip.by == "adjudicator",
        shortcut=str(place + 1)
        if focused and can_judge and chip.by != "adjudicator" and place < KEYED_PERSPECTIVES
        else None,
        on_click=flip,
        args=(chip, hit),
    )


def _next_step(chip: Chip, *, can_judge: bool) -> str:
    if chip.by == "adjudicator":
        return "It was decided on the Adjudication page."
    return "Click to say the opposite." if can_judge else "Enter your name first."
