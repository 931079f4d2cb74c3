"""What the Label Studio projects of a batch contain: a project for each of the people that it names, or one for everybody.

Also the batch as a file, for a server that cannot be reached from here.
"""

import json
from hashlib import blake2b
from pathlib import Path
from typing import Any

from sqlalchemy import select

from berdseye.annotation.batches.dealing import deal, ordered_pairs
from berdseye.annotation.batches.stored import Batch
from berdseye.annotation.guidelines.versions import in_use
from berdseye.annotation.judgments.log import Annotator, Judgments
from berdseye.annotation.judgments.schema import batch_items, sync_tasks
from berdseye.annotation.label_studio.connection import Connection
from berdseye.annotation.label_studio.form import instruction, label_data, prediction_of, task_data, validated
from berdseye.annotation.label_studio.project import (
    Project,
    batch_purposes,
    create_project,
    project_by_key,
    project_by_mark,
    write_purpose,
)
from berdseye.annotation.label_studio.push import Labels
from berdseye.data.errors import BadInputError
from berdseye.data.files.atomic import write_bytes

_LONGEST_TITLE = 50


def check_pushable(batch: Batch) -> None:
    """Raise `BadInputError` for an experiment, whose tasks would have to look different to different people."""
    if batch.shown_share is not None:
        raise BadInputError(
            f"Batch '{batch.name}' is an experiment on showing the detector's label, which Label Studio cannot run.",
            hint="Judge it on the Annotate page: Label Studio shows a prediction to everyone who opens a task or to nobody, "
            "and does not record who saw it.",
        )


def write_batch_file(judgments: Judgments, batch: Batch, path: Path) -> Path:
    """Write a batch as JSON that Label Studio imports, with its labeling interface in a file beside it.

    The file contains no judgments, and labels only if the batch is not blind; `assigned_to` names the people that a pair
    is for. `imports.import_file` reads what Label Studio exports. Returns the path of the labeling interface. Raises
    `BadInputError` for an experiment, and for a file that is not named .json.
    """
    check_pushable(batch)
    if path.suffix.lower() != ".json":
        raise BadInputError(
            f"Label Studio imports tasks from .json files, got '{path.name}'.",
            where=path,
            hint="Use a name that ends in .json.",
        )
    keys = ordered_pairs(judgments, batch)
    records = judgments.pair_records(keys)
    labels, extra_data, config = labels_of(judgments, batch), data_of(judgments, batch), _interface(judgments, batch)
    names = {person.id: person.name for person in batch.people}
    assigned_to: dict[str, list[str]] = {}
    for person, share in (deal(judgments, batch, {}) if batch.people else {}).items():
        for key in share:
            assigned_to.setdefault(key, []).append(names[person])
    tasks: list[dict[str, Any]] = [
        {
            "data": {
                **task_data(records[key]),
                **label_data(config, batch.detector, labels.get(key)),
                **extra_data[key],
                "assigned_to": ", ".join(assigned_to.get(key, ())),
            },
            "predictions": [prediction_of(batch.detector, *labels[key])] if key in labels else [],
        }
        for key in keys
    ]
    interface = path.with_suffix(".config.xml")
    write_bytes(interface, config.encode())
    write_bytes(path, json.dumps(tasks, ensure_ascii=False, indent=1).encode())
    return interface


def labels_of(judgments: Judgments, batch: Batch) -> Labels:
    """Return the labels that a batch shows as predictions: none if it is blind or its tasks show the decision themselves."""
    if batch.blind or batch.task != "judge":
        return {}
    query = select(batch_items).where(batch_items.c.batch_id == batch.id, batch_items.c.probability.is_not(None))
    threshold = batch.detector.threshold
    with judgments.reading() as connection:
        return {
            row.pair: (row.probability, row.probability >= threshold if row.decision is None else row.decision)
            for row in connection.execute(query)
        }


def data_of(judgments: Judgments, batch: Batch) -> dict[str, dict[str, Any]]:
    """Return the data of the batch's tasks in addition to their pairs: the batch's name, and the decision to verify."""
    query = select(batch_items.c.pair, batch_items.c.decision).where(batch_items.c.batch_id == batch.id)
    decided: dict[Any, dict[str, Any]] = {True: {"decision": "supports"}, False: {"decision": "does not support"}}
    with judgments.reading() as connection:
        return {
            row.pair: {"batch": batch.name, **(decided[row.decision] if batch.task == "verify" else {})}
            for row in connection.execute(query)
        }


