"""Edits of perspectives on pages: perspectives and edits as lines of Markdown, the form that proposes an edit, the open edits
with the buttons that decide them, and the decided edits with the button that undoes the decision."""

from collections.abc import Mapping, Sequence

import streamlit as st

from berdseye.annotation.judgments.log import Annotator
from berdseye.annotation.perspective_edits.changes import (
    ACTIONS,
    LONGEST,
    Action,
    Change,
    chosen_parts,
    explained_as,
    shared_stance,
)
from berdseye.annotation.perspective_edits.log import EditLog
from berdseye.annotation.perspective_edits.states import Edit
from berdseye.annotation.perspective_edits.versions import Attention
from berdseye.app.access.roles import check
from berdseye.app.access.session import errors_in_place, people, role
from berdseye.app.components.card_focus import is_drawn
from berdseye.app.components.keys import EDITS
from berdseye.app.components.perspective_mark import perspective_mark, side_badge
from berdseye.app.components.plain_text import escaped
from berdseye.data.datasets.layouts.rows import perspectives_of_lines
from berdseye.data.errors import BerdseyeError
from berdseye.data.records import Perspective, Question
from berdseye.data.texts.counts import counted

VERBS = {
    "propose": "Add",
    "split": "Split",
    "merge": "Merge",
    "reword": "Reword",
    "drop": "Drop",
}
"""The name of each action on the page."""
_ICONS = {"propose": "add", "split": "call_split", "merge": "call_merge", "reword": "edit", "drop": "delete"}
_SHOWN = 20
_STATES = {
    "accepted": ":green-badge[accepted]",
    "rejected": ":red-badge[rejected]",
    "withdrawn": ":gray-badge[withdrawn]",
}


def perspective_line(perspective: Perspective) -> str:
    """Return Markdown of a perspective with its stance."""
    return f"{escaped(perspective.text)}{side_badge(perspective)}"


def numbered_line(number: int, perspective: Perspective, attention: Attention) -> str:
    """Return Markdown of a perspective in a question's list: its number, text, stance, number of judgments and flags."""
    judgments = counted(attention.judgments, "judgment")
    flags = f" :red-badge[{counted(len(attention.flags), 'flag')}]" if attention.flags else ""
    return f"{perspective_mark(number - 1)} {perspective_line(perspective)} :gray[· {judgments}]{flags}"


def change_lines(removed: Sequence[Perspective], added: Sequence[Perspective]) -> str:
    """Return Markdown of the removed and the added perspectives, one per line."""
    lines = [f":red[:material/remove:] {perspective_line(p)}" for p in removed]
    lines += [f":green[:material/add:] {perspective_line(p)}" for p in added]
    return "\n\n".join(lines)


def edit_lines(change: Change) -> str:
    """Return Markdown of the perspectives that an edit removes and adds, one per line."""
    return change_lines(change.parts, change.becomes)


def edit_form(log: EditLog, question: Question, person: Annotator) -> None:
    """Draw the form that proposes an edit: the action, the perspectives it replaces and the new ones."""
    action = _chosen_action()
    texts = [p.text for p in question.perspectives]
    number = st.session_state.get("proposals_sent", 0)  # a new form after each proposal
    with st.form(f"edit-{action}-{question.id}-{number}", enter_to_submit=action == "drop"):
        parts = _parts(action, texts, f"edit-parts-{action}-{question.id}-{number}")
        new_text = ""
        if action != "drop":
            with st.container(key="edit-words"):
                new_text = st.text_area(
                    "New perspectives, one per line" if action == "split" else "New perspective",
                    key=f"edit-new-{action}-{question.id}-{number}",
                    height=100 if action == "split" else 80,
                    max_chars=LONGEST * 10,
                    placeholder="Start a line with + (supporting), - (opposing) or = (neither)",
                    help="Without a sign, a new perspective takes the stance of the perspectives it replaces, if they agree.",
                )
        comment = st.text_input(
            "Reason (stored with the proposal)", key=f"edit-comment-{action}-{question.id}-{number}", max_chars=2000
        )
        if st.form_submit_button("Send proposal", type="primary", icon=":material/send:", shortcut=EDITS["send"]):
            with errors_in_place():
                chosen = chosen_parts(question.perspectives, parts)
                typed = perspectives_of_lines(new_text or "", shared_stance(chosen))
                change = Change.of(action, chosen, explained_as(chosen, typed))
                edit = log.propose(person, question.id, change, comment=comment or "")
                st.session_state["proposals_sent"] = number + 1
                st.session_state["edit_message"] = f"Proposed edit {edit.id}."
                st.rerun()


