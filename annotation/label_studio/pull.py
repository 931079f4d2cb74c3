"""From Label Studio to our event log.

Which tasks have to be read: those changed since the last time, or all of them now and then.

What a word found in Label Studio means for our log: an event, an agreement noted, or nothing.
"""

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import select

from berdseye.annotation.judgments.database import writing
from berdseye.annotation.judgments.log import Judgments, Source, batched_rows
from berdseye.annotation.judgments.recorded import PREFERENCES, verdicts_of
from berdseye.annotation.judgments.schema import sync_tasks
from berdseye.annotation.label_studio.attribution import warned
from berdseye.annotation.label_studio.connection import Connection
from berdseye.annotation.label_studio.exchange_state import (
    Agreed,
    Local,
    Place,
    Step,
    append_events,
    forget_tasks,
    read_base,
    read_local,
    read_pairs,
    read_sent,
    step,
    write_base,
)
from berdseye.annotation.label_studio.form import Word, check_config, pair_of
from berdseye.annotation.label_studio.people import People
from berdseye.annotation.label_studio.project import Project, event_uid, fresh
from berdseye.annotation.label_studio.purpose import Purpose, purpose_of, write_received
from berdseye.annotation.label_studio.remote import RemoteTask, Said, all_tasks, changed_keys, look_up, said
from berdseye.annotation.label_studio.report import ExchangeReport
from berdseye.data.errors import BadInputError

# A change is dated before it is stored, and an import of thousands of tasks stores for seconds.
_OVERLAP = timedelta(seconds=120)
_SWEEP_EVERY = timedelta(hours=6)


@dataclass(frozen=True)
class Changes:
    """Tasks by pair, with every copy of a pair's task; `until` is the moment, by the server's clock, they are known to."""

    tasks: dict[str, list[RemoteTask]]
    until: datetime
    whole: bool


def read_changes(connection: Connection, project: Project, purpose: Purpose, *, whole: bool = False) -> Changes:
    """What changed since the project was last received, or all of it: where asked for, the first time, and when it is due."""
    until = connection.time()
    due = purpose.swept_at is None or until - purpose.swept_at > _SWEEP_EVERY
    if whole or due or purpose.received_to is None:
        by_key: dict[str, list[RemoteTask]] = {}
        for task in all_tasks(connection, project.id):
            by_key.setdefault(task.key, []).append(task)
        return Changes(by_key, until, whole=True)
    # A pair with two tasks has to be seen whole: what stands in the unchanged one was not deleted.
    keys = changed_keys(connection, project.id, purpose.received_to - _OVERLAP)
    return Changes(dict(look_up(connection, project.id, keys)), until, whole=False)


_NOTHING_HELD = Local(None, "", "", "", None)


