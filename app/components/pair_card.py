"""The card of a pair to judge (question, perspective and passage as untrusted text, at a fixed height), the verdict buttons with
their keys, and the votes and the history of a disputed pair, under names or under letters."""

from collections.abc import Callable, Sequence
from random import Random
from typing import NamedTuple

import pandas as pd
import streamlit as st

from berdseye.annotation.batches.stored import Task
from berdseye.annotation.checks import CheckForm
from berdseye.annotation.judgments.adjudication import Dispute, trail
from berdseye.annotation.judgments.log import PairRecord
from berdseye.annotation.judgments.recorded import Span, merged
from berdseye.app.access.session import judgments
from berdseye.app.components.keys import VERDICTS
from berdseye.app.components.passage_text import passage_text
from berdseye.app.components.plain_text import escaped, highlighted, web_address

CARD_HEIGHT = 430
_YES, _NO, _UNSURE = ":material/check:", ":material/close:", ":material/question_mark:"
GIVE = "give-"
"""The prefix of the buttons' widget keys."""


def pair_card(record: PairRecord) -> None:
    """Draw a pair whose passage lets the person select evidence."""
    with st.container(border=True, height=CARD_HEIGHT, key="pair-card", gap="xsmall"):
        _above(record)
        passage_text(record.key, record.passage)
        _below(record)


def judged_card(record: PairRecord, evidence: Sequence[Span]) -> None:
    """Draw a judged pair with the evidence that people selected."""
    with st.container(border=True, height=CARD_HEIGHT, key="dispute-card", gap="xsmall"):
        _above(record)
        st.markdown(highlighted(record.passage, merged(evidence)))
        _below(record)


def check_card(record: PairRecord, form: CheckForm) -> None:
    """Draw a check: the text that is checked, and what one reads for it, in which the person can select evidence."""
    with st.container(border=True, height=CARD_HEIGHT, key="pair-card", gap="xsmall"):
        _statement(record, form)
        passage_text(record.key, record.passage)


def judged_check_card(record: PairRecord, form: CheckForm, evidence: Sequence[Span]) -> None:
    """Draw a judged check with the evidence that people selected."""
    with st.container(border=True, height=CARD_HEIGHT, key="dispute-card", gap="xsmall"):
        _statement(record, form)
        st.markdown(highlighted(record.passage, merged(evidence)))


def _statement(record: PairRecord, form: CheckForm) -> None:
    st.markdown(f"**{escaped(form.question)}**")
    if record.question:
        st.markdown(f"**Question** {escaped(record.question)}")
    st.caption(form.statement)
    for paragraph in filter(str.strip, record.perspective.splitlines()):
        st.markdown(f":blue[{escaped(paragraph)}]")
    st.caption(f"{form.passage}{f': {escaped(record.title)}' if record.title else ''}")


def answers_card(record: PairRecord) -> None:
    """Draw two answers to a question side by side."""
    with st.container(border=True, height=CARD_HEIGHT, key="pair-card", gap="xsmall"):
        st.markdown(f"##### {escaped(record.question)}")
        for column, name, text in zip(
            st.columns(2), ("First answer", "Second answer"), (record.passage, record.perspective), strict=True
        ):
            column.markdown(f"**{name}**")
            column.markdown(escaped(text))


def _above(record: PairRecord) -> None:
    st.markdown(f"**Question** {escaped(record.question)}")
    st.markdown(f"##### :blue[{escaped(record.perspective)}]")
    st.markdown(f"**{escaped(record.title) or 'Passage'}**")


def _below(record: PairRecord) -> None:
    address = web_address(record.url)
    source = f" · [{escaped(address.split('/')[2])}]({address})" if address else ""
    st.caption(f"{escaped(record.dataset)} · {escaped(record.corpus)}{source}")


class Choice(NamedTuple):
    """A button for a verdict: the verdict, the button's text and its icon."""

    verdict: str
    label: str
    icon: str


_JUDGE = (
    Choice("supports", "Supports", _YES),
    Choice("does not support", "Does not support", _NO),
    Choice("unsure", "Unsure", _UNSURE),
)
_PREFER = (
    Choice("first", "First", ":material/looks_one:"),
    Choice("second", "Second", ":material/looks_two:"),
    Choice("neither", "Neither", ":material/balance:"),
)
_ICONS = {choice.verdict: choice.icon for choice in (*_JUDGE, *_PREFER)}
_CHECK_ICONS = {True: _YES, False: _NO, None: _UNSURE}


