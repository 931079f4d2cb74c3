"""Perspectives and their edits as lines of Markdown, the texts as they were written."""

from collections.abc import Sequence

from berdseye.annotation.perspective_edits.changes import Change
from berdseye.annotation.perspective_edits.judged import Attention
from berdseye.app.components.perspective_mark import perspective_mark, side_badge
from berdseye.app.components.plain_text import escaped
from berdseye.data.records import Perspective

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
