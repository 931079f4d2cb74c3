"""Proposed edits with the buttons that decide them, and those that are decided with the one that takes it back."""

from collections.abc import Mapping, Sequence

import streamlit as st

from berdseye.annotation.judgments import Annotator
from berdseye.annotation.perspective_edits.log import EditLog
from berdseye.annotation.perspective_edits.states import Edit
from berdseye.app.components.edit_lines import VERBS, edit_lines
from berdseye.app.components.in_sight import is_in_sight
from berdseye.app.components.key_map import EDITS
from berdseye.app.components.plain_text import escaped
from berdseye.app.roles import check
from berdseye.app.session import people, role
from berdseye.data.errors import BerdseyeError

_SHOWN = 20
_STATES = {
    "accepted": ":green-badge[accepted]",
    "rejected": ":red-badge[rejected]",
    "withdrawn": ":gray-badge[withdrawn]",
}


def open_edits(
    log: EditLog,
    edits: Sequence[Edit],
    beside: Mapping[int, Sequence[int]],
    person: Annotator | None,
    *,
    decides: bool,
    own: bool,
    page: str,
) -> None:
    """Edits that wait, the oldest first; keys decide the first. `decides`: this person may, and with `own` also of theirs.

    `page` is what the page must still show when a button is pressed.
    """
    waiting = [e for e in edits if e.status == "open"]
    if not waiting:
        st.caption("Nothing waits for a decision. What people propose comes here.")
    for place, edit in enumerate(waiting[:_SHOWN]):
        with st.container(border=True, key=f"edit-{edit.id}"):
            st.markdown(f"**Edit {edit.id}** · {VERBS[edit.change.action]} · {escaped(edit.by.name)}, {edit.at[:10]}")
            st.markdown(edit_lines(edit.change))
            if edit.comment:
                st.markdown(f":material/comment: {escaped(edit.comment)}")
            if others := beside.get(edit.id):
                named = ", ".join(map(str, others))
                st.warning(
                    f"Cannot stand beside edit {named}: both touch the same perspective.", icon=":material/call_split:"
                )
            _buttons(log, edit, person, decides=decides, own=own, keyed=place == 0, page=page)
    if len(waiting) > _SHOWN:
        st.caption(f"{len(waiting) - _SHOWN} more wait.")


def decided_edits(
    log: EditLog, edits: Sequence[Edit], unfit: Mapping[int, str], person: Annotator | None, *, decides: bool
) -> None:
    """Edits that were decided, the newest first."""
    settled = [e for e in edits if e.status != "open"][::-1]
    if not settled:
        return
    with st.expander(f"Decided ({len(settled)})", icon=":material/history:"):
        for edit in settled[:_SHOWN]:
            with st.container(border=True, key=f"decided-{edit.id}"):
                by = f" by {escaped(edit.decision.by.name)}, {edit.decision.at[:10]}" if edit.decision else ""
                st.markdown(
                    f"**Edit {edit.id}** · {VERBS[edit.change.action]} · {escaped(edit.by.name)}, {edit.at[:10]} · "
                    f"{_STATES[edit.status]}{by}"
                )
                st.markdown(edit_lines(edit.change))
                if edit.id in unfit:
                    st.warning(escaped(f"It does not fit any more: {unfit[edit.id]}"), icon=":material/error:")
                if person is not None and decides and edit.decision is not None:
                    st.button(
                        "Take back",
                        key=f"undo-edit-{edit.id}",
                        icon=":material/undo:",
                        on_click=_act,
                        args=(log, "take back", person, edit.id),
                    )


def _buttons(
    log: EditLog, edit: Edit, person: Annotator | None, *, decides: bool, own: bool, keyed: bool, page: str
) -> None:
    if person is None:
        return
    mine = edit.by.id == person.id
    with st.container(horizontal=True):
        if decides:
            st.button(
                "Accept",
                key=f"accept-edit-{edit.id}",
                icon=":material/check:",
                shortcut=EDITS["accept"] if keyed else None,
                disabled=mine and not own,
                help="Someone else accepts what you proposed." if mine and not own else None,
                on_click=_act_in_sight,
                args=(page, log, "accept", person, edit.id),
            )
            st.button(
                "Reject",
                key=f"reject-edit-{edit.id}",
                icon=":material/close:",
                shortcut=EDITS["reject"] if keyed else None,
                on_click=_act_in_sight,
                args=(page, log, "reject", person, edit.id),
            )
        if mine:
            st.button(
                "Withdraw",
                key=f"withdraw-edit-{edit.id}",
                icon=":material/undo:",
                on_click=_act_in_sight,
                args=(page, log, "withdraw", person, edit.id),
            )


def _act_in_sight(page: str, log: EditLog, what: str, person: Annotator, edit: int) -> None:
    """Act, unless a key has moved on to another question since the button was drawn."""
    if is_in_sight(page):
        _act(log, what, person, edit)


def _act(log: EditLog, what: str, person: Annotator, edit: int) -> None:
    """Decide or take back; what stands in the way is told when the page is drawn again."""
    try:
        if what == "withdraw":
            done = log.undo(person, edit, of="proposal")
        else:
            check(role(), "adjudicate", person.name)  # whatever buttons a browser shows
            match what:
                case "accept":
                    done = log.accept(person, edit, own=not people().team)
                case "reject":
                    done = log.reject(person, edit)
                case _:
                    done = log.undo(person, edit, of="decision")
        st.session_state["edit_told"] = f"Edit {done.id} is {done.status}."
    except BerdseyeError as error:
        st.session_state["edit_trouble"] = str(error)
