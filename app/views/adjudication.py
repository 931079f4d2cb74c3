"""The Adjudication page: shows the pairs that people judge differently, with every vote, and an adjudicator settles them one by
one."""

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from berdseye.annotation.batches.stored import list_batches
from berdseye.annotation.judgments.adjudication import Dispute, adjudicate, disputes, take_back
from berdseye.annotation.judgments.log import Annotator
from berdseye.app.access.session import annotator, errors_in_place, judgments, name_entry
from berdseye.app.cached.overview import disputed_by_batch, disputed_pairs
from berdseye.app.components.card_focus import mark_drawn, move_on, take_answer
from berdseye.app.components.choices import selectbox_by_id
from berdseye.app.components.keys import ADJUDICATION, NEXT, PREVIOUS, UNDO, key_list, keyboard
from berdseye.app.components.page_button import page_button
from berdseye.app.components.pair_card import (
    answers_card,
    choices_of,
    judged_card,
    judged_check_card,
    trail_table,
    verdict_buttons,
    votes,
)
from berdseye.app.components.plain_text import escaped
from berdseye.app.components.swipe import SWIPED, swipe
from berdseye.data.texts.counts import counted, plural

EVERYTHING = "all judgments"
# The card and the buttons are visible together down to 1024 x 768: everything above and below them takes 26.25 rem.
_FITTING = (
    "<style>:has(> .st-key-dispute-card), .st-key-dispute-card { max-height: max(13rem, 100vh - 26.25rem); }</style>"
)


def decide(person: Annotator, dispute: Dispute, verdict: str) -> None:
    """Record the adjudicated verdict with the comment in the box, unless the pair is no longer the one on screen."""
    if not take_answer(dispute.key):
        return
    with errors_in_place():
        comment = st.session_state.get(f"decision-{dispute.key}") or ""
        adjudicate(judgments(), person, dispute.key, verdict, task=dispute.task, comment=comment)
        st.session_state.setdefault("decided", []).append(dispute.key)


def go_to(dispute: str) -> None:
    """Show this pair next."""
    move_on()
    st.session_state["dispute"] = dispute


def undo(person: Annotator) -> None:
    """Undo the last verdict of this session and show its pair again."""
    with errors_in_place():
        move_on()
        if decided := st.session_state.get("decided"):
            key = decided.pop()
            take_back(judgments(), person, key)
            st.session_state["dispute"] = key


def chosen(open_disputes: list[Dispute]) -> Dispute:
    """Draw the choice of a pair, which the address keeps, and return it. The default is the pair just undone, otherwise the
    first."""
    texts = {d.key: d.record.question if d.task == "prefer" else d.record.perspective for d in open_disputes}
    titles = {d.key: f"{'✓ ' if d.decision else ''}{texts[d.key][:90]}" for d in open_disputes}
    key = selectbox_by_id("Pair", list(titles), "dispute", titles.__getitem__, noun="pair to adjudicate")
    return next(d for d in open_disputes if d.key == key)


def keys(person: Annotator, dispute: Dispute, listed: list[Dispute]) -> None:
    """Draw the buttons that settle the pair and those that move from pair to pair."""
    choices = choices_of(dispute.task, form=dispute.form)
    with st.container(horizontal=True, gap="small", key="verdicts"):
        if dispute.task in SWIPED:
            swipe(choices)
        verdict_buttons(dispute.key, choices, lambda _, verdict: decide(person, dispute, verdict))
        undo_button(person)
    with st.container(horizontal=True, gap="small"):
        with st.container(key="comment"):
            st.text_input(
                "Reason (stored with the verdict)",
                key=f"decision-{dispute.key}",
                max_chars=2000,
                placeholder="Reason (M): stored with the verdict",
                label_visibility="collapsed",
            )
        place = [d.key for d in listed].index(dispute.key)
        for name, key, icon, to in (
            ("Previous", PREVIOUS, ":material/arrow_upward:", place - 1),
            ("Next", NEXT, ":material/arrow_downward:", place + 1),
        ):
            st.button(
                name,
                icon=icon,
                shortcut=key,
                key=name.lower(),
                disabled=not 0 <= to < len(listed),
                on_click=go_to,
                args=(listed[max(0, min(to, len(listed) - 1))].key,),
            )