def icon_of(verdict: str, form: CheckForm | None = None) -> str:
    """Return the icon of a verdict, of a check by its form."""
    if form is None:
        return _ICONS[verdict]
    return next(_CHECK_ICONS[one.accepts] for one in form.verdicts if one.verdict == verdict)


def choices_of(task: Task, *, decision: bool = False, form: CheckForm | None = None) -> tuple[Choice, ...]:
    """Return the verdicts of a task, of a check by its form. When verifying, they agree or disagree with the `decision` on
    screen."""
    if form is not None:
        return tuple(Choice(one.verdict, one.verdict.capitalize(), _CHECK_ICONS[one.accepts]) for one in form.verdicts)
    if task == "prefer":
        return _PREFER
    if task == "judge":
        return _JUDGE
    yes, no = ("supports", "does not support") if decision else ("does not support", "supports")
    return (
        Choice(yes, "Agree", _YES),
        Choice(no, "Disagree", _NO),
        Choice("unsure", "Unsure", _UNSURE),
    )


def verdict_buttons(
    pair: str,
    choices: tuple[Choice, ...],
    give: Callable[[str, str], None],
    *,
    at: str = "",
    keys: bool = True,
    earlier: str = "",
) -> None:
    """Draw a button for each choice, with the person's `earlier` choice marked. `give` is called with the pair and the verdict.

    The buttons belong to this pair, so that a key pressed before the next pair is on screen does not judge that one. If a pair
    is on the page twice, `at` distinguishes its buttons. Without `keys`, `berdseye.app.components.card_focus` presses them.
    """
    for key, choice in zip(VERDICTS[: len(choices)], choices, strict=True):
        st.button(
            choice.label,
            icon=choice.icon,
            shortcut=key if keys else None,
            key=f"{GIVE}{key}-{pair}{at}",
            type="primary" if choice.verdict == earlier else "secondary",
            on_click=give,
            args=(pair, choice.verdict),
        )


def names_of(dispute: Dispute, *, hidden: bool) -> dict[int, str]:
    """Return the name to show for each voter, by id. Hidden names are letters, shuffled for each pair, so that the position
    reveals nobody."""
    if not hidden:
        return {vote.annotator.id: vote.annotator.name for vote in dispute.votes}
    people = [vote.annotator.id for vote in dispute.votes]
    Random(dispute.key).shuffle(people)
    return {person: f"Person {_letter(place)}" for place, person in enumerate(people)}


def votes(dispute: Dispute, *, hidden: bool) -> None:
    """Draw every vote with its comment and evidence, and the adjudicated verdict if there is one."""
    names, form = names_of(dispute, hidden=hidden), dispute.form
    for vote in sorted(dispute.votes, key=lambda vote: names[vote.annotator.id]) if hidden else dispute.votes:
        with st.container(border=True, gap="xsmall"):
            st.markdown(f"{icon_of(vote.verdict, form)} **{vote.verdict}** · {escaped(names[vote.annotator.id])}")
            if vote.comment:
                st.markdown(escaped(vote.comment))
            for start, end in vote.evidence:
                st.caption(f"“{escaped(dispute.record.passage[start:end])}”")
    if dispute.decision is not None:
        by = "" if hidden else f" by {escaped(dispute.decision.by)}"
        st.success(f"Adjudicated{by}: **{dispute.decision.verdict}**. {escaped(dispute.decision.comment)}")


def trail_table(dispute: Dispute, *, hidden: bool) -> None:
    """Draw the history of the pair step by step, with undone steps marked."""
    names = names_of(dispute, hidden=hidden)
    rows = [
        {
            "When": step.at[:16].replace("T", " "),
            "Who": names.get(step.annotator.id, "someone else" if hidden else step.annotator.name),
            "What": step.kind + (" (undone)" if step.undone else ""),
            "Verdict": step.verdict,
            "Comment": step.comment,
        }
        for step in trail(judgments(), dispute.key)
    ]
    with st.expander(f"History: {len(rows)} steps", icon=":material/history:"):
        st.dataframe(pd.DataFrame(rows), hide_index=True, key="trail")


def _letter(place: int) -> str:
    return chr(ord("A") + place) if place < 26 else str(place + 1)
