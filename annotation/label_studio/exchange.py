"""The exchange with Label Studio: of one project, of the projects of a batch, and of a whole workspace.

A push brings pairs and judgments to Label Studio, a pull brings annotations from there. Both are safe to repeat.
"""

import logging
from collections.abc import Callable, Sequence
from typing import NamedTuple

from sqlalchemy import func, select

from berdseye.annotation.batches.runs_queue import pairs_of_runs
from berdseye.annotation.batches.stored import Batch, list_batches
from berdseye.annotation.judgments.log import Annotator, Judgments
from berdseye.annotation.judgments.schema import batch_items, sync_tasks
from berdseye.annotation.label_studio.accounts import give_accounts, without_account
from berdseye.annotation.label_studio.batch_projects import (
    check_open,
    data_of,
    labels_of,
    project_of,
    shares_of,
)
from berdseye.annotation.label_studio.connection import Connection, connect
from berdseye.annotation.label_studio.exchange_state import ExchangeReport, waiting, waiting_pairs
from berdseye.annotation.label_studio.form import (
    check_config,
)
from berdseye.annotation.label_studio.people import People
from berdseye.annotation.label_studio.project import (
    Project,
    batch_purposes,
    project_by_key,
    purpose_of,
    reload_project,
    workspace_project,
)
from berdseye.annotation.label_studio.pull import pull
from berdseye.annotation.label_studio.push import UNNAMED, ExtraData, Labels, Progress, push
from berdseye.data.errors import BadInputError
from berdseye.data.records import DetectorVersion, Pair
from berdseye.data.workspace import Workspace

_log = logging.getLogger(__name__)
Predict = Callable[[Sequence[Pair]], tuple[Sequence[float], DetectorVersion]]
"""From pairs to the probability that each supports, and the detector that says so."""


class BatchExchange(NamedTuple):
    """A project of a batch after an exchange; `person` is the annotator it is for, None if it is for everybody."""

    project: Project
    person: Annotator | None
    report: ExchangeReport


class SentProject(NamedTuple):
    """A project of a batch: the person it is for (empty: everybody), the judgments that wait, and the time of the last pull."""

    batch: str
    person: str
    number: int
    tasks: int
    waiting: int
    received: str


def sync(
    judgments: Judgments,
    connection: Connection,
    project: Project,
    pairs: Sequence[str] = (),
    labels: Labels | None = None,
    detector: DetectorVersion = UNNAMED,
    *,
    more: ExtraData | None = None,
    progress: Progress | None = None,
) -> ExchangeReport:
    """Pull, then push `pairs` and every pair with a judgment that waits; afterwards both sides have the same judgments.

    A labeling interface without Berdseye's choices is reported as a problem: judgments are pulled, and nothing is pushed.
    Raises what `pull` and `push` raise.
    """
    with connection.exclusively():
        received = pull(judgments, connection, project, progress=progress)
        try:
            now = reload_project(connection, project)
            purpose = purpose_of(judgments, now.key)
            check_config(now.config, now.title, purpose.task, purpose.form)
        except BadInputError as error:
            return received + ExchangeReport(problems=(str(error),))
        keys = [*pairs, *waiting_pairs(judgments, project.key)]
        return received + push(judgments, connection, project, keys, labels, detector, more=more, progress=progress)


def push_to_projects(
    judgments: Judgments,
    connection: Connection,
    batch: Batch,
    *,
    together: bool = False,
    progress: Progress | None = None,
) -> list[BatchExchange]:
    """Create a batch's projects (the first time), pull what was judged there, and push what is missing there.

    If the batch names people, each has a project with their share of the pairs, without anybody else's judgments; with
    `together`, or if it names nobody, one project has all pairs, and a task leaves its queue after as many people as the
    batch wants. A blind batch has no predictions. A repeated push completes an interrupted one, and adds nothing twice.
    People get an account and a password on the server that Berdseye started; on any other server, a warning names those
    without an account. Raises `BadInputError` for a batch that Label Studio cannot represent or that is closed,
    `UnavailableError` if the server does not answer.
    """
    check_open(batch, together)
    with connection.exclusively():
        shares = shares_of(judgments, batch, together)
        labels = labels_of(judgments, batch)
        more = data_of(judgments, batch)
        members = People(judgments, connection)
        sent = []
        done, total = 0, sum(len(keys) for _, keys in shares)

        def report_progress(part: int, _of: int) -> None:
            if progress is not None:
                progress(done + part, total)

        for person, keys in shares:
            project = project_of(judgments, connection, batch, person, 1 if person else batch.per_pair)
            report = _provide_accounts(connection, members, batch.people if person is None else (person,))
            report += sync(
                judgments, connection, project, keys, labels, batch.detector, more=more, progress=report_progress
            )
            sent.append(BatchExchange(project, person, report))
            done += len(keys)
        return sent