def open_elsewhere() -> dict[str, int]:
    """Return the numbers of pairs to adjudicate by what the page offers, the newest batch first and all judgments last."""
    return disputed_by_batch() | ({EVERYTHING: disputed_pairs()} if disputed_pairs() else {})


def chosen_judgments(place: DeltaGenerator) -> str:
    """Draw the choice of the judgments that are compared and return it: a batch or `EVERYTHING`. The default is the newest batch
    with pairs to adjudicate, or all judgments if pairs are disputed there alone."""
    names = [*(batch.name for batch in list_batches(judgments())), EVERYTHING]
    with place:
        return selectbox_by_id("Judgments of", names, "of", str, noun="batch", first=next(iter(open_elsewhere()), ""))


def nothing_left(name: str, settled: int) -> None:
    """Explain why these judgments hold no pair to settle, of which an adjudicator has `settled` some, and what to do next."""
    if settled:
        pairs = f"{counted(settled, 'pair')} {plural(settled, 'is', 'are')}"
        st.success(
            f"No open disagreements: {pairs} adjudicated. Turn on “Show adjudicated pairs” to read them again.",
            icon=":material/check:",
        )
    if left := open_elsewhere():
        other, number = next(iter(left.items()))
        pairs = f"{counted(number, 'disputed pair')} {plural(number, 'waits', 'wait')}"
        st.info(
            f"No disagreements in {escaped(name)}. In {escaped(other)}, {pairs} for a decision.",
            icon=":material/gavel:",
        )
        st.button(
            f"Go to {escaped(other)}",
            icon=":material/arrow_forward:",
            key="empty-to-disputes",
            on_click=st.session_state.__setitem__,
            args=("of", other),
        )
    elif not settled:
        st.info(
            "No disagreements. A pair appears here when two people judge it differently. A batch of the page Batches can send "
            "each pair to several people. The simulated annotators of the demo do not count.",
            icon=":material/gavel:",
        )
        page_button("batches", "New batch", key="empty-to-batches", icon="add", new="agreement")


def undo_button(person: Annotator) -> None:
    """Draw the button that undoes a verdict."""
    st.button("Undo", icon=":material/undo:", shortcut=UNDO, key="undo", on_click=undo, args=(person,))


def page() -> None:
    """Draw the page."""
    person = annotator()
    if person is None:
        name_entry("name_entry_of_page")
        return
    batches = {b.name: b for b in list_batches(judgments())}
    left, right = st.columns([2, 3])
    name = chosen_judgments(left)
    with st.container(horizontal=True, vertical_alignment="center", gap="medium"):
        with st.container(key="hide-names", width="content"):
            hidden = st.toggle("Hide names", value=True, key="hidden", bind="query-params")
        unsure = st.toggle(
            "Count unsure",
            key="unsure",
            bind="query-params",
            help="Treat “unsure” as a disagreement with “supports” and “does not support”.",
        )
        decided = st.toggle("Show adjudicated pairs", key="with_decided", bind="query-params")
        key_list(ADJUDICATION)
        listed = disputes(judgments(), batches.get(name), unsure=unsure, decided=decided)
        if listed:
            st.caption(f"{sum(d.decision is None for d in listed)} to adjudicate")
    if not listed:
        nothing_left(name, 0 if decided else len(disputes(judgments(), batches.get(name), unsure=unsure, decided=True)))
        if st.session_state.get("decided"):
            undo_button(person)
        return
    with right:
        dispute = chosen(listed)
    st.html(_FITTING)
    card, side = st.columns([3, 2])
    with card:
        evidence = [span for vote in dispute.votes for span in vote.evidence]
        if dispute.task == "prefer":
            answers_card(dispute.record)
        elif dispute.form is not None:
            judged_check_card(dispute.record, dispute.form, evidence)
        else:
            judged_card(dispute.record, evidence)
    with side:
        votes(dispute, hidden=hidden)
        trail_table(dispute, hidden=hidden)
    mark_drawn(dispute.key)
    keys(person, dispute, listed)
    keyboard(ADJUDICATION)


with errors_in_place():
    page()
