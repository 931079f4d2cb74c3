"""The Perspectives page: the perspectives of a question, the edits that people propose, and the versions of the data set that
accepted edits lead to."""

import streamlit as st

from berdseye.annotation.perspective_edits.log import EditLog
from berdseye.annotation.perspective_edits.states import Replayed, overlaps, replay
from berdseye.annotation.perspective_edits.versions import attention, create_version, next_version
from berdseye.app.access.roles import check, may
from berdseye.app.access.session import acting_person, annotator, errors_in_place, judgments, people, role, workspace
from berdseye.app.components.card_focus import mark_drawn, move_on
from berdseye.app.components.choices import selectbox_by_id
from berdseye.app.components.edits import change_lines, decided_edits, edit_form, numbered_line, open_edits
from berdseye.app.components.keys import EDITS, PERSPECTIVES, key_list, keyboard
from berdseye.app.components.missing import is_missing
from berdseye.app.components.plain_text import escaped
from berdseye.app.components.version_measures import version_measures
from berdseye.data.datasets.versions import list_versions, version_problem
from berdseye.data.errors import BadInputError
from berdseye.data.records import Question
from berdseye.data.texts.counts import counted, plural

_PREVIEWED = 30


def chosen_log() -> EditLog:
    """Draw the choice of a data set and return its edit log."""
    names = workspace().datasets()
    name = st.selectbox("Data set", names, key="dataset", bind="query-params")
    return EditLog(workspace(), judgments(), name or names[0])


def chosen_question(replayed: Replayed) -> Question:
    """Draw the choice of a question and return it with its perspectives after the accepted edits. J and K go to the next and
    the previous question."""
    questions = {q.id: q for q in replayed.questions}
    if not questions:
        raise BadInputError("This data set has no questions.", hint="Choose another data set.")
    return questions[selectbox_by_id("Question", list(questions), "question", lambda i: questions[i].text)]


def go_to_question(ids: list[str], step: int) -> None:
    """Go to the question `step` places on."""
    move_on()
    at = ids.index(st.session_state["question"]) if st.session_state.get("question") in ids else 0
    st.session_state["question"] = ids[(at + step) % len(ids)]


def draw_perspectives(question: Question) -> None:
    """Draw the perspectives with their flags and their numbers of judgments."""
    st.header(escaped(question.text), anchor=False)
    if not question.perspectives:
        st.info("This question has no perspectives yet.")
    counts = attention(judgments(), [p.text for p in question.perspectives])
    for number, (perspective, count) in enumerate(zip(question.perspectives, counts, strict=True), start=1):
        st.markdown(numbered_line(number, perspective, count))
        for who, why in count.flags:
            st.caption(f":material/flag: {escaped(who)}: {escaped(why) or 'no comment'}")


def draw_versions(log: EditLog) -> None:
    """Draw the versions of the data set and a preview of the version that the accepted edits would make now."""
    st.subheader("Versions", anchor=False)
    existing = list_versions(workspace(), log.dataset)
    for version in existing:
        problem = version_problem(workspace(), version)
        edits = counted(len(version.edits), "edit")
        st.markdown(
            f"**{escaped(version.name)}** · {edits} · {version.at[:10]} · "
            f"{escaped(version.made_by) or 'unknown person'} · `{version.hash[:12]}`"
            + (f" :red-badge[{escaped(problem)}]" if problem else "")
        )
    coming = next_version(log)
    for edit, why in coming.unfit:
        st.warning(escaped(f"Edit {edit.id} no longer applies to the data set: {why}"))
    if not coming.changes:
        st.caption(f"{escaped(coming.parent)} contains every accepted edit.")
    else:
        count = len(coming.changes)
        with st.expander(
            f"Changes in {coming.name}: {counted(count, 'question')}",
            icon=":material/difference:",
        ):
            for change in coming.changes[:_PREVIEWED]:
                st.markdown(f"**{escaped(change.question.text)}**")
                st.markdown(change_lines(change.removed, change.added))
            if count > _PREVIEWED:
                more = count - _PREVIEWED
                st.caption(f"{counted(more, 'more question')} {plural(more, 'changes', 'change')}.")
        if st.button(
            f"Create {coming.name}",
            icon=":material/publish:",
            key="make-version",
            disabled=annotator() is None or bool(coming.unfit) or not may(role(), "research"),
        ):
            with errors_in_place():
                check(role(), "research", acting_person())
                version = create_version(log, acting_person())
                st.session_state["edit_message"] = f"Created {version.name}."
                st.rerun()
    with st.expander("Measures on two versions", icon=":material/compare_arrows:"), errors_in_place():
        version_measures(log.dataset, tuple(v.hash for v in existing))


def page() -> None:
    """Draw the page."""
    if is_missing("data set"):
        return
    left, right = st.columns([1, 3], vertical_alignment="bottom")
    with left:
        log = chosen_log()
    edits = log.edits()
    replayed = replay(log.base, edits)
    with right:
        question = chosen_question(replayed)
    ids = [q.id for q in replayed.questions]
    with st.container(horizontal=True, vertical_alignment="center"):
        st.button(
            "Previous",
            icon=":material/arrow_upward:",
            shortcut=EDITS["previous"],
            on_click=go_to_question,
            args=(ids, -1),
        )
        st.button(
            "Next", icon=":material/arrow_downward:", shortcut=EDITS["next"], on_click=go_to_question, args=(ids, 1)
        )
        key_list(PERSPECTIVES)
        st.markdown(escaped(st.session_state.pop("edit_message", "")))
    if message := st.session_state.pop("edit_trouble", ""):
        st.error(escaped(message), icon=":material/error:")
    person = annotator()
    facts, side = st.columns([3, 2], gap="large")
    with facts:
        draw_perspectives(question)
        if person is None:
            st.info("Enter your name in the sidebar to propose an edit.", icon=":material/person:")
        else:
            edit_form(log, question, person)
    with side:
        st.subheader("Proposals", anchor=False)
        everywhere = st.toggle("Of all questions", key="all", bind="query-params")
        shown = [e for e in edits if everywhere or e.question_id == question.id]
        may_decide = may(role(), "adjudicate")
        mark_drawn(question.id)
        open_edits(log, shown, overlaps(edits), person, decides=may_decide, own=not people().team, page=question.id)
        decided_edits(log, shown, replayed.conflicts, person, decides=may_decide)
    draw_versions(log)
    keyboard(PERSPECTIVES)


with errors_in_place():
    page()