def check_open(batch: Batch, together: bool) -> None:
    """Raise `BadInputError` for a batch that cannot be pushed now, or not to one project (`together`)."""
    check_pushable(batch)
    if not batch.is_open:
        raise BadInputError(
            f"Batch '{batch.name}' is closed.", hint=f"Reopen it: `berdseye batch close {batch.name} --reopen`."
        )
    if together and batch.calibration:
        raise BadInputError(
            f"Batch '{batch.name}' has calibration pairs for everyone and other pairs for {batch.per_pair} people each, but "
            "one project wants the same number of people for every task.",
            hint="Omit --together.",
        )


def shares_of(judgments: Judgments, batch: Batch, together: bool) -> list[tuple[Annotator | None, list[str]]]:
    """Return the pairs of each project of a batch, with the person it is for (None: everybody).

    Raises `BadInputError` for a batch that was pushed in the other form before.
    """
    purposes = batch_purposes(judgments, batch.id)
    if purposes and (purposes[0].person is None) != (together or not batch.people):
        present_form, other_form = ("one project", "a project for each person")[
            :: 1 if purposes[0].person is None else -1
        ]
        raise BadInputError(
            f"Batch '{batch.name}' was pushed as {present_form}, and cannot be pushed as {other_form} too.",
            hint="Push it as before, with or without --together.",
        )
    if together or not batch.people:
        return [(None, ordered_pairs(judgments, batch))]
    dealt: dict[str, set[int]] = {}
    with judgments.reading() as connection:
        for purpose in purposes:
            query = select(sync_tasks.c.pair).where(sync_tasks.c.project == purpose.project)
            for pair in connection.execute(query).scalars():
                dealt.setdefault(pair, set()).add(purpose.person or 0)
    shares = deal(judgments, batch, {pair: frozenset(people) for pair, people in dealt.items()})
    return [(person, shares[person.id]) for person in batch.people if shares[person.id]]


def project_of(
    judgments: Judgments, connection: Connection, batch: Batch, person: Annotator | None, people_a_task: int
) -> Project:
    """Return the project of a batch (and person), created if there is none."""
    person_id = None if person is None else person.id
    for purpose in batch_purposes(judgments, batch.id):
        if purpose.person == person_id and (known := project_by_key(connection, purpose.project)) is not None:
            return known
    title, mark = _title(batch, person), _mark(batch, person)
    guidelines = in_use(judgments, batch.task, batch)
    # `project_by_mark` finds a project created by an exchange that was interrupted before it could be noted here.
    project = project_by_mark(connection, title, mark) or create_project(
        connection,
        title=title,
        description=f"Created by Berdseye and kept in agreement with it ({mark}). Guidelines: version {guidelines.version}.",
        label_config=_interface(judgments, batch),
        expert_instruction=instruction(guidelines.text),
        show_instruction=True,
        maximum_annotations=people_a_task,
        show_collab_predictions=not batch.blind,
        enable_empty_annotation=False,
    )
    write_purpose(judgments, project.key, batch.id, person_id)
    return project


def _interface(judgments: Judgments, batch: Batch) -> str:
    """Return the labeling interface of a batch. It shows a detector's label as a text if no prediction can show it."""
    labelled = batch.detector.grade == "topic" and bool(labels_of(judgments, batch))
    return validated(batch.task, batch.check, labelled=labelled)


def _title(batch: Batch, person: Annotator | None) -> str:
    full_title = batch.name if person is None else f"{batch.name}: {person.name}"
    # A title has 3 to 50 characters.
    return (
        f"Batch {full_title}" if len(full_title) <= _LONGEST_TITLE - 6 else f"Batch {full_title[: _LONGEST_TITLE - 7]}…"
    )


def _mark(batch: Batch, person: Annotator | None) -> str:
    """Return a mark that distinguishes a batch's project from that of an equally named batch of another workspace."""
    text = f"{batch.at}\0{batch.name}\0{'' if person is None else person.name}"
    return blake2b(text.encode(), digest_size=6).hexdigest()