def _chosen_action() -> Action:
    """Draw the choice of the action, which number keys also make, and return it."""
    chosen = st.session_state.get("edit_action") or st.query_params.get("edit")
    action: Action = next((a for a in ACTIONS if a == chosen), "propose")
    with st.container(horizontal=True):
        for each in ACTIONS:
            st.button(
                VERBS[each],
                key=f"edit-action-{each}",
                icon=f":material/{_ICONS[each]}:",
                type="primary" if each == action else "secondary",
                shortcut=EDITS[each],
                on_click=_choose,
                args=(each,),
            )
    return action


def _choose(action: Action) -> None:
    st.session_state["edit_action"] = action
    st.query_params["edit"] = action


def _parts(action: Action, texts: list[str], key: str) -> list[str]:
    numbered = {text: f"P{n} {text}" for n, text in enumerate(texts, start=1)}
    match action:
        case "propose":
            return []
        case "merge":
            return st.multiselect("Perspectives to merge", texts, key=key, format_func=numbered.__getitem__)
    text = st.selectbox("Perspective", texts, index=None, key=key, format_func=numbered.__getitem__)
    return [] if text is None else [text]


def open_edits(
    log: EditLog,
    edits: Sequence[Edit],
    conflicts: Mapping[int, Sequence[int]],
    person: Annotator | None,
    *,
    decides: bool,
    own: bool,
    page: str,
) -> None:
    """Draw the open edits, oldest first. Keys decide the first one.

    `conflicts` names the edits that conflict with each edit. With `decides` the person may decide edits, and with `own`
    also their
    own. `page` identifies what the page must still show when a button is pressed.
    """
    waiting = [e for e in edits if e.status == "open"]
    if not waiting:
        st.caption("No open proposals. Proposals appear here until someone accepts or rejects them.")
    for place, edit in enumerate(waiting[:_SHOWN]):
        with st.container(border=True, key=f"edit-{edit.id}"):
            st.markdown(f"**Edit {edit.id}** · {VERBS[edit.change.action]} · {escaped(edit.by.name)}, {edit.at[:10]}")
            st.markdown(edit_lines(edit.change))
            if edit.comment:
                st.markdown(f":material/comment: {escaped(edit.comment)}")
            if others := conflicts.get(edit.id):
                numbers = ", ".join(map(str, others))
                st.warning(
                    f"Conflicts with edit {numbers}: both change the same perspective.", icon=":material/call_split:"
                )
            _buttons(log, edit, person, decides=decides, own=own, keyed=place == 0, page=page)
    if len(waiting) > _SHOWN:
        st.caption(f"{len(waiting) - _SHOWN} more open proposals.")


def decided_edits(
    log: EditLog, edits: Sequence[Edit], unfit: Mapping[int, str], person: Annotator | None, *, decides: bool
) -> None:
    """Draw the decided edits, newest first. `unfit` gives the reason why an edit no longer applies, by edit."""
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
                    st.warning(escaped(f"This edit no longer applies: {unfit[edit.id]}"), icon=":material/error:")
                if person is not None and decides and edit.decision is not None:
                    st.button(
                        "Undo decision",
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
                help="Another person must accept your proposal." if mine and not own else None,
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
    """Act, unless a key has moved to another question since the button was drawn."""
    if is_drawn(page):
        _act(log, what, person, edit)


def _act(log: EditLog, what: str, person: Annotator, edit: int) -> None:
    """Decide, undo or withdraw. An error is shown when the page is drawn again."""
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
        st.session_state["edit_message"] = f"Edit {done.id} is {done.status}."
    except BerdseyeError as error:
        st.session_state["edit_trouble"] = str(error)
