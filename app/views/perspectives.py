"""Perspectives: those of a question, what people propose to change, and the versions of the data set that come of it."""

import streamlit as st

from berdseye.annotation.perspective_edits.log import EditLog
from berdseye.annotation.perspective_edits.states import Replayed, overlaps, replay
from berdseye.annotation.perspective_edits.versions import attention, coming_version, make_version
from berdseye.app.access.roles import check, may
from berdseye.app.access.session import acting_person, annotator, errors_in_place, judgments, people, role, workspace
from berdseye.app.components.card_focus import move_on, put_in_sight
from berdseye.app.components.choices import selectbox_by_id
from berdseye.app.components.edits import change_lines, decided_edits, edit_form, numbered_line, open_edits
from berdseye.app.components.keys import EDITS, PERSPECTIVES, key_list, keyboard
from berdseye.app.components.plain_text import escaped
from berdseye.app.components.version_measures import version_measures
from berdseye.data.datasets.versions import list_versions, trouble
from berdseye.data.errors import BadInputError
from berdseye.data.records import Question

_PREVIEWED = 30


def chosen_log() -> EditLog:
    """The edits of the data set of the widget."""
    names = workspace().datasets()
    if not names:
        raise BadInputError("The workspace holds no data set.", hint="Add one with `berdseye dataset add NAME FILE`.")
    name = st.selectbox("Data set", names, key="dataset", bind="query-params")
    return EditLog(workspace(), judgments(), name or names[0])


def chosen_question(found: Replayed) -> Question:
    """The question of the widget, as its perspectives are after the accepted edits; J and K go to the next and the one before."""
    questions = {q.id: q for q in found.questions}
    if not questions:
        raise BadInputError("This data set has no question.", hint="Choose another.")
    return questions[selectbox_by_id("Question", list(questions), "question", lambda i: questions[i].text)]


def move(ids: list[str], step: int) -> None:
    """Go to another question."""
    move_on()
    at = ids.index(st.session_state["question"]) if st.session_state.get("question") in ids else 0
    st.session_state["question"] = ids[(at + step) % len(ids)]


def perspectives(question: Question) -> None:
    """The perspectives as they are, with what people have said of them."""
    st.header(escaped(question.text), anchor=False)
    if not question.perspectives:
        st.info("This question has no perspective yet.")
    told = attention(judgments(), [p.text for p in question.perspectives])
    for number, (perspective, said) in enumerate(zip(question.perspectives, told, strict=True), start=1):
        st.markdown(numbered_line(number, perspective, said))
        for who, why in said.flags:
            st.caption(f":material/flag: {escaped(who)}: {escaped(why) or 'no comment'}")


def versions(log: EditLog) -> None:
    """The versions there are, and the one that could be made now with all that it would change."""
    st.subheader("Versions", anchor=False)
    known = list_versions(workspace(), log.dataset)
    for version in known:
        wrong = trouble(workspace(), version)
        st.markdown(
            f"**{escaped(version.name)}** · {len(version.edits)} edits · {version.at[:10]} · "
            f"{escaped(version.made_by) or 'nobody named'} · `{version.hash[:12]}`"
            + (f" :red-badge[{escaped(wrong)}]" if wrong else "")
        )
    coming = coming_version(log)
    for edit, why in coming.unfit:
        st.warning(escaped(f"Edit {edit.id} does not fit the data set any more: {why}"))
    if not coming.changes:
        st.caption(f"Nothing is accepted that {escaped(coming.parent)} does not have.")
    else:
        count = len(coming.changes)
        with st.expander(
            f"What {coming.name} would change: {count} question{'' if count == 1 else 's'}",
            icon=":material/difference:",
        ):
            for change in coming.changes[:_PREVIEWED]:
                st.markdown(f"**{escaped(change.question.text)}**")
                st.markdown(change_lines(change.removed, change.added))
            if count > _PREVIEWED:
                st.caption(f"{count - _PREVIEWED} more questions.")
        if st.button(
            f"Make {coming.name}",
            icon=":material/publish:",
            key="make-version",
            disabled=annotator() is None or bool(coming.unfit) or not may(role(), "research"),
        ):
            with errors_in_place():
                check(role(), "research", acting_person())
                made = make_version(log, acting_person())
                st.session_state["edit_told"] = f"{made.name} is made."
                st.rerun()
    with st.expander("Measures under two versions", icon=":material/compare_arrows:"), errors_in_place():
        version_measures(log.dataset, tuple(v.hash for v in known))


def page() -> None:
    """The whole page."""
    left, right = st.columns([1, 3], vertical_alignment="bottom")
    with left:
        log = chosen_log()
    edits = log.edits()
    found = replay(log.base, edits)
    with right:
        question = chosen_question(found)
    ids = [q.id for q in found.questions]
    with st.container(horizontal=True, vertical_alignment="center"):
        st.button("Previous", icon=":material/arrow_upward:", shortcut=EDITS["previous"], on_click=move, args=(ids, -1))
        st.button("Next", icon=":material/arrow_downward:", shortcut=EDITS["next"], on_click=move, args=(ids, 1))
        key_list(PERSPECTIVES)
        st.markdown(escaped(st.session_state.pop("edit_told", "")))
    if trouble_told := st.session_state.pop("edit_trouble", ""):
        st.error(escaped(trouble_told), icon=":material/error:")
    person = annotator()
    facts, side = st.columns([3, 2], gap="large")
    with facts:
        perspectives(question)
        if person is None:
            st.info("Enter your name in the sidebar to propose an edit.", icon=":material/person:")
        else:
            edit_form(log, question, person)
    with side:
        st.subheader("Proposals", anchor=False)
        everywhere = st.toggle("Of all questions", key="all", bind="query-params")
        shown = [e for e in edits if everywhere or e.question_id == question.id]
        decides = may(role(), "adjudicate")
        put_in_sight(question.id)
        open_edits(log, shown, overlaps(edits), person, decides=decides, own=not people().team, page=question.id)
        decided_edits(log, shown, found.conflicts, person, decides=decides)
    versions(log)
    keyboard(PERSPECTIVES)


with errors_in_place():
    page()
