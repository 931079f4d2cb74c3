"""The differences between the judgments here and those of a Label Studio project; comparing changes neither side.

Also the judgments that one person made differently here and in Label Studio (the log keeps both, and the later one counts),
and the differences as findings of the doctor, which an exchange fixes.
"""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal, NamedTuple

from sqlalchemy import select

from berdseye.annotation.batches.stored import EVENT_KINDS, Batch, list_batches
from berdseye.annotation.doctor.examine import examine
from berdseye.annotation.doctor.finding import Finding, Fix, first_few
from berdseye.annotation.judgments.log import JUDGMENT_KINDS, Judgments, by_keys
from berdseye.annotation.judgments.schema import annotators, events, present, sync_tasks
from berdseye.annotation.label_studio.batch_projects import data_of, labels_of
from berdseye.annotation.label_studio.connection import Connection, connect
from berdseye.annotation.label_studio.exchange import sync
from berdseye.annotation.label_studio.exchange_state import (
    Local,
    Place,
    Step,
    belongs,
    read_agreed,
    read_local,
    read_pairs,
    read_sent,
    step,
)
from berdseye.annotation.label_studio.form import RecordedVerdict, pair_of, shown_version
from berdseye.annotation.label_studio.people import People
from berdseye.annotation.label_studio.project import (
    Project,
    exchanged_projects,
    purpose_of,
    reload_project,
)
from berdseye.annotation.label_studio.tasks import RemoteAnnotation, RemoteTask, all_tasks
from berdseye.data.errors import BadInputError, UnavailableError
from berdseye.data.workspace import Workspace

Side = Literal["only here", "only there", "differing"]
_THERE = "label-studio"
_REMEDIES = {
    Step.SEND: "the next push sends the judgment made here",
    Step.RECEIVE: "the next pull fetches the judgment made in Label Studio",
    Step.OURS_IS_LATER: "both sides changed: both judgments are kept, and the later one, made here, counts",
    Step.THEIRS_IS_LATER: "both sides changed: both judgments are kept, and the later one, made in Label Studio, counts",
}
_TASK_GONE = "its task was deleted: `berdseye judgments doctor --fix` creates it again"
_NEW_PERSON = "the next pull fetches it and adds its author"


@dataclass(frozen=True)
class SideState:
    """One side's state of a person's judgment of a pair; no verdict if it was withdrawn, deleted or never made."""

    verdict: str | None = None
    comment: str = ""
    at: str = ""

    def __str__(self) -> str:
        verdict = repr(self.verdict) if self.verdict else "nothing"
        comment = f" ({self.comment})" if self.comment else ""
        return f"{verdict}{comment}{f' of {self.at[:19]}' if self.at else ''}"


@dataclass(frozen=True)
class JudgmentDrift:
    """A person's judgment of a pair that differs between both sides; `remedy` says what the next exchange does."""

    pair: str
    person: str
    side: Side
    here: SideState
    there: SideState
    remedy: str


@dataclass(frozen=True)
class Contested:
    """A pair that one person judged differently here and in Label Studio: the log has both, `later` says which one counts."""

    pair: str
    person: str
    here: SideState
    there: SideState
    later: Literal["here", "there"]


