"""From accepted edits to a version of the data set.

What people have said of perspectives: reasons to edit them, and what an edit leaves behind.
"""

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
    """Of a perspective, how many present judgments there are, and who flagged its text, with their comments."""

    judgments: int
    flags: tuple[tuple[str, str], ...]


def attention(judgments: Judgments, perspectives: Sequence[str]) -> list[Attention]:
    """What there is of each perspective, by its text, in their order."""
    query = (
        select(pairs.c.perspective, func.count())
        .join_from(present, pairs, pairs.c.key == present.c.pair)
        .where(present.c.kind == "judge", pairs.c.perspective.in_(list(perspectives)))
        .group_by(pairs.c.perspective)
    )
    with judgments.reading() as connection:
        counts = {text: int(count) for text, count in connection.execute(query)}
    found = flags(judgments)
    told = list(zip(found["perspective"], found["annotator"], found["comment"], strict=True))
    return [
        Attention(counts.get(text, 0), tuple((who, why) for flagged, who, why in told if flagged == text))
        for text in perspectives
    ]


class Coming(NamedTuple):
    """The version that could be made now: what would differ from the newest one, and the edits that do not fit any more."""

    name: str
    parent: str
    changes: list[QuestionChange]
    unfit: list[tuple[Edit, str]]


def coming_version(log: EditLog) -> Coming:
    """What `make_version` would write."""
    edits = log.edits()
    numbers = version_numbers(log.workspace, log.dataset)
    parent = version_name(log.dataset, numbers[-1])
    found = log.present()
    before = {q.id: q for q in load_dataset(log.workspace, parent)}
    kept = [q for q in found.questions if q.id in before]  # a data set that was replaced may have others
    changes = differences([before[q.id] for q in kept], kept)
    unfit = [(e, found.conflicts[e.id]) for e in edits if e.id in found.conflicts]
    return Coming(version_name(log.dataset, numbers[-1] + 1), parent, changes, unfit)


def make_version(log: EditLog, made_by: str) -> VersionManifest:
    """Write the accepted edits as the next version; raises `BadInputError` where nothing would differ, or where an accepted
    edit does not fit the data set any more."""
    found = log.present()
    if found.conflicts:
        edit, why = next(iter(found.conflicts.items()))
        raise BadInputError(
            f"Edit {edit} does not fit '{log.dataset}' any more: {why}", hint="Take back its acceptance first."
        )
    return save_version(log.workspace, log.dataset, found.questions, [e.record() for e in found.applied], made_by)
