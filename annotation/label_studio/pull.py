"""From Label Studio to our event log."""

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any

from annotation.judgments import Judgments, batched_rows
from annotation.label_studio.config import Word, check_config, pair_of
from annotation.label_studio.connection import Connection
from annotation.label_studio.identity import event_uid
from annotation.label_studio.merge import Step, step
from annotation.label_studio.people import People
from annotation.label_studio.project import Project, fresh
from annotation.label_studio.remote import RemoteTask, Said, all_tasks, said
from annotation.label_studio.report import Report
from annotation.label_studio.sync_state import (
    Agreed,
    Local,
    Place,
    append_events,
    read_base,
    read_local,
    read_pairs,
    read_sent,
    write_base,
)
from data.errors import BadInputError

Progress = Callable[[int, int], None]
_NOTHING_HELD = Local(None, "", "", "", None)


def pull(judgments: Judgments, connection: Connection, project: Project, *, progress: Progress | None = None) -> Report:
    """Append what people changed in Label Studio since the last exchange.

    `progress` is given (done, all) tasks. A pair whose task was deleted there is left alone: that is no
    withdrawal. What cannot be read (a choice renamed, an author deleted) is reported, and everything else
    received. Raises `UnavailableError` when the server does not answer, `UnknownNameError` when the project
    is gone; what was received until then is kept, and a repeat adds nothing twice.
    """
    with connection.exclusively():
        project = fresh(connection, project)
        problems: list[str] = []
        try:
            check_config(project.config, project.title)
        except BadInputError as error:
            problems.append(str(error))
        by_key: dict[str, list[RemoteTask]] = defaultdict(list)
        for task in all_tasks(connection, project.id):
            by_key[task.key].append(task)
        problems += _learn_pairs(judgments, by_key)
        people = People(judgments, connection)
        report, done = Report(problems=tuple(problems)), 0
        for keys in batched_rows(list(by_key)):
            report += _pull_chunk(judgments, project, {key: by_key[key] for key in keys}, people)
            done += len(keys)
            if progress is not None:
                progress(done, len(by_key))
        return report


def _learn_pairs(judgments: Judgments, by_key: dict[str, list[RemoteTask]]) -> list[str]:
    """Make pairs of other workspaces' tasks known here, so that judgments on them fit; drop foreign tasks."""
    with judgments.engine.connect().execution_options(read_only=True) as connection:
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
    judgments: Judgments, project: Project, by_key: Mapping[str, list[RemoteTask]], people: People
) -> Report:
    remote: dict[Place, Said] = {}
    problems: list[str] = []
    for key, tasks in by_key.items():
        # Annotators new here sign in now: a second transaction could not begin inside the one below.
        by_person, found = said(tasks, people)
        remote.update((Place(key, person), words) for person, words in by_person.items())
        problems += found
    # One transaction decides and writes, so that a judgment made meanwhile is seen, and a crash leaves all or
    # nothing.
    with judgments.engine.begin() as connection:
        local = read_local(connection, list(by_key))
        base = read_base(connection, project.key, list(by_key))
        sent = read_sent(connection, project.key, list(by_key))
        rows: list[dict[str, Any]] = []
        agreed: dict[Place, Agreed] = {}
        counts: Counter[str] = Counter()
        for place in dict.fromkeys((*remote, *base, *sent)):
            theirs = remote.get(place)
            if theirs is not None and theirs.newest.problem:
                continue
            ours = local.get(place, _NOTHING_HELD)
            word = theirs.word if theirs else None
            if place in sent and sent[place] == word:
                # Our own, arrived before we could know: agreed on, whatever we hold by now.
                base[place] = word
                agreed[place] = Agreed(word, theirs.newest.id if theirs and word else None)
            _receive(project.key, place, base.get(place), ours, theirs, rows, agreed, counts)
        append_events(connection, rows)
        write_base(connection, project.key, agreed)
    return Report(problems=tuple(problems), **counts)


def _receive(
    project: str,
    place: Place,
    base: Word | None,
    ours: Local,
    theirs: Said | None,
    rows: list[dict[str, Any]],
    agreed: dict[Place, Agreed],
    counts: Counter[str],
) -> None:
    word = theirs.word if theirs else None
    decided = step(base, ours.word, word, ours_at=ours.at, theirs_at=theirs.newest.at if theirs else None)
    if decided in (Step.NOTHING, Step.SEND):
        return
    agreed[place] = Agreed(word, theirs.newest.id if theirs and word else None)
    if decided is Step.AGREED:
        return
    rows.append(_their_event(project, place, ours, theirs))
    if decided is Step.RECEIVE:
        counts["pulled_withdrawn" if word is None else "pulled_new" if base is None else "pulled_changed"] += 1
        return
    counts["conflicts"] += 1
    if decided is Step.OURS_STANDS:
        # The log's last event is the present one: ours follows theirs, and waits to be sent.
        rows.append(_our_event_again(project, place, ours, theirs))


def _their_event(project: str, place: Place, ours: Local, theirs: Said | None) -> dict[str, Any]:
    word = theirs.word if theirs else None
    if theirs is None or word is None:
        # A deleted annotation has left neither id nor moment; what it takes back makes the name.
        uid = event_uid(project, "withdraw", place.pair, place.annotator, ours.uid)
        return _event(place, uid=uid, at=datetime.now(UTC).isoformat(timespec="microseconds"), kind="withdraw")
    newest = theirs.newest
    uid = event_uid(project, "judge", newest.id, newest.at)
    return _event(place, uid=uid, at=newest.at, kind="judge", verdict=word.verdict, comment=word.comment)


def _our_event_again(project: str, place: Place, ours: Local, theirs: Said | None) -> dict[str, Any]:
    mark = (theirs.newest.id, theirs.newest.at) if theirs else ("deleted",)
    uid = event_uid(project, "again", place.pair, place.annotator, ours.uid, *mark)
    if ours.event is None:
        return _event(place, uid=uid, at=ours.at, kind="withdraw", source=ours.source)
    kept = {name: value for name, value in ours.event.items() if name != "id"}
    return {"target": None, **kept, "uid": uid}


def _event(place: Place, **fields: Any) -> dict[str, Any]:
    return {
        "annotator_id": place.annotator, "pair": place.pair, "verdict": None, "comment": "",
        "source": "label-studio", "target": None, "seconds": None, "shown": None, **fields,
    }  # fmt: skip