@dataclass(frozen=True)
class Drift:
    """The differences between the judgments here and one Label Studio project; true if there is any.

    `unnoted` counts judgments that agree on both sides although no exchange has noted it; `doubled_tasks` gives the task ids
    of each pair with several tasks; `doubled_annotations` gives (pair, person, count) for a person with several annotations on a
    pair; `missing_tasks` are pairs whose task is gone, `unknown_pairs` pairs of tasks that are not known here, `foreign_tasks`
    tasks whose texts do not fit their ext_id, `unpredicted` pairs without a prediction of the detector that the project shows.
    `contested` is settled, and does not count as a difference.
    """

    project: str
    judgments: tuple[JudgmentDrift, ...] = ()
    unnoted: int = 0
    doubled_tasks: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    doubled_annotations: tuple[tuple[str, str, int], ...] = ()
    missing_tasks: tuple[str, ...] = ()
    unknown_pairs: tuple[str, ...] = ()
    foreign_tasks: tuple[int, ...] = ()
    unpredicted: tuple[str, ...] = ()
    unreadable: tuple[str, ...] = ()
    contested: tuple[Contested, ...] = ()

    def __bool__(self) -> bool:
        return any(self.counts().values())

    def counts(self) -> dict[str, int]:
        """Return the number of differences of each kind."""
        sides = [judgment.side for judgment in self.judgments]
        return {
            "judgments only here": sides.count("only here"),
            "judgments only there": sides.count("only there"),
            "judgments differing": sides.count("differing"),
            "judgments not noted as exchanged": self.unnoted,
            "pairs with several tasks": len(self.doubled_tasks),
            "people with several annotations on a pair": len(self.doubled_annotations),
            "tasks gone": len(self.missing_tasks),
            "tasks of pairs not known here": len(self.unknown_pairs),
            "tasks with texts that are not Berdseye's": len(self.foreign_tasks),
            "predictions missing": len(self.unpredicted),
            "annotations that cannot be read": len(self.unreadable),
        }

    def __str__(self) -> str:
        differences = ", ".join(f"{count} {name}" for name, count in self.counts().items() if count)
        settled = (
            f" {len(self.contested)} judged differently on both sides: both judgments are kept, the later one counts."
        )
        return f"{self.project}: {differences or 'both sides agree'}.{settled if self.contested else ''}"

    def as_json(self) -> dict[str, Any]:
        """Return the counts and all fields, as plain lists and dicts."""
        return {"counts": self.counts(), **asdict(self)}


def contested_judgments(judgments: Judgments, pairs: list[str] | None = None) -> tuple[Contested, ...]:
    """Return, by pair and person, the last judgment made here and the last one pulled from Label Studio, where they differ.

    Judgments taken back by an undo are ignored, and so are pairs on which neither judgment is in force any more.
    """
    undo = events.alias()
    undone = select(undo.c.target).where(undo.c.kind == "undo", undo.c.target.is_not(None))
    query = (
        select(events, annotators.c.name)
        .join(annotators, annotators.c.id == events.c.annotator_id)
        .where(events.c.kind.in_(JUDGMENT_KINDS), events.c.id.not_in(undone))
        .order_by(events.c.id)
    )
    last: dict[tuple[str, str], dict[bool, SideState]] = {}
    newest: dict[tuple[str, str], tuple[bool, bool]] = {}
    with judgments.reading() as connection:
        for part in by_keys(query, events.c.pair, pairs):
            for row in connection.execute(part):
                place, is_remote = (row.pair, row.name), row.source == _THERE
                newest[place] = (is_remote, row.verdict is not None)
                if row.verdict is not None:
                    last.setdefault(place, {})[is_remote] = SideState(row.verdict, row.comment.strip(), row.at)
    contested = []
    for place, sides in last.items():
        is_remote, stands = newest[place]
        if len(sides) < 2 or not stands:
            continue
        if (sides[False].verdict, sides[False].comment) != (sides[True].verdict, sides[True].comment):
            contested.append(Contested(*place, sides[False], sides[True], "there" if is_remote else "here"))
    return tuple(contested)


class _Author(NamedTuple):
    """The author of an annotation; `annotator` is None for a user of Label Studio who is new here."""

    annotator: int | None
    name: str


class _RemoteState(NamedTuple):
    """The annotations of the project by pair and author, of which the newest counts, and what is wrong with them."""

    newest: dict[tuple[str, _Author], RemoteAnnotation]
    doubled: tuple[tuple[str, str, int], ...]
    unreadable: tuple[str, ...]