class Receiving:
    """The events of one transaction (`rows`), what both sides agree on after it, and what to count.

    `source` and, by place, `uids` are those of the events: where an import, not an exchange, gives rise to them.
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

    def agree(self, place: Place, theirs: Said | None) -> None:
        """Note that both sides hold what is there."""
        word = theirs.word if theirs else None
        self.agreed[place] = Agreed(word, theirs.newest.id if theirs and word else None)

    def take(self, place: Place, base: Word | None, theirs: Said | None) -> None:
        """Bring a word from there into the log, by the three-way rule."""
        ours, word = self._local.get(place, _NOTHING_HELD), theirs.word if theirs else None
        decided = step(base, ours.word, word, ours_at=ours.at, theirs_at=theirs.newest.at if theirs else None)
        if decided in (Step.NOTHING, Step.SEND):
            return
        self.agree(place, theirs)
        if decided is Step.AGREED:
            return
        self.rows.append(self._their_event(place, ours, theirs))
        if decided is Step.RECEIVE:
            kind = "pulled_withdrawn" if word is None else "pulled_new" if base is None else "pulled_changed"
            self.counts[kind] += 1
            return
        self.counts["conflicts"] += 1
        if decided is Step.OURS_STANDS:
            # The log's last event is the present one: ours follows theirs, and waits to be sent.
            self.rows.append(self._our_event_again(place, ours, theirs))

    def _their_event(self, place: Place, ours: Local, theirs: Said | None) -> dict[str, Any]:
        project, word = self._purpose.project, theirs.word if theirs else None
        if theirs is None or word is None:
            # A deleted annotation has left neither id nor moment; what it takes back makes the name.
            uid = event_uid(project, "withdraw", place.pair, place.annotator, ours.uid)
            return self._event(place, uid=uid, at=datetime.now(UTC).isoformat(timespec="microseconds"), kind="withdraw")
        newest = theirs.newest
        return self._event(
            place,
            uid=self._uids.get(place) or event_uid(project, "judge", newest.id, newest.at),
            at=newest.at,
            kind="prefer" if word.verdict in PREFERENCES else "judge",
            verdict=word.verdict,
            comment=word.comment,
            seconds=newest.seconds,
            shown=theirs.shown or self._purpose.task == "verify",
            guidelines=self._guidelines,
        )

    def _our_event_again(self, place: Place, ours: Local, theirs: Said | None) -> dict[str, Any]:
        mark = (self._uids.get(place) or theirs.newest.id, theirs.newest.at) if theirs else ("deleted",)
        uid = event_uid(self._purpose.project, "again", place.pair, place.annotator, ours.uid, *mark)
        if ours.event is None:
            return self._event(place, uid=uid, at=ours.at, kind="withdraw", source=ours.source)
        kept = {name: value for name, value in ours.event.items() if name != "id"}
        return {"target": None, **kept, "uid": uid}

    def _event(self, place: Place, **fields: Any) -> dict[str, Any]:
        # Rows of one statement name the same columns.
        return {
            "annotator_id": place.annotator, "pair": place.pair, "verdict": None, "comment": "",
            "source": self._source, "target": None, "seconds": None, "shown": None,
            "batch": self._purpose.batch, "evidence": None, "guidelines": None, **fields,
        }  # fmt: skip


Progress = Callable[[int, int], None]


def pull(
    judgments: Judgments,
    connection: Connection,
    project: Project,
    *,
    whole: bool = False,
    withdraw_gone: bool = False,
    progress: Progress | None = None,
) -> ExchangeReport:
    """Append what people changed in Label Studio since the last exchange.

    Only tasks changed since the last pull are read, with an overlap; every six hours, and where `whole` asks for it, all
    are: that alone tells which tasks were deleted. Those are counted and left alone, since whoever deletes a task
    has not taken back what others said; with `withdraw_gone` their annotations count as deleted too, and that is a
    withdrawal. `progress` is given (done, all) tasks. What cannot be read (a choice renamed, an author deleted) is
    reported, and everything else received. A word given from another's account is received under that account's name, and
    warned of. Raises `UnavailableError` when the server does not answer,
    `UnknownNameError` when the project is gone; what was received until then is kept, and a repeat adds nothing twice.
    """
    with connection.exclusively():
        project = fresh(connection, project)
        purpose = purpose_of(judgments, project.key)
        problems: list[str] = []
        try:
            check_config(project.config, project.title, purpose.task)
        except BadInputError as error:
            problems.append(str(error))
        changes = read_changes(connection, project, purpose, whole=whole or withdraw_gone)
        by_key = changes.tasks
        problems += _learn_pairs(judgments, by_key)
        gone = _gone(judgments, project, by_key) if changes.whole else []
        if withdraw_gone:
            by_key.update((key, []) for key in gone)
        people = People(judgments, connection)
        report, done = ExchangeReport(problems=tuple(problems), tasks_gone=len(gone)), 0
        for keys in batched_rows(list(by_key)):
            report += _pull_chunk(judgments, purpose, project.guidelines, {key: by_key[key] for key in keys}, people)
            done += len(keys)
            if progress is not None:
                progress(done, len(by_key))
        with writing(judgments.engine) as database:
            if withdraw_gone:
                forget_tasks(database, project.key, gone)
            write_received(database, project.key, changes.until, whole=changes.whole)
        return report + warned(judgments, purpose)


def _gone(judgments: Judgments, project: Project, by_key: Mapping[str, object]) -> list[str]:
    """The pairs that had a task, and have none any more."""
    query = select(sync_tasks.c.pair).where(sync_tasks.c.project == project.key).order_by(sync_tasks.c.id)
    with judgments.reading() as database:
        return [key for key in database.execute(query).scalars() if key not in by_key]


def _learn_pairs(judgments: Judgments, by_key: dict[str, list[RemoteTask]]) -> list[str]:
    """Make pairs of other workspaces' tasks known here, so that judgments on them fit; drop foreign tasks."""
    with judgments.reading() as connection:
        known = read_pairs(connection, list(by_key))
    problems: list[str] = []
    new = []
    for key in [key for key in by_key if key not in known]:
        record = pair_of(by_key[key][0].data)
        if record is not None:
            new.append(record)
            continue
        tasks = by_key.pop(key)
        if any(task.annotations for task in tasks):
            problems.append(f"Task {tasks[0].id}: its texts do not fit its ext_id; its annotations were not received.")
    judgments.add_pairs(new)
    return problems


