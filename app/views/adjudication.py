"""Adjudication: pairs that people judge differently, with everyone's votes beside them, decided one by one."""

import streamlit as st

from berdseye.annotation.batches.stored import Batch, list_batches
from berdseye.annotation.judgments.adjudication import Dispute, adjudicate, disputes, take_back
from berdseye.annotation.judgments.log import Annotator
from berdseye.app.access.session import annotator, errors_in_place, judgments
from berdseye.app.components.card_focus import move_on, put_in_sight, take_answer
from berdseye.app.components.choices import selectbox_by_id
from berdseye.app.components.keys import ADJUDICATION, NEXT, PREVIOUS, UNDO, key_list, keyboard
from berdseye.app.components.pair_card import answers_card, choices_of, judged_card, trail_table, verdict_buttons, votes

EVERYTHING = "all judgments"
# Card and keys are in sight together down to 1024 x 768: what is above and below them takes 23 rem.
_FITTING = (
    "<style>:has(> .st-key-dispute-card), .st-key-dispute-card { max-height: max(13rem, 100vh - 23rem); }</style>"
)


def decide(person: Annotator, dispute: Dispute, verdict: str) -> None:
    """Record a decision with the comment in the box, unless the pair is no longer the one in sight."""
    if not take_answer(dispute.key):
        return
    with errors_in_place():
        comment = st.session_state.get(f"decision-{dispute.key}") or ""
        adjudicate(judgments(), person, dispute.key, verdict, task=dispute.task, comment=comment)
        st.session_state.setdefault("decided", []).append(dispute.key)


def go_to(dispute: str) -> None:
    """Show another pair next."""
    move_on()
    st.session_state["dispute"] = dispute


def undo(person: Annotator) -> None:
    """Take back the last decision of this session; its pair comes first again."""
    with errors_in_place():
        move_on()
        if decided := st.session_state.get("decided"):
            key = decided.pop()
            take_back(judgments(), person, key)
            st.session_state["dispute"] = key


def chosen(found: list[Dispute]) -> Dispute:
    """The dispute of the widget, which stands in the address; the one just undone, else the first, until one is chosen."""
    texts = {d.key: d.record.question if d.task == "prefer" else d.record.perspective for d in found}
    titles = {d.key: f"{'✓ ' if d.decision else ''}{texts[d.key][:90]}" for d in found}
    key = selectbox_by_id("Pair", list(titles), "dispute", titles.__getitem__)
    return next(d for d in found if d.key == key)


def keys(person: Annotator, dispute: Dispute, found: list[Dispute]) -> None:
    """The buttons that decide, and those that go from pair to pair."""
    with st.container(horizontal=True, gap="small"):
        verdict_buttons(dispute.key, choices_of(dispute.task), lambda _, verdict: decide(person, dispute, verdict))
        undo_button(person)
    with st.container(horizontal=True, gap="small"):
        with st.container(key="comment"):
            st.text_input(
                "Reason (kept with the decision)",
                key=f"decision-{dispute.key}",
                max_chars=2000,
                placeholder="Reason (M): kept with the decision",
                label_visibility="collapsed",
            )
        place = [d.key for d in found].index(dispute.key)
        for name, key, icon, to in (
            ("Previous", PREVIOUS, ":material/arrow_upward:", place - 1),
            ("Next", NEXT, ":material/arrow_downward:", place + 1),
        ):
            st.button(
                name,
                icon=icon,
                shortcut=key,
                key=name.lower(),
                disabled=not 0 <= to < len(found),
                on_click=go_to,
                args=(found[max(0, min(to, len(found) - 1))].key,),
            )


def nothing_left(batch: Batch | None, *, unsure: bool, decided: bool) -> None:
    """Say why there is nothing to decide, and what to do next."""
    settled = 0 if decided else len(disputes(judgments(), batch, unsure=unsure, decided=True))
    if settled:
        pairs = "one pair is" if settled == 1 else f"{settled} pairs are"
        st.success(
            f"Nobody disagrees here any more: {pairs} decided. Turn on “With decided” to read them again.",
            icon=":material/check:",
        )
        return
    st.info(
        "Nobody disagrees here. A pair comes here when two people judge it differently: `berdseye batch create … --per-pair 2` "
        "sends the same pairs to several people, who judge them on Annotate. Made-up annotators of the demo do not count.",
        icon=":material/gavel:",
    )


def undo_button(person: Annotator) -> None:
    """The button that takes back a decision."""
    st.button("Undo", icon=":material/undo:", shortcut=UNDO, key="undo", on_click=undo, args=(person,))


def page() -> None:
    """The whole page."""
    person = annotator()
    if person is None:
        st.info("Enter your name in the sidebar to begin.", icon=":material/person:")
        return
    batches = {b.name: b for b in list_batches(judgments())}
    left, right = st.columns([2, 3])
    name = left.selectbox("Judgments of", [*batches, EVERYTHING], key="of", bind="query-params")
    with st.container(horizontal=True, vertical_alignment="center", gap="medium"):
        with st.container(key="hide-names", width="content"):
            hidden = st.toggle("Hide names", value=True, key="hidden", bind="query-params")
        unsure = st.toggle(
            "Unsure counts", key="unsure", bind="query-params", help="Someone unsure differs from someone sure."
        )
        decided = st.toggle("With decided", key="with_decided", bind="query-params")
        key_list(ADJUDICATION)
        found = disputes(judgments(), batches.get(name), unsure=unsure, decided=decided)
        if found:
            st.caption(f"{sum(d.decision is None for d in found)} to decide")
    if not found:
        nothing_left(batches.get(name), unsure=unsure, decided=decided)
        if st.session_state.get("decided"):
            undo_button(person)
        return
    with right:
        dispute = chosen(found)
    st.html(_FITTING)
    card, side = st.columns([3, 2])
    with card:
        if dispute.task == "prefer":
            answers_card(dispute.record)
        else:
            judged_card(dispute.record, [span for vote in dispute.votes for span in vote.evidence])
    with side:
        votes(dispute, hidden=hidden)
        trail_table(dispute, hidden=hidden)
    put_in_sight(dispute.key)
    keys(person, dispute, found)
    keyboard(ADJUDICATION)


with errors_in_place():
    page()
