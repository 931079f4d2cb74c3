"""Pull: from Label Studio to the event log.

A pull reads the tasks changed since the last one, and from time to time all of them. Each judgment found there becomes an
event of the log, a note that both sides agree, or nothing.
"""

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import select

from berdseye.annotation.batches.stored import EVENT_KINDS
from berdseye.annotation.checks import is_check_key
from berdseye.annotation.judgments.database import writing
from berdseye.annotation.judgments.log import Judgments, Source, batched_rows
from berdseye.annotation.judgments.recorded import PREFERENCES, verdicts_of
from berdseye.annotation.judgments.schema import sync_tasks
from berdseye.annotation.label_studio.attribution import misattribution_warnings
from berdseye.annotation.label_studio.connection import Connection
from berdseye.annotation.label_studio.exchange_state import (
    Agreed,
    ExchangeReport,
    Local,
    Place,
    Step,
    append_events,
    forget_tasks,
    read_agreed,
    read_local,
    read_pairs,
    read_sent,
    step,
    write_agreed,
)
from berdseye.annotation.label_studio.form import RecordedVerdict, check_config, pair_of
from berdseye.annotation.label_studio.people import People
from berdseye.annotation.label_studio.project import (
    Project,
    Purpose,
    event_uid,
    purpose_of,
    reload_project,
    write_received,
)
from berdseye.annotation.label_studio.tasks import (
    PersonAnnotations,
    RemoteTask,
    all_tasks,
    annotations_by_person,
    changed_keys,
    look_up,
)
from berdseye.data.errors import BadInputError

# A change is dated before it is stored, and an import of thousands of tasks stores for seconds.
_OVERLAP = timedelta(seconds=120)
_SWEEP_EVERY = timedelta(hours=6)
_NO_LOCAL_STATE = Local(None, "", "", "", None)
Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class Changes:
    """Tasks by pair, with every copy of a pair's task; they include all changes up to `until`, by the server's clock.

    `whole`: all tasks of the project were read.
    """

    tasks: dict[str, list[RemoteTask]]
    until: datetime
    whole: bool


def read_changes(connection: Connection, project: Project, purpose: Purpose, *, whole: bool = False) -> Changes:
    """Read the tasks changed since the last pull of the project; all of them the first time, every six hours, or if `whole`."""
    until = connection.time()
    due = purpose.swept_at is None or until - purpose.swept_at > _SWEEP_EVERY
    if whole or due or purpose.received_to is None:
        by_key: dict[str, list[RemoteTask]] = {}
        for task in all_tasks(connection, project.id):
            by_key.setdefault(task.key, []).append(task)
        return Changes(by_key, until, whole=True)
    # Both tasks of a pair with two have to be read: the annotations of the unchanged one were not deleted.
    keys = changed_keys(connection, project.id, purpose.received_to - _OVERLAP)
    return Changes(dict(look_up(connection, project.id, keys)), until, whole=False)


