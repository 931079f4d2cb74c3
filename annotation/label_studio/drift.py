"""Comparing what is held here with what a Label Studio project holds; neither side is changed."""

from collections import defaultdict
from collections.abc import Mapping
from typing import NamedTuple

from sqlalchemy import select

from berdseye.annotation.judgments import Judgments
from berdseye.annotation.label_studio.config import Word, pair_of, shown_version
from berdseye.annotation.label_studio.connection import Connection
from berdseye.annotation.label_studio.contested import contested_words
from berdseye.annotation.label_studio.drift_report import Drift, Held, Side, WordDrift
from berdseye.annotation.label_studio.merge import Step, step
from berdseye.annotation.label_studio.outbox import belongs
from berdseye.annotation.label_studio.people import People
from berdseye.annotation.label_studio.project import Project, fresh
from berdseye.annotation.label_studio.purpose import purpose_of
from berdseye.annotation.label_studio.remote import RemoteAnnotation, RemoteTask, all_tasks
from berdseye.annotation.label_studio.sync_state import Local, Place, read_base, read_local, read_pairs, read_sent
from berdseye.annotation.schema import present, sync_tasks

_CURES = {
    Step.SEND: "the next sending brings what is here",
    Step.RECEIVE: "the next receiving brings what is there",
    Step.OURS_STANDS: "both changed: both are kept, and what is here is the later",
    Step.THEIRS_STANDS: "both changed: both are kept, and what is there is the later",
}
_TASK_GONE = "its task is gone: `berdseye judgments doctor --mend` makes it again"
_NEW_PERSON = "the next receiving brings it, with its author"


class _Author(NamedTuple):
    """Who wrote an annotation: an annotator's id, None for a user who is new here."""

    annotator: int | None
    name: str


class _There(NamedTuple):
    """What the project holds, by pair and author; the newest annotation counts."""

    newest: dict[tuple[str, _Author], RemoteAnnotation]
    doubled: tuple[tuple[str, str, int], ...]
    unreadable: tuple[str, ...]


def find_drift(judgments: Judgments, connection: Connection, project: Project) -> Drift:
    """All that differs, word by word: of the words that have their place in this project.

    Waits for an exchange that is going on. Raises `UnavailableError` when the server does not answer,
    `UnknownNameError` when the project is gone.
    """
    with connection.exclusively():
        project = fresh(connection, project)
        by_key: dict[str, list[RemoteTask]] = defaultdict(list)
        for task in all_tasks(connection, project.id, versions=True):
            by_key[task.key].append(task)
        people = People(judgments, connection)
        people.recall(project.key, list(by_key))
        there = _read_there(by_key, people)
        purpose = purpose_of(judgments, project.key)
        with judgments.reading() as database:
            ever = select(sync_tasks.c.pair).where(sync_tasks.c.project == project.key)
            had_task = set(database.execute(ever).scalars())
            kind = "prefer" if purpose.task == "prefer" else "judge"
            said = select(present.c.pair, present.c.annotator_id).where(present.c.kind == kind, belongs(purpose))
            here = {Place(*row) for row in database.execute(said)}
            keys = list(dict.fromkeys((*(place.pair for place in here), *by_key, *had_task)))
            held = read_local(database, keys)
            local = {place: ours for place, ours in held.items() if ours.word is None or place in here}
            base, sent = read_base(database, project.key, keys), read_sent(database, project.key, keys)
            known = read_pairs(database, list(by_key))
        names = {person.id: person.name for person in judgments.annotators()}
        words, unnoted = _compare(there, local, base, sent, by_key, names)
        strange = {key: pair_of(tasks[0].data) for key, tasks in by_key.items() if key not in known}
        return Drift(
            project.title,
            words,
            unnoted,
            {key: tuple(task.id for task in tasks) for key, tasks in by_key.items() if len(tasks) > 1},
            there.doubled,
            tuple(sorted(had_task - by_key.keys())),
            tuple(key for key, record in strange.items() if record is not None),
            tuple(task.id for key, record in strange.items() if record is None for task in by_key[key]),
            _unpredicted(by_key, project.model_version),
            there.unreadable,
            contested_words(judgments, None if purpose.batch is None else keys),
        )


def _read_there(by_key: Mapping[str, list[RemoteTask]], people: People) -> _There:
    newest: dict[tuple[str, _Author], RemoteAnnotation] = {}
    count: dict[tuple[str, _Author], int] = defaultdict(int)
    problems = []
    for key, tasks in by_key.items():
        for task in tasks:
            for annotation in task.annotations:
                known = people.known(key, annotation.id, annotation.user)
                name = people.called(annotation.user) if known is None else known.name
                if name is None:
                    problems.append(f"Annotation {annotation.id} of task {task.id}: its author is gone.")
                    continue
                place = key, _Author(known.id, known.name) if known else _Author(None, name)
                if annotation.problem:
                    problems.append(f"Annotation {annotation.id} of task {task.id} by {name}: {annotation.problem}")
                count[place] += 1
                if place not in newest or (newest[place].at, newest[place].id) < (annotation.at, annotation.id):
                    newest[place] = annotation
    doubled = tuple((key, author.name, times) for (key, author), times in count.items() if times > 1)
    return _There(newest, doubled, tuple(problems))


def _compare(
    there: _There,
    local: Mapping[Place, Local],
    base: Mapping[Place, Word | None],
    sent: Mapping[Place, Word | None],
    by_key: Mapping[str, list[RemoteTask]],
    names: Mapping[int, str],
) -> tuple[tuple[WordDrift, ...], int]:
    """Every word that differs, and how many are the same without having been noted."""
    found: list[WordDrift] = []
    unnoted = 0
    theirs: dict[Place, RemoteAnnotation] = {}
    for (pair, author), annotation in there.newest.items():
        if author.annotator is not None:
            theirs[Place(pair, author.annotator)] = annotation
        elif annotation.word is not None:
            found.append(
                WordDrift(pair, author.name, "only there", Held(), _held(annotation.word, annotation.at), _NEW_PERSON)
            )
    for place in dict.fromkeys((*theirs, *local, *base)):
        annotation_there, ours = theirs.get(place), local.get(place)
        if annotation_there is not None and annotation_there.problem:
            continue
        word, remote = ours.word if ours else None, annotation_there.word if annotation_there else None
        agreed = remote if place in sent and sent[place] == remote else base.get(place)
        at = annotation_there.at if annotation_there else None
        decided = step(agreed, word, remote, ours_at=ours.at if ours else "", theirs_at=at)
        if decided is Step.AGREED:
            unnoted += 1
        if word == remote:
            continue
        side: Side = "only here" if remote is None else "only there" if word is None else "differing"
        gone = place.pair not in by_key and agreed is not None
        found.append(
            WordDrift(
                place.pair,
                names.get(place.annotator, f"annotator {place.annotator}"),
                side,
                _held(word, ours.at if ours else ""),
                _held(remote, at or ""),
                _TASK_GONE if gone else _CURES[decided],
            )
        )
    return tuple(found), unnoted


def _held(word: Word | None, at: str) -> Held:
    return Held(at=at) if word is None else Held(word.verdict, word.comment, at)


def _unpredicted(by_key: Mapping[str, list[RemoteTask]], version: str) -> tuple[str, ...]:
    """Pairs without a prediction of the version that people see; none where the project shows no version."""
    if not version:
        return ()
    wanted = shown_version(version)
    return tuple(key for key, tasks in by_key.items() if not any(wanted in task.versions for task in tasks))