def pull_from_projects(
    judgments: Judgments, connection: Connection, batches: Sequence[Batch], *, whole: bool = False,
    withdraw_gone: bool = False, progress: Progress | None = None,
) -> list[BatchExchange]:  # fmt: skip
    """Pull what was judged in the projects of these batches; a project that was deleted there is reported as a problem."""
    received = []
    with connection.exclusively():
        for batch in batches:
            for project, person in _projects(judgments, connection, batch):
                if isinstance(project, str):
                    title = batch.name if person is None else f"{batch.name}, of {person.name}"
                    message = (
                        f"The project of batch {title} is not on this server. Push the batch again, or connect to the server "
                        "that has it."
                    )
                    missing = Project(0, title, project, "", "")
                    received.append(BatchExchange(missing, person, ExchangeReport(problems=(message,))))
                    continue
                report = pull(
                    judgments, connection, project, whole=whole, withdraw_gone=withdraw_gone, progress=progress
                )
                received.append(BatchExchange(project, person, report))
    return received


def exchange_batches(judgments: Judgments, connection: Connection, batches: Sequence[Batch]) -> list[BatchExchange]:
    """Pull from the projects of these batches, and push the judgments that wait for them; creates no project."""
    with connection.exclusively():
        return [
            BatchExchange(project, person, sync(judgments, connection, project))
            for batch in batches
            for project, person in _projects(judgments, connection, batch)
            if not isinstance(project, str)
        ]


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
    others = pull_from_projects(
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
    pulled = pull_from_projects(
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
    pushed = push_to_projects(judgments, connect(workspace), batch, together=together, progress=progress)
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
    others = exchange_batches(judgments, connection, batches)
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
    """Return the projects created for batches, from what is stored here, without a request."""
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
    probabilities, detector = predict(pairs)
    blind = _blind_pairs(judgments)
    labels = {
        key: (probability, probability >= detector.threshold)
        for key, probability in zip(records, probabilities, strict=True)
        if key not in blind
    }
    return push(judgments, connection, project, keys, labels, detector, progress=progress)


def _blind_pairs(judgments: Judgments) -> set[str]:
    """Return the pairs of open batches whose annotators must not see a detector's label."""
    blind = [batch.id for batch in list_batches(judgments) if batch.is_open and (batch.blind or batch.shown_share)]
    query = select(batch_items.c.pair).where(batch_items.c.batch_id.in_(blind))
    with judgments.reading() as connection:
        return set(connection.execute(query).scalars())


def _projects(
    judgments: Judgments, connection: Connection, batch: Batch
) -> list[tuple[Project | str, Annotator | None]]:
    """Return the projects created for a batch, with their person; a project that this server lacks is given as its key."""
    names = {person.id: person for person in judgments.annotators()}
    return [
        (project_by_key(connection, purpose.project) or purpose.project, names.get(purpose.person or 0))
        for purpose in batch_purposes(judgments, batch.id)
    ]


def _provide_accounts(connection: Connection, members: People, persons: Sequence[Annotator]) -> ExchangeReport:
    """Give people accounts with passwords of their own, if Berdseye may; otherwise warn of those without an account."""
    if connection.own is not None:
        give_accounts(connection, members, persons)
        return ExchangeReport()
    return ExchangeReport(
        warnings=tuple(
            f"{person.name} has no account on this server, and Berdseye cannot create one that they can sign in to. To see "
            f'how they sign up: berdseye label-studio account "{person.name}"'
            for person in without_account(members, persons)
        )
    )