def find_drift(judgments: Judgments, connection: Connection, project: Project) -> Drift:
    """Compare the judgments that belong in this project one by one, and return all differences.

    Waits for a running exchange. Raises `UnavailableError` if the server does not answer, `UnknownNameError` if the project
    is gone.
    """
    with connection.exclusively():
        project = reload_project(connection, project)
        by_key: dict[str, list[RemoteTask]] = defaultdict(list)
        for task in all_tasks(connection, project.id, versions=True):
            by_key[task.key].append(task)
        people = People(judgments, connection)
        people.recall(project.key, list(by_key))
        remote = _read_remote(by_key, people)
        purpose = purpose_of(judgments, project.key)
        with judgments.reading() as database:
            ever = select(sync_tasks.c.pair).where(sync_tasks.c.project == project.key)
            had_task = set(database.execute(ever).scalars())
            judged_here = select(present.c.pair, present.c.annotator_id).where(
                present.c.kind == EVENT_KINDS[purpose.task], belongs(purpose)
            )
            here = {Place(*row) for row in database.execute(judged_here)}
            keys = list(dict.fromkeys((*(place.pair for place in here), *by_key, *had_task)))
            all_local = read_local(database, keys)
            local = {place: ours for place, ours in all_local.items() if ours.judgment is None or place in here}
            base, sent = read_agreed(database, project.key, keys), read_sent(database, project.key, keys)
            known = read_pairs(database, list(by_key))
        names = {person.id: person.name for person in judgments.annotators()}
        differing, unnoted = _compare(remote, local, base, sent, by_key, names)
        unknown = {key: pair_of(tasks[0].data) for key, tasks in by_key.items() if key not in known}
        return Drift(
            project.title,
            differing,
            unnoted,
            {key: tuple(task.id for task in tasks) for key, tasks in by_key.items() if len(tasks) > 1},
            remote.doubled,
            tuple(sorted(had_task - by_key.keys())),
            tuple(key for key, record in unknown.items() if record is not None),
            tuple(task.id for key, record in unknown.items() if record is None for task in by_key[key]),
            _unpredicted(by_key, project.model_version),
            remote.unreadable,
            contested_judgments(judgments, None if purpose.batch is None else keys),
        )


def _read_remote(by_key: Mapping[str, list[RemoteTask]], people: People) -> _RemoteState:
    newest: dict[tuple[str, _Author], RemoteAnnotation] = {}
    count: dict[tuple[str, _Author], int] = defaultdict(int)
    problems = []
    for key, tasks in by_key.items():
        for task in tasks:
            for annotation in task.annotations:
                annotator = people.known(key, annotation.id, annotation.user)
                name = people.called(annotation.user) if annotator is None else annotator.name
                if name is None:
                    problems.append(
                        f"Annotation {annotation.id} of task {task.id}: its author no longer exists in Label Studio."
                    )
                    continue
                place = key, _Author(annotator.id, annotator.name) if annotator else _Author(None, name)
                if annotation.problem:
                    problems.append(f"Annotation {annotation.id} of task {task.id} by {name}: {annotation.problem}")
                count[place] += 1
                if place not in newest or (newest[place].at, newest[place].id) < (annotation.at, annotation.id):
                    newest[place] = annotation
    doubled = tuple((key, author.name, times) for (key, author), times in count.items() if times > 1)
    return _RemoteState(newest, doubled, tuple(problems))


def _compare(
    there: _RemoteState,
    local: Mapping[Place, Local],
    base: Mapping[Place, RecordedVerdict | None],
    sent: Mapping[Place, RecordedVerdict | None],
    by_key: Mapping[str, list[RemoteTask]],
    names: Mapping[int, str],
) -> tuple[tuple[JudgmentDrift, ...], int]:
    """Return every judgment that differs, and the number of those that agree although no exchange has noted it."""
    differences: list[JudgmentDrift] = []
    unnoted = 0
    theirs: dict[Place, RemoteAnnotation] = {}
    for (pair, author), annotation in there.newest.items():
        if author.annotator is not None:
            theirs[Place(pair, author.annotator)] = annotation
        elif annotation.judgment is not None:
            differences.append(
                JudgmentDrift(
                    pair,
                    author.name,
                    "only there",
                    SideState(),
                    _state(annotation.judgment, annotation.at),
                    _NEW_PERSON,
                )
            )
    for place in dict.fromkeys((*theirs, *local, *base)):
        annotation_there, ours = theirs.get(place), local.get(place)
        if annotation_there is not None and annotation_there.problem:
            continue
        judgment, remote = ours.judgment if ours else None, annotation_there.judgment if annotation_there else None
        agreed = remote if place in sent and sent[place] == remote else base.get(place)
        at = annotation_there.at if annotation_there else None
        decided = step(agreed, judgment, remote, ours_at=ours.at if ours else "", theirs_at=at)
        if decided is Step.AGREED:
            unnoted += 1
        if judgment == remote:
            continue
        side: Side = "only here" if remote is None else "only there" if judgment is None else "differing"
        task_is_gone = place.pair not in by_key and agreed is not None
        differences.append(
            JudgmentDrift(
                place.pair,
                names.get(place.annotator, f"annotator {place.annotator}"),
                side,
                _state(judgment, ours.at if ours else ""),
                _state(remote, at or ""),
                _TASK_GONE if task_is_gone else _REMEDIES[decided],
            )
        )
    return tuple(differences), unnoted


