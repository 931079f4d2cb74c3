"""From Label Studio to our event log."""

from collections.abc import Callable, Mapping

from sqlalchemy import select

from berdseye.annotation.database import writing
from berdseye.annotation.judgments import Judgments, batched_rows
from berdseye.annotation.label_studio.attribution import warned
from berdseye.annotation.label_studio.changes import read_changes
from berdseye.annotation.label_studio.config import Word, pair_of
from berdseye.annotation.label_studio.connection import Connection
from berdseye.annotation.label_studio.forms import check_config
from berdseye.annotation.label_studio.people import People
from berdseye.annotation.label_studio.project import Project, fresh
from berdseye.annotation.label_studio.purpose import Purpose, purpose_of, write_received
from berdseye.annotation.label_studio.receiving import Receiving
from berdseye.annotation.label_studio.remote import RemoteTask, Said, said
from berdseye.annotation.label_studio.report import Report
from berdseye.annotation.label_studio.sync_state import (
    Place,
    append_events,
    forget_tasks,
    read_base,
    read_local,
    read_pairs,
    read_sent,
    write_base,
)
from berdseye.annotation.schema import sync_tasks
from berdseye.annotation.words import verdicts_of
from berdseye.data.errors import BadInputError

Progress = Callable[[int, int], None]


def pull(
    judgments: Judgments,
    connection: Connection,
    project: Project,
    *,
    whole: bool = False,
    withdraw_gone: bool = False,
    progress: Progress | None = None,
) -> Report:
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
        report, done = Report(problems=tuple(problems), tasks_gone=len(gone)), 0
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
) -> Report:
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
    return Report(problems=tuple(problems), warnings=_edited(base, receiving, remote, people), **receiving.counts)


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
