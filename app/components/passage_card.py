"""The card of a passage: title, a chip (a button with the label) for each perspective, the text with what the labels rest on, and
the source."""

from collections.abc import Callable, Mapping

import streamlit as st

from berdseye.annotation.judgments.log import Verdict
from berdseye.app.components.card_focus import CARD
from berdseye.app.components.choices import passage_address
from berdseye.app.components.perspective_mark import CHIP, chip_key
from berdseye.app.components.plain_text import Mark, annotated, escaped, highlighted, web_address
from berdseye.evaluation.charts import perspective_colour
from berdseye.evaluation.exploration.inspection import Chip, Hit
from berdseye.evaluation.exploration.rationales import Rationale
from berdseye.retrieval.lexical.query_words import matched_spans

SOURCE_NAMES = {
    "adjudicator": "adjudicated label",
    "you": "your judgment",
    "people": "people's judgments",
    "gold": "gold label of the data set's authors",
    "detector": "detector",
}
_ICONS = {"detector": ":material/smart_toy:", "gold": ":material/verified:", "adjudicator": ":material/gavel:"}
_TINT = "33"
"""The opacity of the colour behind marked text, a fifth, as the last two digits of the colour: text keeps its contrast."""
CHIPS_OF_A_CARD = CHIP
"""The prefix of the keys of a card's chips, which `berdseye.app.components.card_focus` presses by their place."""


def passage_card(
    hit: Hit,
    corpus: str,
    query: str,
    number: int,
    rationales: Mapping[str, Rationale],
    *,
    can_judge: bool,
    flip: Callable[[Chip, Hit], None],
) -> None:
    """Draw one hit of a corpus as card `number` (from 0) of the page. Its title links to the Passage page.

    `rationales` holds what the labels rest on, by pair. Without perspectives, the words of the query are highlighted instead.
    """
    with st.container(border=True, gap="small", key=f"{CARD}{number}"):
        title = f"[{escaped(hit.passage.title) or 'untitled'}]({passage_address(corpus, hit.passage.id)})"
        st.markdown(f"**{hit.rank}. {title}**")
        if hit.chips:
            with st.container(horizontal=True, gap="xsmall"):
                for place, chip in enumerate(hit.chips):
                    chip_button(chip, hit, place, number, can_judge=can_judge, flip=flip)
            st.markdown(annotated(hit.passage.text, marks(hit, rationales)))
        else:
            st.markdown(highlighted(hit.passage.text, matched_spans(hit.passage.text, query)))
        address = web_address(hit.passage.url)
        source = f"[{escaped(address.split('/')[2])}]({address})" if address else escaped(corpus)
        st.caption(f"{source} · score {hit.score:.2f}")


def marks(hit: Hit, rationales: Mapping[str, Rationale]) -> list[Mark]:
    """Return the marks of what the supporting labels of a hit rest on, each in the colour of its perspective and with its number.
    Spans that overlap are one mark with the numbers of all its perspectives."""
    spans = sorted(
        (start, end, place)
        for place, chip in enumerate(hit.chips)
        if chip.supports and chip.key in rationales
        for start, end in rationales[chip.key].spans
    )
    found: list[Mark] = []
    for start, end, place in spans:
        name = f"P{place + 1}"
        if found and start < found[-1].end:
            last = found[-1]
            note = last.note if name in last.note.split() else f"{last.note} {name}"
            found[-1] = last._replace(end=max(end, last.end), note=note)
        else:
            found.append(Mark(start, end, f"{perspective_colour(place)}{_TINT}", name))
    return found


def chip_button(
    chip: Chip,
    hit: Hit,
    place: int,
    number: int,
    *,
    can_judge: bool,
    flip: Callable[[Chip, Hit], None],
) -> None:
    """Draw the chip of the perspective at `place` (from 0) on card `number` of the page."""
    says = chip.opinion if chip.by == "detector" else "supports" if chip.supports else "does not support"
    st.button(
        chip_label(chip, place),
        # The key contains the pair and its label, so that a press meant for the previous label finds no button.
        key=chip_key(place, f"{number}-{chip.key}-{says}"),
        icon=_ICONS.get(chip.by, ":material/person:"),
        type="primary" if says == "supports" else "secondary",
        help=f"{escaped(chip.pair.perspective)} — {says} ({explained_source(chip)}). "
        + _next_step(chip, can_judge=can_judge),
        disabled=not can_judge or chip.by == "adjudicator",
        on_click=flip,
        args=(chip, hit),
    )


def chip_label(chip: Chip, place: int) -> str:
    """Return the text on the chip of the perspective at `place` (from 0): the label with its source (`gold`, `you`, `people`), or
    what the detector says with the probability of this, and what gold labels say against it."""
    if chip.by != "detector":
        says, source = "yes" if chip.supports else "no", str(chip.by)
    else:
        says, source = chip.opinion, "…" if chip.opinion == "not yet" else f"{chip.detected.probability:.2f}"
    return " · ".join([f"P{place + 1} {says}", source, *([chip.gold_mark] if chip.gold_mark else [])])


def explained_source(chip: Chip) -> str:
    """Return the source of a chip's label in words, and what the detector says: its opinion where the label is not its own, and
    its probabilities where it has them."""
    parts = [SOURCE_NAMES[chip.by]]
    if chip.by != "detector":
        parts.append(f"detector: {chip.opinion}")
    said = "; ".join(parts)
    return f"{said}, {chip.detected.probabilities}" if chip.detected.probabilities else said


def _next_step(chip: Chip, *, can_judge: bool) -> str:
    if chip.by == "adjudicator":
        return "Adjudicated: change it on the Adjudication page."
    return f"Click to judge: {opposite(chip)}." if can_judge else "Enter your name first."


def opposite(chip: Chip) -> Verdict:
    """Return the judgment that a press on the chip records: the opposite of the label shown, and `supports` for every opinion
    of a detector that is not that the passage supports."""
    shown = chip.opinion == "supports" if chip.by == "detector" else chip.supports
    return "does not support" if shown else "supports"
