"""Comparing what is held here with what a Label Studio project holds; neither side is changed.

What a comparison of both sides found.

Words that one person gave differently here and in Label Studio: the log keeps both, and says which one stands.
"""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal, NamedTuple

from sqlalchemy import select

from berdseye.annotation.judgments.log import WORD_KINDS, Judgments, by_keys
from berdseye.annotation.judgments.schema import annotators, events, present, sync_tasks
from berdseye.annotation.label_studio.connection import Connection
from berdseye.annotation.label_studio.exchange_state import (
    Local,
    Place,
    Step,
    belongs,
    read_base,
    read_local,
    read_pairs,
    read_sent,
    step,
)
from berdseye.annotation.label_studio.form import Word, pair_of, shown_version
from berdseye.annotation.label_studio.people import People
from berdseye.annotation.label_studio.project import Project, fresh
from berdseye.annotation.label_studio.purpose import purpose_of
from berdseye.annotation.label_studio.remote import RemoteAnnotation, RemoteTask, all_tasks

Side = Literal["only here", "only there", "differing"]


@dataclass(frozen=True)
class Held:
    """What one side holds of a person's word on a pair; no verdict where it was withdrawn, deleted or never given."""

    verdict: str | None = None
    comment: str = ""
    at: str = ""

    def __str__(self) -> str:
        told = repr(self.verdict) if self.verdict else "nothing"
        comment = f" ({self.comment})" if self.comment else ""
        return f"{told}{comment}{f' of {self.at[:19]}' if self.at else ''}"


@dataclass(frozen=True)
class WordDrift:
    """A person's word on a pair that is not the same on both sides; `cure` says what the next exchange does."""

    pair: str
    person: str
    side: Side
    here: Held
    there: Held
    cure: str


@dataclass(frozen=True)
class Contested:
    """A pair that one person judged differently here and there: both words are in the log, the later one stands."""

    pair: str
    person: str
    here: Held
    there: Held
    stands: Literal["here", "there"]


@dataclass(frozen=True)
class Drift:
    """All that differs between the judgments here and one project there; true when anything does.

    `unnoted` counts words that are the same on both sides without the exchange having noted it; `doubled_tasks` has the
    task ids of each pair with several; `doubled_words` (pair, person, how many) where one person has several annotations;
    `missing_tasks` are pairs that had a task, `unknown_pairs` those of tasks whose pair is not known here,
    `foreign_tasks` tasks whose texts do not fit their ext_id, `unpredicted` pairs without a prediction of the detector
    that the project shows. `contested` is settled, and no difference.
    """

    project: str
    words: tuple[WordDrift, ...] = ()
    unnoted: int = 0
    doubled_tasks: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    doubled_words: tuple[tuple[str, str, int], ...] = ()
    missing_tasks: tuple[str, ...] = ()
    unknown_pairs: tuple[str, ...] = ()
    foreign_tasks: tuple[int, ...] = ()
    unpredicted: tuple[str, ...] = ()
    unreadable: tuple[str, ...] = ()
    contested: tuple[Contested, ...] = ()

    def __bool__(self) -> bool:
        return any(self.counts().values())

    def counts(self) -> dict[str, int]:
        """How much of what differs."""
        sides = [word.side for word in self.words]
        return {
            "words only here": sides.count("only here"),
            "words only there": sides.count("only there"),
            "words differing": sides.count("differing"),
            "words not noted as exchanged": self.unnoted,
            "pairs with several tasks": len(self.doubled_tasks),
            "people with several annotations on a pair": len(self.doubled_words),
            "tasks gone": len(self.missing_tasks),
            "tasks of pairs not known here": len(self.unknown_pairs),
            "tasks with texts that are not ours": len(self.foreign_tasks),
            "predictions missing": len(self.unpredicted),
            "annotations that cannot be read": len(self.unreadable),
        }

    def __str__(self) -> str:
        told = ", ".join(f"{count} {name}" for name, count in self.counts().items() if count)
        settled = f" {len(self.contested)} judged differently in both places: both kept, the later stands."
        return f"{self.project}: {told or 'both sides hold the same'}.{settled if self.contested else ''}"

    def as_json(self) -> dict[str, Any]:
        """Everything in plain lists and dicts, the counts first."""
        return {"counts": self.counts(), **asdict(self)}


_THERE = "label-studio"


def contested_words(judgments: Judgments, pairs: list[str] | None = None) -> tuple[Contested, ...]:
    """By pair and person, the last word given here and the last received from there, where the two differ.

    What was taken back by an undo is left out, and so are pairs on which neither word stands any more.
    """
    undo = events.alias()
    undone = select(undo.c.target).where(undo.c.kind == "undo", undo.c.target.is_not(None))
    query = (
        select(events, annotators.c.name)
        .join(annotators, annotators.c.id == events.c.annotator_id)
        .where(events.c.kind.in_(WORD_KINDS), events.c.id.not_in(undone))
        .order_by(events.c.id)
    )
    last: dict[tuple[str, str], dict[bool, Held]] = {}
    newest: dict[tuple[str, str], tuple[bool, bool]] = {}
    with judgments.reading() as connection:
        for part in by_keys(query, events.c.pair, pairs):
            for row in connection.execute(part):
                place, there = (row.pair, row.name), row.source == _THERE
                newest[place] = (there, row.verdict is not None)
                if row.verdict is not None:
                    last.setdefault(place, {})[there] = Held(row.verdict, row.comment.strip(), row.at)
    found = []
    for place, sides in last.items():
        there, stands = newest[place]
        if len(sides) < 2 or not stands:
            continue
        if (sides[False].verdict, sides[False].comment) != (sides[True].verdict, sides[True].comment):
            found.append(Contested(*place, sides[False], sides[True], "there" if there else "here"))
    return tuple(found)


_CURES = {
    Step.SEND: "the next sending brings what is here",
    Step.RECEIVE: "the next receiving brings what is there",
    Step.OURS_STANDS: "both changed: both are kept, and what is here is the later",
    Step.THEIRS_STANDS: "both changed: both are kept, and what is there is the later",
}
_TASK_GONE = "its task is gone: `berdseye judgments doctor --fix` makes it again"
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
