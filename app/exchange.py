"""Exchanging judgments with Label Studio, for the page, the command line and the background of the app alike."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from sqlalchemy import func, select

from berdseye.annotation.batches.runs_queue import pairs_of_runs
from berdseye.annotation.batches.stored import Batch, list_batches
from berdseye.annotation.judgments.log import Judgments
from berdseye.annotation.judgments.schema import batch_items, sync_tasks
from berdseye.annotation.label_studio import batch_projects
from berdseye.annotation.label_studio.batch_projects import Sent
from berdseye.annotation.label_studio.connection import Connection, connect
from berdseye.annotation.label_studio.exchange_state import waiting, waiting_pairs
from berdseye.annotation.label_studio.project import workspace_project
from berdseye.annotation.label_studio.pull import pull
from berdseye.annotation.label_studio.purpose import batch_purposes
from berdseye.annotation.label_studio.push import push
from berdseye.annotation.label_studio.report import ExchangeReport
from berdseye.data.errors import BadInputError
from berdseye.data.labels import LabelStore
from berdseye.data.records import Pair
from berdseye.data.workspace import Workspace
from berdseye.detectors.detector_registry import parse_detector
from berdseye.detectors.labelling import label
from berdseye.detectors.trained import adopted_detector

Progress = Callable[[int, int], None]


class SentProject(NamedTuple):
    """A project made for a batch: whose it is (empty: everybody's), how many words wait, and when it was last received."""

    batch: str
    person: str
    number: int
    tasks: int
    waiting: int
    received: str


def receive(workspace: Workspace, judgments: Judgments, *, progress: Progress | None = None) -> ExchangeReport:
    """Bring what was annotated in Label Studio here, in the project of the workspace and in those of batches."""
    return sum((one.report for one in receive_all(workspace, judgments, progress=progress)), ExchangeReport())


def receive_all(
    workspace: Workspace,
    judgments: Judgments,
    *,
    whole: bool = False,
    withdraw_gone: bool = False,
    progress: Progress | None = None,
) -> list[Sent]:
    """The same, project by project; `whole` and `withdraw_gone` are those of `pull`."""
    connection = connect(workspace)
    project = workspace_project(connection, workspace)
    own = pull(judgments, connection, project, whole=whole, withdraw_gone=withdraw_gone, progress=progress)
    sent = {purpose.batch for purpose in batch_purposes(judgments)}
    found = [batch for batch in list_batches(judgments) if batch.id in sent]
    return [
        Sent(project, None, own),
        *batch_projects.receive_batches(
            judgments, connection, found, whole=whole, withdraw_gone=withdraw_gone, progress=progress
        ),
    ]


def receive_batch(
    workspace: Workspace,
    judgments: Judgments,
    batch: Batch,
    *,
    whole: bool = False,
    withdraw_gone: bool = False,
    progress: Progress | None = None,
) -> list[Sent]:
    """Bring what was annotated in the projects of a batch here. Raises `BadInputError` for a batch that was not sent."""
    if not batch_purposes(judgments, batch.id):
        raise BadInputError(
            f"Batch '{batch.name}' was not sent to Label Studio.",
            hint=f"Send it: berdseye label-studio send {batch.name}",
        )
    return batch_projects.receive_batches(
        judgments, connect(workspace), [batch], whole=whole, withdraw_gone=withdraw_gone, progress=progress
    )


def send_batch(
    workspace: Workspace,
    judgments: Judgments,
    batch: Batch,
    *,
    together: bool = False,
    progress: Progress | None = None,
) -> list[Sent]:
    """Make a batch projects of Label Studio, or complete them."""
    return batch_projects.send_batch(judgments, connect(workspace), batch, together=together, progress=progress)


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


def send(
    workspace: Workspace,
    judgments: Judgments,
    runs: Sequence[str] = (),
    k: int = 5,
    *,
    progress: Progress | None = None,
) -> ExchangeReport:
    """Send what waits, and the pairs of the top k of these runs, each with the detector's label as a prediction.

    A pair of an open batch that is blind gets no prediction. What waits for the projects of batches is sent there.
    """
    connection = connect(workspace)
    own = _send_own(workspace, judgments, connection, runs, k, progress)
    late = {one.batch for one in batch_purposes(judgments) if waiting(judgments, one.project)}
    found = [batch for batch in list_batches(judgments) if batch.id in late]
    others = batch_projects.exchange_batches(judgments, connection, found)
    return sum((one.report for one in others), own)


def _send_own(
    workspace: Workspace,
    judgments: Judgments,
    connection: Connection,
    runs: Sequence[str],
    k: int,
    progress: Progress | None,
) -> ExchangeReport:
    project = workspace_project(connection, workspace)
    keys = waiting_pairs(judgments, project.key)
    if runs:
        keys += judgments.add_pairs(pairs_of_runs(workspace, runs, k).values())
    records = judgments.pair_records(keys)
    detector = parse_detector(adopted_detector(workspace), workspace)
    found = label(LabelStore(workspace), detector, [Pair(r.passage, r.perspective, r.title) for r in records.values()])
    blind = _blind_pairs(judgments)
    told = zip(records, found.tolist(), strict=True)
    labels = {key: (p, p >= detector.threshold) for key, p in told if key not in blind}
    version = f"{detector.name} {detector.version}"
    return push(judgments, connection, project, keys, labels, version, progress=progress)


def _blind_pairs(judgments: Judgments) -> set[str]:
    """The pairs that someone is to judge without knowing what a detector says."""
    held = [batch.id for batch in list_batches(judgments) if batch.is_open and (batch.blind or batch.shown_share)]
    query = select(batch_items.c.pair).where(batch_items.c.batch_id.in_(held))
    with judgments.reading() as connection:
        return set(connection.execute(query).scalars())