class PullTransaction:
    """The events of one transaction (`rows`), the judgments that both sides agree on after it, and the counts to report.

    `source` and `uids` (by place) are those of the events, if they come from an import and not from an exchange.
    """

    def __init__(
        self,
        purpose: Purpose,
        guidelines: str | None,
        local: Mapping[Place, Local],
        *,
        source: Source = "label-studio",
        uids: Mapping[Place, str] | None = None,
    ) -> None:
        self._purpose, self._guidelines, self._local = purpose, guidelines, local
        self._source, self._uids = source, uids or {}
        self.rows: list[dict[str, Any]] = []
        self.agreed: dict[Place, Agreed] = {}
        self.counts: Counter[str] = Counter()

    def agree(self, place: Place, theirs: PersonAnnotations | None) -> None:
        """Note that both sides agree on the judgment in Label Studio."""
        judgment = theirs.judgment if theirs else None
        self.agreed[place] = Agreed(judgment, theirs.newest.id if theirs and judgment else None)

    def take(self, place: Place, base: RecordedVerdict | None, theirs: PersonAnnotations | None) -> None:
        """Take a judgment from Label Studio into the log, by the three-way rule of `step`."""
        ours, judgment = self._local.get(place, _NO_LOCAL_STATE), theirs.judgment if theirs else None
        decided = step(base, ours.judgment, judgment, ours_at=ours.at, theirs_at=theirs.newest.at if theirs else None)
        if decided in (Step.NOTHING, Step.SEND):
            return
        self.agree(place, theirs)
        if decided is Step.AGREED:
            return
        self.rows.append(self._their_event(place, ours, theirs))
        if decided is Step.RECEIVE:
            kind = "pulled_withdrawn" if judgment is None else "pulled_new" if base is None else "pulled_changed"
            self.counts[kind] += 1
            return
        self.counts["conflicts"] += 1
        if decided is Step.OURS_IS_LATER:
            # The last event in the log counts: the judgment made here follows the pulled one, and waits to be pushed.
            self.rows.append(self._our_event_again(place, ours, theirs))

    def _their_event(self, place: Place, ours: Local, theirs: PersonAnnotations | None) -> dict[str, Any]:
        project, judgment = self._purpose.project, theirs.judgment if theirs else None
        if theirs is None or judgment is None:
            # A deleted annotation has neither id nor time left; the uid is made from the judgment that it withdraws.
            uid = event_uid(project, "withdraw", place.pair, place.annotator, ours.uid)
            return self._event(place, uid=uid, at=datetime.now(UTC).isoformat(timespec="microseconds"), kind="withdraw")
        newest = theirs.newest
        return self._event(
            place,
            uid=self._uids.get(place) or event_uid(project, "judge", newest.id, newest.at),
            at=newest.at,
            kind=_kind(place.pair, judgment.verdict),
            verdict=judgment.verdict,
            comment=judgment.comment,
            seconds=newest.seconds,
            shown=theirs.shown or self._purpose.task == "verify",
            guidelines=self._guidelines,
        )

    def _our_event_again(self, place: Place, ours: Local, theirs: PersonAnnotations | None) -> dict[str, Any]:
        mark = (self._uids.get(place) or theirs.newest.id, theirs.newest.at) if theirs else ("deleted",)
        uid = event_uid(self._purpose.project, "again", place.pair, place.annotator, ours.uid, *mark)
        if ours.event is None:
            return self._event(place, uid=uid, at=ours.at, kind="withdraw", source=ours.source)
        copied = {name: value for name, value in ours.event.items() if name != "id"}
        return {"target": None, **copied, "uid": uid}

    def _event(self, place: Place, **fields: Any) -> dict[str, Any]:
        # All rows of one statement must have the same columns.
        return {
            "annotator_id": place.annotator, "pair": place.pair, "verdict": None, "comment": "",
            "source": self._source, "target": None, "seconds": None, "shown": None,
            "batch": self._purpose.batch, "evidence": None, "guidelines": None, "propensity": None,
            **fields,
        }  # fmt: skip


def _kind(pair: str, verdict: str) -> str:
    return EVENT_KINDS["check" if is_check_key(pair) else "prefer" if verdict in PREFERENCES else "judge"]


def pull(
    judgments: Judgments,
    connection: Connection,
    project: Project,
    *,
    whole: bool = False,
    withdraw_gone: bool = False,
    progress: Progress | None = None,
) -> ExchangeReport:
    """Append to the log what people changed in Label Studio since the last exchange.

    A pull reads only the tasks changed since the last one, with an overlap; every six hours, and if `whole`, it reads all of
    them, which alone shows which tasks were deleted. Deleted tasks are counted and otherwise ignored, since deleting a task
    does not take back other people's judgments; with `withdraw_gone` their annotations count as deleted too, and so as
    withdrawn. `progress` is called with the tasks (done, total). Annotations that cannot be read (a choice was renamed, an
    author deleted) are reported, and all others pulled. A judgment made from another person's account is recorded under the
    name of that account, with a warning. Raises `UnavailableError` if the server does not answer, `UnknownNameError` if the
    project is gone; what was pulled until then is kept, and repeating the pull adds nothing twice.
    """
    with connection.exclusively():
        project = reload_project(connection, project)
        purpose = purpose_of(judgments, project.key)
        problems: list[str] = []
        try:
            check_config(project.config, project.title, purpose.task, purpose.form)
        except BadInputError as error:
            problems.append(str(error))
        changes = read_changes(connection, project, purpose, whole=whole or withdraw_gone)
        by_key = changes.tasks
        problems += _add_unknown_pairs(judgments, by_key)
        deleted_keys = _gone(judgments, project, by_key) if changes.whole else []
        if withdraw_gone:
            by_key.update((key, []) for key in deleted_keys)
        people = People(judgments, connection)
        report, done = ExchangeReport(problems=tuple(problems), tasks_gone=len(deleted_keys)), 0
        for keys in batched_rows(list(by_key)):
            report += _pull_chunk(judgments, purpose, project.guidelines, {key: by_key[key] for key in keys}, people)
            done += len(keys)
            if progress is not None:
                progress(done, len(by_key))
        with writing(judgments.engine) as database:
            if withdraw_gone:
                forget_tasks(database, project.key, deleted_keys)
            write_received(database, project.key, changes.until, whole=changes.whole)
        return report + misattribution_warnings(judgments, purpose)


