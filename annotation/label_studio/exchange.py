"""The exchange of a whole workspace with Label Studio: its own project and those of its batches.

Push brings pairs and judgments to Label Studio, pull brings annotations from there. Both are safe to repeat.
"""

import logging
from collections.abc import Callable, Sequence
from typing import NamedTuple

from sqlalchemy import func, select

from berdseye.annotation.batches.runs_queue import pairs_of_runs
from berdseye.annotation.batches.stored import Batch, list_batches
from berdseye.annotation.doctor.examine import examine
from berdseye.annotation.doctor.finding import Finding
from berdseye.annotation.judgments.log import Judgments
from berdseye.annotation.judgments.schema import batch_items, sync_tasks
from berdseye.annotation.label_studio import batch_projects
from berdseye.annotation.label_studio.batch_projects import BatchExchange
from berdseye.annotation.label_studio.connection import Connection, connect
from berdseye.annotation.label_studio.doctor import examine_exchange
from berdseye.annotation.label_studio.drift import Drift, find_drift
from berdseye.annotation.label_studio.exchange_state import waiting, waiting_pairs
from berdseye.annotation.label_studio.project import workspace_project
from berdseye.annotation.label_studio.pull import pull
from berdseye.annotation.label_studio.purpose import batch_purposes, exchanged_projects
from berdseye.annotation.label_studio.push import push
from berdseye.annotation.label_studio.report import ExchangeReport
from berdseye.data.errors import BadInputError, UnavailableError
from berdseye.data.records import Pair
from berdseye.data.workspace import Workspace

_log = logging.getLogger(__name__)
Progress = Callable[[int, int], None]
Predict = Callable[[Sequence[Pair]], tuple[Sequence[float], float, str]]
"""From pairs to the probability that each supports, the threshold that decides, and the name and version of the detector."""


class SentProject(NamedTuple):
    """A project made for a batch: whose it is (empty: everybody's), how many words wait, and when it was last received."""

    batch: str
    person: str
    number: int
    tasks: int
    waiting: int
    received: str


def pull_workspace(workspace: Workspace, judgments: Judgments, *, progress: Progress | None = None) -> ExchangeReport:
    """Pull the project of the workspace and those of all batches; returns one report."""
    pulled = pull_projects(workspace, judgments, progress=progress)
    return sum((project.report for project in pulled), ExchangeReport())


def pull_projects(
    workspace: Workspace,
    judgments: Judgments,
    *,
    whole: bool = False,
    withdraw_gone: bool = False,
    progress: Progress | None = None,
) -> list[BatchExchange]:
    """Pull the project of the workspace and those of all batches; returns one report a project.

    `whole` and `withdraw_gone` are those of `pull`.
    """
    connection = connect(workspace)
    project = workspace_project(connection, workspace)
    own = pull(judgments, connection, project, whole=whole, withdraw_gone=withdraw_gone, progress=progress)
    pushed = {purpose.batch for purpose in batch_purposes(judgments)}
    batches = [batch for batch in list_batches(judgments) if batch.id in pushed]
    others = batch_projects.pull_from_projects(
        judgments, connection, batches, whole=whole, withdraw_gone=withdraw_gone, progress=progress
    )
    return _reported("pull of all projects", [BatchExchange(project, None, own), *others])


def pull_batch(
    workspace: Workspace,
    judgments: Judgments,
    batch: Batch,
    *,
    whole: bool = False,
    withdraw_gone: bool = False,
    progress: Progress | None = None,
) -> list[BatchExchange]:
    """Pull the projects of one batch. Raises `BadInputError` for a batch that was never pushed."""
    if not batch_purposes(judgments, batch.id):
        raise BadInputError(
            f"Batch '{batch.name}' was not pushed to Label Studio.",
            hint=f"Push it first: berdseye label-studio push {batch.name}",
        )
    pulled = batch_projects.pull_from_projects(
        judgments, connect(workspace), [batch], whole=whole, withdraw_gone=withdraw_gone, progress=progress
    )
    return _reported(f"pull of batch {batch.name}", pulled)


def push_batch(
    workspace: Workspace,
    judgments: Judgments,
    batch: Batch,
    *,
    together: bool = False,
    progress: Progress | None = None,
) -> list[BatchExchange]:
    """Create the projects of a batch in Label Studio, or complete them."""
    pushed = batch_projects.push_to_projects(judgments, connect(workspace), batch, together=together, progress=progress)
    return _reported(f"push of batch {batch.name}", pushed)


