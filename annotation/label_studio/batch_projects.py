"""Batches in Label Studio: a project for each of the people named, or one for all where nobody is.

What the tasks of a batch hold beside their pairs; a batch as a file for a server that cannot be reached from here.
"""

import json
from collections.abc import Callable, Sequence
from hashlib import blake2b
from pathlib import Path
from typing import Any, NamedTuple

from sqlalchemy import select

from berdseye.annotation.batches.dealing import deal, ordered_pairs
from berdseye.annotation.batches.stored import Batch
from berdseye.annotation.guidelines.versions import in_use
from berdseye.annotation.judgments.log import Annotator, Judgments
from berdseye.annotation.judgments.schema import batch_items, sync_tasks
from berdseye.annotation.label_studio.accounts import give_accounts, without_account
from berdseye.annotation.label_studio.connection import Connection
from berdseye.annotation.label_studio.form import instruction, prediction_of, shown_version, task_data, validated
from berdseye.annotation.label_studio.people import People
from berdseye.annotation.label_studio.project import Project, described, make_project, project_by_key
from berdseye.annotation.label_studio.pull import pull
from berdseye.annotation.label_studio.purpose import batch_purposes, write_purpose
from berdseye.annotation.label_studio.push import Labels
from berdseye.annotation.label_studio.report import ExchangeReport
from berdseye.annotation.label_studio.sync import sync
from berdseye.data.errors import BadInputError
from berdseye.data.files.atomic import write_bytes


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


Progress = Callable[[int, int], None]
_LONGEST_TITLE = 50


class Sent(NamedTuple):
    """A project of a batch after an exchange; `person` is whose it is, None where it is everybody's."""

    project: Project
    person: Annotator | None
    report: ExchangeReport


def send_batch(
    judgments: Judgments,
    connection: Connection,
    batch: Batch,
    *,
    together: bool = False,
    progress: Progress | None = None,
) -> list[Sent]:
    """Make a batch's projects (the first time), receive what was judged there, and send what is missing there.

    Where the batch names people, each has a project with their share of the pairs, and nobody else's words; with
    `together`, or where it names nobody, one project holds all pairs, and a task leaves its queue after as many people as
    the batch asks for. A blind batch carries no predictions. Sending again completes what was interrupted, and adds
    nothing twice. People get an account and a password on the server that Berdseye started; on another's, those without an
    account are named in a warning. Raises `BadInputError` for a batch that Label Studio cannot do right, and what `sync` raises.
    """
    _check(batch, together)
    with connection.exclusively():
        shares = _shares(judgments, batch, together)
        labels = labels_of(judgments, batch)
        more = data_of(judgments, batch)
        members = People(judgments, connection)
        sent = []
        done, total = 0, sum(len(keys) for _, keys in shares)

        def tell(part: int, _of: int) -> None:
            if progress is not None:
                progress(done + part, total)

        for person, keys in shares:
            project = _project(judgments, connection, batch, person, 1 if person else batch.per_pair)
            report = _invited(connection, members, batch.people if person is None else (person,))
            report += sync(judgments, connection, project, keys, labels, detector_of(batch), more=more, progress=tell)
            sent.append(Sent(project, person, report))
            done += len(keys)
        return sent


def receive_batches(
    judgments: Judgments, connection: Connection, batches: Sequence[Batch], *, whole: bool = False,
    withdraw_gone: bool = False, progress: Progress | None = None,
) -> list[Sent]:  # fmt: skip
    """Bring here what was judged in the projects of these batches; a project that was deleted there is a problem told."""
    received = []
    with connection.exclusively():
        for batch in batches:
            for project, person in _projects(judgments, connection, batch):
                if isinstance(project, str):
                    title = batch.name if person is None else f"{batch.name}, of {person.name}"
                    gone = f"The project of batch {title} is not on this server: send the batch again, or attach to its server."
                    missing = Project(0, title, project, "", "")
                    received.append(Sent(missing, person, ExchangeReport(problems=(gone,))))
                    continue
                report = pull(
                    judgments, connection, project, whole=whole, withdraw_gone=withdraw_gone, progress=progress
                )
                received.append(Sent(project, person, report))
    return received


def exchange_batches(judgments: Judgments, connection: Connection, batches: Sequence[Batch]) -> list[Sent]:
    """Receive from the projects of these batches, and send the words that wait for them; makes no project."""
    with connection.exclusively():
        return [
            Sent(project, person, sync(judgments, connection, project))
            for batch in batches
            for project, person in _projects(judgments, connection, batch)
            if not isinstance(project, str)
        ]


