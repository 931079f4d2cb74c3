"""From accepted edits to a version of the data set."""

from typing import NamedTuple

from berdseye.annotation.perspective_edits.log import EditLog
from berdseye.annotation.perspective_edits.states import Edit
from berdseye.data.dataset_names import version_name, version_numbers
from berdseye.data.dataset_versions import QuestionChange, VersionManifest, differences, save_version
from berdseye.data.datasets import load_dataset
from berdseye.data.errors import BadInputError


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
