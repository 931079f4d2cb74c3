"""The export of the log of edits as JSON Lines, and the import of such logs or of plain proposals.

A proposal needs `dataset`, `question_id`, `action`, `parts` (texts, or objects as in the log) and `becomes` (texts or objects);
`kind`, `uid`, `at`, `by` and `comment` are optional. A decision or an undo has `kind`, and in `target` the uid of its edit.
"""

import json
from pathlib import Path
from typing import Any
from uuid import UUID

from sqlalchemy import select

from berdseye.annotation.judgments.log import Annotator, Judgments
from berdseye.annotation.judgments.schema import annotators, perspective_edits
from berdseye.annotation.perspective_edits.changes import Change, chosen_parts
from berdseye.annotation.perspective_edits.log import KINDS, EditLog, Event, locked_edits
from berdseye.annotation.perspective_edits.states import History
from berdseye.data.datasets.layouts.rows import read_perspectives
from berdseye.data.errors import BadInputError, BerdseyeError
from berdseye.data.files.atomic import write_bytes
from berdseye.data.files.json_files import Row, read_rows
from berdseye.data.records import Perspective
from berdseye.data.workspace import Workspace


def export_edits(judgments: Judgments, path: Path, dataset: str | None = None) -> int:
    """Write the log of one data set, or of all, one event per line in order; returns the number of events."""
    query = (
        select(perspective_edits, annotators.c.name)
        .join(annotators, annotators.c.id == perspective_edits.c.annotator_id)
        .order_by(perspective_edits.c.id)
    )
    with judgments.reading() as connection:
        rows = connection.execute(
            query if dataset is None else query.where(perspective_edits.c.dataset == dataset)
        ).all()
    uid_of = {row.id: row.uid for row in rows}
    edit_of = {row.id: row.id for row in rows if row.kind == "propose"}
    lines = []
    for row in rows:
        line = {
            "kind": row.kind,
            "uid": row.uid,
            "at": row.at,
            "by": row.name,
            "dataset": row.dataset,
            "question_id": row.question_id,
            "comment": row.comment,
        }
        if row.kind == "propose":
            line |= json.loads(row.change)
        else:
            edit_of[row.id] = edit_of[row.target]
            line["target"] = uid_of[edit_of[row.id]]
        lines.append(json.dumps(line, ensure_ascii=False))
    write_bytes(path, "".join(f"{line}\n" for line in lines).encode())
    return len(lines)


def import_edits(
    workspace: Workspace, judgments: Judgments, path: Path, person: Annotator | None = None
) -> tuple[int, int]:
    """Add the events of a file, all or none; returns how many were added and how many were in the log already.

    Each event has to meet the rules as if it happened now; rows without `by` become `person`'s. Raises `BadInputError` with
    the line.
    """
    rows = [(line, row) for line, row in read_rows(path)]
    people: dict[str, Annotator] = {}
    for line, row in rows:
        name = row.get("by")
        if isinstance(name, str) and name not in people:
            people[name] = judgments.sign_in(name)
        elif not isinstance(name, str) and person is None:
            raise BadInputError(
                "The row does not name its person.", where=path, line=line, hint="Add `by`, or give a name."
            )
    logs: dict[str, tuple[EditLog, History]] = {}
    with locked_edits(judgments) as connection:
        known_uids = {str(uid) for uid in connection.execute(select(perspective_edits.c.uid)).scalars()}
        new = 0
        for line, row in rows:
            try:
                uid = _uid(row)
                if uid is not None and uid in known_uids:
                    continue
                dataset = _text(row, "dataset")
                if dataset not in logs:
                    opened = EditLog(workspace, judgments, dataset)
                    logs[dataset] = opened, opened.history_within(connection)
                log, history = logs[dataset]
                who = people.get(str(row.get("by"))) or person
                assert who is not None
                log.record(connection, _event(row, who, uid, log, history), own=True, history=history)
            except BerdseyeError as error:
                raise BadInputError(
                    error.what, where=path, line=line, hint=error.hint or "Correct this line."
                ) from error
            new += 1
    return new, len(rows) - new


def _event(row: Row, person: Annotator, uid: str | None, log: EditLog, history: History) -> Event:
    kind = str(row.get("kind", "propose"))
    if kind not in KINDS:
        raise BadInputError(f"The kind of event '{kind}' does not exist.", hint=f"Use one of {', '.join(KINDS)}.")
    comment = str(row.get("comment") or "")
    at = row.get("at") if isinstance(row.get("at"), str) else None
    if kind != "propose":
        target = history.by_uid.get(str(row.get("target")))
        if target is None:
            raise BadInputError(
                f"The log has no edit with the uid '{str(row.get('target'))[:40]}' (`target`).",
                hint="Put the proposal with this uid above this line.",
            )
        return Event(kind, person, target=target, comment=comment, uid=uid, at=at)
    question_id = _text(row, "question_id")
    question = log.present_question(question_id, history.of_question(question_id))
    present = () if question is None else question.perspectives
    try:
        becomes = read_perspectives(row.get("becomes", []))
    except ValueError as error:
        raise BadInputError(f"`becomes`: {error}.", hint="Use texts, or objects with text and stance.") from error
    parts = row.get("parts", [])
    if not isinstance(parts, list):
        raise BadInputError("`parts` must be a list.", hint="List the texts that the edit replaces.")
    change = Change.of(_text(row, "action"), [_part(p, present) for p in parts], becomes)
    return Event("propose", person, change, question_id, comment=comment, uid=uid, at=at)


def _part(value: Any, present: tuple[Perspective, ...]) -> Perspective:
    """Return a part from its object in the log, or the present perspective of this text."""
    if isinstance(value, dict):
        return Perspective(_text(value, "text"), value.get("stance"), str(value.get("explanation") or ""))
    return chosen_parts(present, [str(value)])[0]


def _text(row: Row, name: str) -> str:
    value = row.get(name)
    if not isinstance(value, str) or not value.strip():
        raise BadInputError(f"`{name}` is missing.", hint="Correct this line.")
    return value


def _uid(row: Row) -> str | None:
    value = row.get("uid")
    try:
        return None if value is None else str(UUID(str(value)))
    except ValueError:
        raise BadInputError(
            f"`uid` must be a UUID, got '{str(value)[:40]}'.", hint="Omit `uid`, and Berdseye creates one."
        ) from None
