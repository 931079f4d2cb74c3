"""What the tasks of a batch hold beside their pairs; a batch as a file for a server that cannot be reached from here."""

import json
from pathlib import Path
from typing import Any

from sqlalchemy import select

from berdseye.annotation.assignment import deal, ordered_pairs
from berdseye.annotation.batches import Batch
from berdseye.annotation.judgments import Judgments
from berdseye.annotation.label_studio.config import prediction_of, shown_version, task_data
from berdseye.annotation.label_studio.forms import validated
from berdseye.annotation.label_studio.push import Labels
from berdseye.annotation.schema import batch_items
from berdseye.data.atomic import write_bytes
from berdseye.data.errors import BadInputError


def check_sendable(batch: Batch) -> None:
    """Raise `BadInputError` for an experiment: its tasks would have to look different to different people."""
    if batch.shown_share is not None:
        raise BadInputError(
            f"Batch '{batch.name}' is an experiment on seeing the detector's label.",
            hint="Judge it on the Annotate page: Label Studio shows a prediction to all who open a task or to none, and does "
            "not tell who saw it.",
        )


def write_batch_file(judgments: Judgments, batch: Batch, path: Path) -> Path:
    """Write a batch as Label Studio's JSON, ready to be imported there, and its labeling interface beside it.

    Nobody's words are in it, and predictions only where the batch is not blind; `assigned_to` names the people that a pair
    is for. What is exported there is read back with `imports.import_file`. Returns the path of the interface.
    """
    check_sendable(batch)
    if path.suffix.lower() != ".json":
        raise BadInputError(f"Label Studio reads no '{path.suffix}' file of tasks.", where=path, hint="Name it .json.")
    keys = ordered_pairs(judgments, batch)
    records = judgments.pair_records(keys)
    labels, more, version = labels_of(judgments, batch), data_of(judgments, batch), shown_version(detector_of(batch))
    names = {person.id: person.name for person in batch.people}
    whose: dict[str, list[str]] = {}
    for person, share in (deal(judgments, batch, {}) if batch.people else {}).items():
        for key in share:
            whose.setdefault(key, []).append(names[person])
    tasks: list[dict[str, Any]] = [
        {
            "data": {**task_data(records[key]), **more[key], "assigned_to": ", ".join(whose.get(key, ()))},
            "predictions": [prediction_of(*labels[key], version)] if key in labels else [],
        }
        for key in keys
    ]
    form = path.with_suffix(".config.xml")
    write_bytes(form, validated(batch.task).encode())
    write_bytes(path, json.dumps(tasks, ensure_ascii=False, indent=1).encode())
    return form


def labels_of(judgments: Judgments, batch: Batch) -> Labels:
    """Predictions: none where the batch is blind, or the decision stands in the task itself."""
    if batch.blind or batch.task != "judge":
        return {}
    query = select(batch_items).where(batch_items.c.batch_id == batch.id, batch_items.c.probability.is_not(None))
    threshold = float(batch.recipe.get("threshold", 0.5))
    with judgments.reading() as connection:
        return {
            row.pair: (row.probability, row.probability >= threshold if row.decision is None else row.decision)
            for row in connection.execute(query)
        }


def data_of(judgments: Judgments, batch: Batch) -> dict[str, dict[str, Any]]:
    """What tasks hold beside their pair: the batch, and the decision to be verified."""
    query = select(batch_items.c.pair, batch_items.c.decision).where(batch_items.c.batch_id == batch.id)
    decided: dict[Any, dict[str, Any]] = {True: {"decision": "supports"}, False: {"decision": "does not support"}}
    with judgments.reading() as connection:
        return {
            row.pair: {"batch": batch.name, **(decided[row.decision] if batch.task == "verify" else {})}
            for row in connection.execute(query)
        }


def detector_of(batch: Batch) -> str:
    """What predictions are signed with."""
    return f"{batch.recipe.get('detector', 'detector')} {batch.recipe.get('version', '')}".strip()