def push_workspace(
    workspace: Workspace,
    judgments: Judgments,
    predict: Predict,
    runs: Sequence[str] = (),
    k: int = 5,
    *,
    progress: Progress | None = None,
) -> ExchangeReport:
    """Push the judgments that wait, and the pairs of the top k of `runs`, each with the label that `predict` gives.

    A pair of an open batch that is blind gets no prediction. Judgments that wait for the projects of batches go there.
    """
    connection = connect(workspace)
    own = _push_own(workspace, judgments, connection, predict, runs, k, progress)
    late = {one.batch for one in batch_purposes(judgments) if waiting(judgments, one.project)}
    batches = [batch for batch in list_batches(judgments) if batch.id in late]
    others = batch_projects.exchange_batches(judgments, connection, batches)
    report = sum((one.report for one in others), own)
    _log_report("push of the judgments that wait", report)
    return report


def _reported(what: str, projects: list[BatchExchange]) -> list[BatchExchange]:
    _log_report(what, sum((one.report for one in projects), ExchangeReport()))
    return projects


def _log_report(what: str, report: ExchangeReport) -> None:
    # The app pulls every few seconds, and mostly nothing is new.
    level = logging.INFO if report != ExchangeReport() else logging.DEBUG
    _log.log(level, "%s: %s", what, report)


def sent_projects(judgments: Judgments) -> list[SentProject]:
    """The projects made for batches, as they are known here."""
    people = {person.id: person.name for person in judgments.annotators()}
    names = {batch.id: batch.name for batch in list_batches(judgments)}
    with judgments.reading() as connection:
        counted = select(sync_tasks.c.project, func.count()).group_by(sync_tasks.c.project)
        tasks = {row.project: int(row[1]) for row in connection.execute(counted)}
    return [
        SentProject(
            names[one.batch or 0], people.get(one.person or 0, ""), int(one.project.partition("@")[0]),
            tasks.get(one.project, 0), waiting(judgments, one.project),
            one.received_to.isoformat(timespec="seconds") if one.received_to else "never",
        )
        for one in batch_purposes(judgments)
    ]  # fmt: skip


def drifts(workspace: Workspace, judgments: Judgments) -> list[Drift]:
    """What differs between both sides, one entry a project. Raises `UnavailableError` if Label Studio does not answer."""
    connection = connect(workspace)
    return [find_drift(judgments, connection, project) for project in exchanged_projects(judgments, connection)]


def check_health(workspace: Workspace, judgments: Judgments) -> tuple[list[Finding], str]:
    """The faults of the judgments and of the exchange, and why Label Studio could not be examined (empty if it was)."""
    findings = examine(judgments)
    try:
        return findings + examine_exchange(judgments, connect(workspace)), ""
    except (UnavailableError, BadInputError) as error:
        return findings, str(error)


def _push_own(
    workspace: Workspace,
    judgments: Judgments,
    connection: Connection,
    predict: Predict,
    runs: Sequence[str],
    k: int,
    progress: Progress | None,
) -> ExchangeReport:
    project = workspace_project(connection, workspace)
    keys = waiting_pairs(judgments, project.key)
    if runs:
        keys += judgments.add_pairs(pairs_of_runs(workspace, runs, k).values())
    records = judgments.pair_records(keys)
    pairs = [Pair(record.passage, record.perspective, record.title) for record in records.values()]
    probabilities, threshold, version = predict(pairs)
    blind = _blind_pairs(judgments)
    labels = {
        key: (probability, probability >= threshold)
        for key, probability in zip(records, probabilities, strict=True)
        if key not in blind
    }
    return push(judgments, connection, project, keys, labels, version, progress=progress)


def _blind_pairs(judgments: Judgments) -> set[str]:
    """The pairs that somebody is to judge without seeing a detector's label."""
    blind = [batch.id for batch in list_batches(judgments) if batch.is_open and (batch.blind or batch.shown_share)]
    query = select(batch_items.c.pair).where(batch_items.c.batch_id.in_(blind))
    with judgments.reading() as connection:
        return set(connection.execute(query).scalars())
