"""Proposed edits with the buttons that decide them, and those that are decided with the one that takes it back.

Perspectives and their edits as lines of Markdown, the texts as they were written.

The form that proposes an edit of a question's perspectives.
"""

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
from berdseye.app.components.card_focus import is_in_sight
from berdseye.app.components.keys import EDITS
from berdseye.app.components.perspective_mark import perspective_mark, side_badge
from berdseye.app.components.plain_text import escaped
from berdseye.data.datasets.layouts.rows import perspectives_of_lines
from berdseye.data.errors import BerdseyeError
from berdseye.data.records import Perspective, Question

VERBS = {
    "propose": "Add",
    "split": "Split",
    "merge": "Merge",
    "reword": "Reword",
    "drop": "Drop",
}
"""What the edits are called on the page."""


def perspective_line(perspective: Perspective) -> str:
    """A perspective with its stance."""
    return f"{escaped(perspective.text)}{side_badge(perspective)}"


def numbered_line(number: int, perspective: Perspective, told: Attention) -> str:
    """A perspective as the list of a question shows it: number, stance, and what people have said of it."""
    said = f"{told.judgments} judgment{'' if told.judgments == 1 else 's'}"
    flags = f" :red-badge[{len(told.flags)} flag{'' if len(told.flags) == 1 else 's'}]" if told.flags else ""
    return f"{perspective_mark(number - 1)} {perspective_line(perspective)} :gray[· {said}]{flags}"


def change_lines(removed: Sequence[Perspective], added: Sequence[Perspective]) -> str:
    """What gives way and what comes, a line each."""
    lines = [f":red[:material/remove:] {perspective_line(p)}" for p in removed]
    lines += [f":green[:material/add:] {perspective_line(p)}" for p in added]
    return "\n\n".join(lines)


def edit_lines(change: Change) -> str:
    """The same of an edit."""
    return change_lines(change.parts, change.becomes)


_ICONS = {"propose": "add", "split": "call_split", "merge": "call_merge", "reword": "edit", "drop": "delete"}


def edit_form(log: EditLog, question: Question, person: Annotator) -> None:
    """Choose an edit, what it is of and what comes in its place, and send it."""
    action = _chosen_action()
    texts = [p.text for p in question.perspectives]
    number = st.session_state.get("proposals_sent", 0)  # a new form after each proposal
    with st.form(f"edit-{action}-{question.id}-{number}", enter_to_submit=action == "drop"):
        parts = _parts(action, texts, f"edit-parts-{action}-{question.id}-{number}")
        words = ""
        if action != "drop":
            with st.container(key="edit-words"):
                words = st.text_area(
                    "New perspectives, one a line" if action == "split" else "New perspective",
                    key=f"edit-new-{action}-{question.id}-{number}",
                    height=100 if action == "split" else 80,
                    max_chars=LONGEST * 10,
                    placeholder="Start a line with + for supporting, - for opposing, or = for neither",
                    help="Without a sign it takes the stance of those whose place it takes, where they agree.",
                )
        comment = st.text_input(
            "Reason (kept with it)", key=f"edit-comment-{action}-{question.id}-{number}", max_chars=2000
        )
        if st.form_submit_button("Send the proposal", type="primary", icon=":material/send:", shortcut=EDITS["send"]):
            with errors_in_place():
                chosen = chosen_parts(question.perspectives, parts)
                typed = perspectives_of_lines(words or "", shared_stance(chosen))
                change = Change.of(action, chosen, explained_as(chosen, typed))
                edit = log.propose(person, question.id, change, comment=comment or "")
                st.session_state["proposals_sent"] = number + 1
                st.session_state["edit_told"] = f"Edit {edit.id} is proposed."
                st.rerun()


def _chosen_action() -> Action:
    """The kind of edit; a number key chooses it."""
    held = st.session_state.get("edit_action") or st.query_params.get("edit")
    action: Action = next((a for a in ACTIONS if a == held), "propose")
    with st.container(horizontal=True):
        for known in ACTIONS:
            st.button(
                VERBS[known],
                key=f"edit-action-{known}",
                icon=f":material/{_ICONS[known]}:",
                type="primary" if known == action else "secondary",
                shortcut=EDITS[known],
                on_click=_choose,
                args=(known,),
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
            return st.multiselect("Perspectives that become one", texts, key=key, format_func=numbered.__getitem__)
    one = st.selectbox("Perspective", texts, index=None, key=key, format_func=numbered.__getitem__)
    return [] if one is None else [one]


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
