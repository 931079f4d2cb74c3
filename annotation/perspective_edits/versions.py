"""The version of a data set that accepted edits make, and the judgments and flags of perspectives as reasons for an edit."""

from collections.abc import Sequence
from typing import NamedTuple

from sqlalchemy import func, select

from berdseye.annotation.batches.progress import flags
from berdseye.annotation.judgments.log import Judgments
from berdseye.annotation.judgments.schema import pairs, present
from berdseye.annotation.perspective_edits.log import EditLog
from berdseye.annotation.perspective_edits.states import Edit
from berdseye.data.datasets.stored import load_dataset, version_name, version_numbers
from berdseye.data.datasets.versions import QuestionChange, VersionManifest, differences, save_version
from berdseye.data.errors import BadInputError


class Attention(NamedTuple):
    """The number of present judgments of a perspective, and the people who flagged its text, with their comments."""

    judgments: int
    flags: tuple[tuple[str, str], ...]


def attention(judgments: Judgments, perspectives: Sequence[str]) -> list[Attention]:
    """Return the judgments and flags of each perspective, given by its text, in the order given."""
    query = (
        select(pairs.c.perspective, func.count())
        .join_from(present, pairs, pairs.c.key == present.c.pair)
        .where(present.c.kind == "judge", pairs.c.perspective.in_(list(perspectives)))
        .group_by(pairs.c.perspective)
    )
    with judgments.reading() as connection:
        counts = {text: int(count) for text, count in connection.execute(query)}
    table = flags(judgments)
    flagged = list(zip(table["perspective"], table["annotator"], table["comment"], strict=True))
    return [
        Attention(counts.get(text, 0), tuple((who, why) for perspective, who, why in flagged if perspective == text))
        for text in perspectives
    ]


class NextVersion(NamedTuple):
    """The version that could be written now: its differences from the newest one, and the edits that no longer fit."""

    name: str
    parent: str
    changes: list[QuestionChange]
    unfit: list[tuple[Edit, str]]


def next_version(log: EditLog) -> NextVersion:
    """Return the version that `create_version` would write."""
    edits = log.edits()
    numbers = version_numbers(log.workspace, log.dataset)
    parent = version_name(log.dataset, numbers[-1])
    replayed = log.present()
    before = {q.id: q for q in load_dataset(log.workspace, parent)}
    kept = [q for q in replayed.questions if q.id in before]  # a data set that was replaced may have others
    changes = differences([before[q.id] for q in kept], kept)
    unfit = [(e, replayed.conflicts[e.id]) for e in edits if e.id in replayed.conflicts]
    return NextVersion(version_name(log.dataset, numbers[-1] + 1), parent, changes, unfit)


def create_version(log: EditLog, made_by: str) -> VersionManifest:
    """Write the data set with the accepted edits as its next version.

    Raises `BadInputError` if nothing would differ, or if an accepted edit no longer fits the data set.
    """
    replayed = log.present()
    if replayed.conflicts:
        edit, why = next(iter(replayed.conflicts.items()))
        raise BadInputError(
            f"Edit {edit} no longer fits '{log.dataset}': {why}", hint="Take back its acceptance first."
        )
    return save_version(log.workspace, log.dataset, replayed.questions, [e.record() for e in replayed.applied], made_by)