def _projects(
    judgments: Judgments, connection: Connection, batch: Batch
) -> list[tuple[Project | str, Annotator | None]]:
    """Projects made for a batch: the key alone of one that this server has not."""
    names = {person.id: person for person in judgments.annotators()}
    return [
        (project_by_key(connection, purpose.project) or purpose.project, names.get(purpose.person or 0))
        for purpose in batch_purposes(judgments, batch.id)
    ]


def _check(batch: Batch, together: bool) -> None:
    check_sendable(batch)
    if not batch.is_open:
        raise BadInputError(f"Batch '{batch.name}' is closed.", hint="Open it again: berdseye batch close --reopen.")
    if together and batch.calibration:
        raise BadInputError(
            f"Batch '{batch.name}' has pairs that everyone judges and pairs that {batch.per_pair} do.",
            hint="One project asks for as many people on every task: leave out --together.",
        )


def _invited(connection: Connection, members: People, persons: Sequence[Annotator]) -> ExchangeReport:
    """Let people sign in as themselves: with an account and a password of their own, where Berdseye may give them one."""
    if connection.own is not None:
        give_accounts(connection, members, persons)
        return ExchangeReport()
    return ExchangeReport(
        warnings=tuple(
            f"{person.name} has no account on this server, and Berdseye cannot make one that they can sign in to. How they "
            f'sign up: berdseye label-studio account "{person.name}"'
            for person in without_account(members, persons)
        )
    )


def _shares(judgments: Judgments, batch: Batch, together: bool) -> list[tuple[Annotator | None, list[str]]]:
    known = batch_purposes(judgments, batch.id)
    if known and (known[0].person is None) != (together or not batch.people):
        now, then = ("one project", "a project for each person")[:: 1 if known[0].person is None else -1]
        raise BadInputError(
            f"Batch '{batch.name}' was sent as {now}, and cannot be sent as {then} too.",
            hint="Send it as before, with or without --together.",
        )
    if together or not batch.people:
        return [(None, ordered_pairs(judgments, batch))]
    dealt: dict[str, set[int]] = {}
    with judgments.reading() as connection:
        for purpose in known:
            query = select(sync_tasks.c.pair).where(sync_tasks.c.project == purpose.project)
            for pair in connection.execute(query).scalars():
                dealt.setdefault(pair, set()).add(purpose.person or 0)
    shares = deal(judgments, batch, {pair: frozenset(people) for pair, people in dealt.items()})
    return [(person, shares[person.id]) for person in batch.people if shares[person.id]]


def _project(
    judgments: Judgments, connection: Connection, batch: Batch, person: Annotator | None, people_a_task: int
) -> Project:
    """The project of a batch (and person), made where there is none."""
    wanted = None if person is None else person.id
    for purpose in batch_purposes(judgments, batch.id):
        if purpose.person == wanted and (known := project_by_key(connection, purpose.project)) is not None:
            return known
    title, mark = _title(batch, person), _mark(batch, person)
    guidelines = in_use(judgments, batch.task, batch)
    # Made by an exchange that was cut off before it could be noted here.
    project = described(connection, title, mark) or make_project(
        connection,
        title=title,
        description=f"Made and kept in agreement by Berdseye ({mark}). Guidelines: version {guidelines.version}.",
        label_config=validated(batch.task),
        expert_instruction=instruction(guidelines.text),
        show_instruction=True,
        maximum_annotations=people_a_task,
        show_collab_predictions=not batch.blind,
        enable_empty_annotation=False,
    )
    write_purpose(judgments, project.key, batch.id, wanted)
    return project


def _title(batch: Batch, person: Annotator | None) -> str:
    whole = batch.name if person is None else f"{batch.name}: {person.name}"
    # A title has 3 to 50 characters.
    return f"Batch {whole}" if len(whole) <= _LONGEST_TITLE - 6 else f"Batch {whole[: _LONGEST_TITLE - 7]}…"


def _mark(batch: Batch, person: Annotator | None) -> str:
    """What tells a batch's project from that of another workspace's batch of the same name."""
    text = f"{batch.at}\0{batch.name}\0{'' if person is None else person.name}"
    return blake2b(text.encode(), digest_size=6).hexdigest()
