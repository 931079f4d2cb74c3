"""The checks of a construction by people, on the Build page: what each asks, its batch, its outcome, and what that rejects."""

import streamlit as st

from berdseye.app.access.session import errors_in_place, judgments, started_by
from berdseye.app.components.page_button import open_page
from berdseye.app.components.plain_text import escaped
from berdseye.evaluation.construction.checking import Checked, apply_outcome, begin_check, checked
from berdseye.evaluation.construction.steps import Check
from berdseye.evaluation.construction.stored import Construction


def draw_checks(construction: Construction) -> None:
    """Draw the checks of this kind of construction, each with its batches."""
    done = checked(construction, judgments())
    for check in construction.kind.checks:
        with st.container(border=True):
            st.markdown(f"**{escaped(check.title)}**")
            if check.printed:
                st.caption(escaped(check.printed))
            for one in done:
                if one.check.name == check.name:
                    _draw_batch(construction, one)
            ready = construction.made_from(check.outcome or construction.step_names[-1]) is not None
            with st.popover("Send to people", icon=":material/send:", disabled=not ready), errors_in_place():
                _draw_sending(construction, check, taken=[one.batch.name for one in done])


def _draw_batch(construction: Construction, done: Checked) -> None:
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(f"{escaped(done.batch.name)}: {escaped(done.text)}")
        if st.button("Open the batch", icon=":material/inventory_2:", key=f"open-{done.batch.name}", type="tertiary"):
            open_page("batches", batch=done.batch.name)
        if st.button("Agreement", icon=":material/handshake:", key=f"agree-{done.batch.name}", type="tertiary"):
            open_page("agreement", batch=done.batch.name)
        rejected = [row for row, one in done.outcomes.items() if one.accepted is False]
        if done.check.outcome and rejected:
            label = f"Reject what people rejected ({len(rejected)})"
            if st.button(label, icon=":material/remove:", key=f"apply-{done.batch.name}"):
                apply_outcome(construction, done, made_by=started_by())
                st.rerun()


def _draw_sending(construction: Construction, check: Check, taken: list[str]) -> None:
    key = f"check-{check.name}"
    base = f"{construction.name}-{check.name}"
    free = next(name for n in range(1, len(taken) + 2) if (name := base if n == 1 else f"{base}-{n}") not in taken)
    name = (st.text_input("Name of the batch", free, key=f"{key}-batch") or "").strip()
    size = st.number_input("Items, at most", 1, None, check.size, key=f"{key}-size")
    per_item = st.number_input("People for each item", 1, 20, check.people, key=f"{key}-people")
    names = [person.name for person in judgments().annotators() if not person.demo]
    people = st.multiselect(
        "People", names, key=f"{key}-names", accept_new_options=True, placeholder="everyone", help="Empty: everyone."
    )
    if st.button("Send", type="primary", icon=":material/send:", key=f"{key}-send"):
        made = begin_check(
            construction,
            judgments(),
            check.name,
            batch=name,
            size=int(size),
            per_item=int(per_item),
            people=tuple(people),
            made_by=started_by(),
        )
        st.toast(escaped(f"{made.name} is on Annotate."))
        st.rerun()
