"""The form that proposes an edit of a question's perspectives."""

import streamlit as st

from berdseye.annotation.judgments import Annotator
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
from berdseye.app.components.edit_lines import VERBS
from berdseye.app.components.key_map import EDITS
from berdseye.app.session import errors_in_place
from berdseye.data.dataset_formats.perspectives import perspectives_of_lines
from berdseye.data.records import Question

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