def _state(judgment: RecordedVerdict | None, at: str) -> SideState:
    return SideState(at=at) if judgment is None else SideState(judgment.verdict, judgment.comment, at)


def _unpredicted(by_key: Mapping[str, list[RemoteTask]], version: str) -> tuple[str, ...]:
    """Return the pairs without a prediction of the version that the project shows; none if it shows no version."""
    if not version:
        return ()
    wanted = shown_version(version)
    return tuple(key for key, tasks in by_key.items() if not any(wanted in task.versions for task in tasks))


def examine_exchange(judgments: Judgments, connection: Connection) -> list[Finding]:
    """Return the differences in every project that judgments were exchanged with, without changing anything.

    Raises `UnavailableError` if the server does not answer.
    """
    findings: list[Finding] = []
    batches = {batch.id: batch for batch in list_batches(judgments)}
    for project in exchanged_projects(judgments, connection):
        batch = batches.get(purpose_of(judgments, project.key).batch or 0)
        findings += _findings(find_drift(judgments, connection, project), connection, project, batch)
    return findings


def _findings(drift: Drift, connection: Connection, project: Project, batch: Batch | None) -> list[Finding]:
    again = [*drift.missing_tasks, *drift.doubled_tasks, *(drift.unpredicted if batch is not None else ())]

    def exchange(judgments: Judgments) -> None:
        if batch is None:
            sync(judgments, connection, project, again)
            return
        labels, more = labels_of(judgments, batch), data_of(judgments, batch)
        sync(judgments, connection, project, again, labels, batch.detector, more=more)

    findings: list[Finding] = []

    def report(text: str, remedy: str, fix: Fix | None = exchange) -> None:
        findings.append(Finding("Label Studio", f"{drift.project}: {text}", remedy, fix))

    differing = [f"{n} {kind}" for kind, n in drift.counts().items() if kind.startswith("judgments") and n]
    if differing:
        report(
            f"{', '.join(differing)}.",
            "exchanges them; if both sides changed, both judgments are kept and the later one counts.",
        )
    if pairs := list(drift.doubled_tasks):
        text = f"{len(pairs)} pairs have several tasks: {first_few(pairs)}."
        report(text, "moves people's last judgments to the first task, and deletes the other tasks.")
    if pairs := list(drift.missing_tasks):
        text = f"{len(pairs)} tasks were deleted in Label Studio: pairs {first_few(pairs)}."
        report(text, "creates them again, with the judgments here.")
    if pairs := list(drift.unknown_pairs):
        report(f"{len(pairs)} tasks have pairs that are not known here: {first_few(pairs)}.", "adds the pairs.")
    if drift.unpredicted:
        text = f"{len(drift.unpredicted)} pairs have no prediction of the detector that the project shows."
        if batch is not None:
            report(text, "pushes the predictions of the batch.")
        else:
            report(text, "push the runs again: `berdseye judgments push --run NAME`.", None)
    if drift.foreign_tasks:
        tasks = first_few([str(task) for task in drift.foreign_tasks])
        report(f"tasks whose texts are not those of Berdseye: {tasks}.", "delete them there, or keep them.", None)
    if drift.doubled_annotations:
        authors = first_few([f"{person} on pair {pair}" for pair, person, _ in drift.doubled_annotations])
        report(f"several annotations by {authors}.", "the newest one counts; delete the others there.", None)
    for problem in drift.unreadable:
        report(problem, "judge this task again in Label Studio.", None)
    return findings


def drifts(workspace: Workspace, judgments: Judgments) -> list[Drift]:
    """Return the differences of each project. Raises `UnavailableError` if Label Studio does not answer."""
    connection = connect(workspace)
    return [find_drift(judgments, connection, project) for project in exchanged_projects(judgments, connection)]


def check_health(workspace: Workspace, judgments: Judgments) -> tuple[list[Finding], str]:
    """Return the faults of the judgments and of the exchange, and why Label Studio could not be examined (empty if it was)."""
    findings = examine(judgments)
    try:
        return findings + examine_exchange(judgments, connect(workspace)), ""
    except (UnavailableError, BadInputError) as error:
        return findings, str(error)