def _gone(judgments: Judgments, project: Project, by_key: Mapping[str, object]) -> list[str]:
    """Return the pairs that had a task and no longer have one."""
    query = select(sync_tasks.c.pair).where(sync_tasks.c.project == project.key).order_by(sync_tasks.c.id)
    with judgments.reading() as database:
        return [key for key in database.execute(query).scalars() if key not in by_key]


def _add_unknown_pairs(judgments: Judgments, by_key: dict[str, list[RemoteTask]]) -> list[str]:
    """Add the pairs of other workspaces' tasks, so that they can have judgments here; remove foreign tasks from `by_key`."""
    with judgments.reading() as connection:
        known_keys = read_pairs(connection, list(by_key))
    problems: list[str] = []
    new = []
    for key in [key for key in by_key if key not in known_keys]:
        record = pair_of(by_key[key][0].data)
        if record is not None:
            new.append(record)
            continue
        tasks = by_key.pop(key)
        if any(task.annotations for task in tasks):
            problems.append(f"Task {tasks[0].id}: its texts do not fit its ext_id, so its annotations were not pulled.")
    judgments.add_pairs(new)
    return problems


def _pull_chunk(
    judgments: Judgments,
    purpose: Purpose,
    guidelines: str | None,
    by_key: Mapping[str, list[RemoteTask]],
    people: People,
) -> ExchangeReport:
    remote: dict[Place, PersonAnnotations] = {}
    problems: list[str] = []
    people.recall(purpose.project, list(by_key))
    for key, tasks in by_key.items():
        # New annotators are created now: a second transaction could not begin inside the one below.
        by_person, unreadable = annotations_by_person(tasks, people)
        remote.update((Place(key, person), annotations) for person, annotations in by_person.items())
        problems += unreadable
    # One transaction decides and writes, so that a judgment made meanwhile is seen, and a crash leaves all or nothing.
    with writing(judgments.engine) as connection:
        receiving = PullTransaction(purpose, guidelines, read_local(connection, list(by_key)))
        base = read_agreed(connection, purpose.project, list(by_key))
        sent = read_sent(connection, purpose.project, list(by_key))
        for place in dict.fromkeys((*remote, *base, *sent)):
            theirs = remote.get(place)
            if theirs is not None and theirs.newest.problem:
                continue
            judgment = theirs.judgment if theirs else None
            if judgment is not None and judgment.verdict not in verdicts_of(purpose.task, purpose.form):
                problems.append(f"Pair {place.pair}: '{judgment.verdict}' is not a verdict of this project's task.")
                continue
            if place in sent and sent[place] == judgment:
                # An earlier push, which arrived without a confirmation: agreed, whatever the judgment here is by now.
                base[place] = judgment
                receiving.agree(place, theirs)
            receiving.take(place, base.get(place), theirs)
        append_events(connection, receiving.rows)
        write_agreed(connection, purpose.project, receiving.agreed)
    return ExchangeReport(
        problems=tuple(problems), warnings=_edited(base, receiving, remote, people), **receiving.counts
    )


def _edited(
    base: Mapping[Place, RecordedVerdict | None],
    receiving: PullTransaction,
    remote: Mapping[Place, PersonAnnotations],
    people: People,
) -> tuple[str, ...]:
    """Warn of judgments that somebody other than their author changed: Label Studio keeps the author's name on them."""
    warnings: list[str] = []
    for place, theirs in remote.items():
        editor = theirs.newest.editor
        changed = base.get(place) is not None and base[place] != theirs.judgment and place in receiving.agreed
        if changed and editor not in (None, theirs.newest.user):
            warnings.append(
                f"Pair {place.pair}: {people.called(editor) or 'somebody else'} changed the judgment of "
                f"{people.name(place.annotator)} in Label Studio. It is recorded under the name of "
                f"{people.name(place.annotator)}."
            )
    return tuple(warnings)