def _pull_chunk(
    judgments: Judgments,
    purpose: Purpose,
    guidelines: str | None,
    by_key: Mapping[str, list[RemoteTask]],
    people: People,
) -> ExchangeReport:
    remote: dict[Place, Said] = {}
    problems: list[str] = []
    people.recall(purpose.project, list(by_key))
    for key, tasks in by_key.items():
        # Annotators new here sign in now: a second transaction could not begin inside the one below.
        by_person, found = said(tasks, people)
        remote.update((Place(key, person), words) for person, words in by_person.items())
        problems += found
    # One transaction decides and writes, so that a judgment made meanwhile is seen, and a crash leaves all or
    # nothing.
    with writing(judgments.engine) as connection:
        receiving = Receiving(purpose, guidelines, read_local(connection, list(by_key)))
        base = read_base(connection, purpose.project, list(by_key))
        sent = read_sent(connection, purpose.project, list(by_key))
        for place in dict.fromkeys((*remote, *base, *sent)):
            theirs = remote.get(place)
            if theirs is not None and theirs.newest.problem:
                continue
            word = theirs.word if theirs else None
            if word is not None and word.verdict not in verdicts_of(purpose.task):
                problems.append(f"Pair {place.pair}: '{word.verdict}' is no answer to the task of this project.")
                continue
            if place in sent and sent[place] == word:
                # Our own, arrived before we could know: agreed on, whatever we hold by now.
                base[place] = word
                receiving.agree(place, theirs)
            receiving.take(place, base.get(place), theirs)
        append_events(connection, receiving.rows)
        write_base(connection, purpose.project, receiving.agreed)
    return ExchangeReport(
        problems=tuple(problems), warnings=_edited(base, receiving, remote, people), **receiving.counts
    )


def _edited(
    base: Mapping[Place, Word | None], receiving: Receiving, remote: Mapping[Place, Said], people: People
) -> tuple[str, ...]:
    """Warnings of words that somebody else than their author changed there: Label Studio keeps the author's name on them."""
    found: list[str] = []
    for place, theirs in remote.items():
        editor = theirs.newest.editor
        changed = base.get(place) is not None and base[place] != theirs.word and place in receiving.agreed
        if changed and editor not in (None, theirs.newest.user):
            found.append(
                f"Pair {place.pair}: the judgment of {people.name(place.annotator)} was changed in Label Studio by "
                f"{people.called(editor) or 'somebody else'}, and is kept under the name of {people.name(place.annotator)}."
            )
    return tuple(found)
