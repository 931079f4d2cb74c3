"""Push: from the event log to Label Studio."""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from berdseye.annotation.judgments.database import writing
from berdseye.annotation.judgments.log import Judgments, PairRecord, batched_rows
from berdseye.annotation.judgments.recorded import verdicts_of
from berdseye.annotation.label_studio.connection import ApiError, Connection
from berdseye.annotation.label_studio.exchange_state import (
    Agreed,
    ExchangeReport,
    Local,
    Place,
    Step,
    read_agreed,
    read_local,
    read_pairs,
    read_sent,
    step,
    write_agreed,
    write_sent,
    write_tasks,
)
from berdseye.annotation.label_studio.form import (
    RecordedVerdict,
    check_config,
    label_data,
    model_version,
    prediction_of,
    result_of,
    task_data,
)
from berdseye.annotation.label_studio.people import People
from berdseye.annotation.label_studio.project import Project, Purpose, annotation_uid, purpose_of, reload_project
from berdseye.annotation.label_studio.tasks import (
    NewTask,
    PersonAnnotations,
    RemoteAnnotation,
    RemoteTask,
    annotations_by_person,
    create_annotation,
    create_tasks,
    keep_one,
    last_change,
    look_up,
    write_field,
)
from berdseye.data.errors import BadInputError
from berdseye.data.records import DetectorVersion

Progress = Callable[[int, int], None]
Labels = Mapping[str, tuple[float, bool]]
ExtraData = Mapping[str, Mapping[str, Any]]
UNNAMED = DetectorVersion("detector")
"""The detector of labels that come with no name."""
_CHUNK = 500
_NOT_FOUND = 404
_BOTH_CHANGED = "Some judgments were changed in Label Studio too: pull them first, then push again."


def push(
    judgments: Judgments,
    connection: Connection,
    project: Project,
    pairs: Sequence[str],
    labels: Labels | None = None,
    detector: DetectorVersion = UNNAMED,
    *,
    more: ExtraData | None = None,
    progress: Progress | None = None,
) -> ExchangeReport:
    """Create tasks for these pairs, with a detector's labels as predictions, and push the judgments made here.

    `labels` gives (probability, supports) of `detector` by pair key; `more` gives further data of new
    tasks. A project for one person gets only their judgments. `progress` is called with the pairs (done, total). Nothing
    counts as delivered before the server has confirmed it: after an interruption, another push completes the work and creates
    nothing twice. Judgments that were changed in Label Studio too are left to `pull`, and reported. Raises `BadInputError`
    for an unknown pair or a labeling interface without Berdseye's choices, `UnavailableError` if the server does not answer,
    `UnknownNameError` if the project is gone.
    """
    keys = list(dict.fromkeys(pairs))
    with judgments.reading() as reading:
        records = read_pairs(reading, keys)
    if unknown := [key for key in keys if key not in records]:
        raise BadInputError(
            f"{len(unknown)} pairs are not in the judgments database, the first one: {unknown[0]}.",
            hint="Add them first (`Judgments.add_pairs`).",
        )
    with connection.exclusively():
        project = reload_project(connection, project)
        purpose = purpose_of(judgments, project.key)
        check_config(project.config, project.title, purpose.task, purpose.form)
        pusher = _Push(judgments, connection, project, purpose, labels or {}, detector, more or {})
        report, done = ExchangeReport(), 0
        for chunk in batched_rows(keys, _CHUNK):
            report += pusher.chunk({key: records[key] for key in chunk})
            done += len(chunk)
            if progress is not None:
                progress(done, len(keys))
        pusher.show_predictions(keys)
        return report


class _Push:
    """The state of one push."""

    def __init__(
        self, judgments: Judgments, connection: Connection, project: Project, purpose: Purpose,
        labels: Labels, detector: DetectorVersion, more: ExtraData,
    ) -> None:  # fmt: skip
        self._judgments, self._connection, self._project, self._purpose = judgments, connection, project, purpose
        self._labels, self._detector, self._more = labels, detector, more
        self._version = model_version(detector)
        self._people = People(judgments, connection)

    def chunk(self, records: Mapping[str, PairRecord]) -> ExchangeReport:
        """Push a chunk of pairs; returns the report of it."""
        tasks_by_key = look_up(self._connection, self._project.id, list(records))
        self._people.recall(self._project.key, list(records))
        tasks = {
            key: keep_one(self._connection, self._project.id, copies, self._people)
            for key, copies in tasks_by_key.items()
        }
        with self._judgments.reading() as connection:
            local = {
                place: ours
                for place, ours in read_local(connection, list(records)).items()
                if ours.judgment is None or ours.judgment.verdict in verdicts_of(self._purpose.task, self._purpose.form)
            }
            base = read_agreed(connection, self._project.key, list(records))
            sent = read_sent(connection, self._project.key, list(records))
        places: dict[str, dict[Place, None]] = defaultdict(dict)
        for place in (*local, *base, *sent):
            places[place.pair][place] = None
        report = self._create_tasks([record for key, record in records.items() if key not in tasks], local, base)
        report += self._predict(list(tasks.values()))
        self._remember({}, tasks)
        for key, task in tasks.items():
            report += self._update_task(task, list(places[key]), local, base, sent)
        return report

    def show_predictions(self, keys: Sequence[str]) -> None:
        """Make this detector's predictions the ones that people see: Label Studio shows those of one version only."""
        # It refuses a version that has no predictions yet, so this comes last.
        if self._project.model_version != self._version and any(key in self._labels for key in keys):
            self._connection.client.projects.update(id=self._project.id, model_version=self._version)

    def _create_tasks(
        self, records: Sequence[PairRecord], local: Mapping[Place, Local], base: Mapping[Place, RecordedVerdict | None]
    ) -> ExchangeReport:
        if not records:
            return ExchangeReport()
        keys = {record.key for record in records}
        own = {
            place: ours.judgment
            for place, ours in local.items()
            if ours.judgment and place.pair in keys and self._belongs(place)
        }
        judgments: dict[str, dict[int, RecordedVerdict]] = defaultdict(dict)
        for place, judgment in own.items():
            judgments[place.pair][place.annotator] = judgment
        new = [
            NewTask(
                record.key,
                {**task_data(record), **self._label_data(record.key), **self._more.get(record.key, {})},
                judgments[record.key],
                self._predictions(record.key),
            )
            for record in records
        ]
        self._announce(own)
        created = create_tasks(self._connection, self._project.id, new, self._people)
        # A judgment that was agreed on a task that is gone, and was withdrawn here since, is settled too.
        agreed = {place: Agreed(None, None) for place in base if place.pair in created}
        for task in new:
            by_person, _ = annotations_by_person([created[task.key]], self._people)
            for person, judgment in task.judgments.items():
                agreed[Place(task.key, person)] = Agreed(judgment, by_person[person].newest.id)
        self._remember(agreed, created)
        return ExchangeReport(
            tasks_created=len(new),
            predictions=sum(len(task.predictions) for task in new),
            annotations_created=sum(len(task.judgments) for task in new),
        )

    def _predictions(self, key: str) -> tuple[dict[str, Any], ...]:
        if key not in self._labels:
            return ()
        return (prediction_of(self._detector, *self._labels[key]),)

    def _label_data(self, key: str) -> dict[str, str]:
        return label_data(self._project.config, self._detector, self._labels.get(key))

    def _predict(self, tasks: Sequence[RemoteTask]) -> ExchangeReport:
        """Add predictions to the tasks that have none of this version."""
        without = [task for task in tasks if task.key in self._labels and self._version not in task.versions]
        new = [{"task": task.id, **one} for task in without for one in self._predictions(task.key)]
        if not new:
            return ExchangeReport()
        # The text of a task that was judged stays the one that the person saw.
        data = {task.id: self._label_data(task.key) for task in without if not task.annotations}
        texts = {task: shown["detector"] for task, shown in data.items() if shown}
        write_field(self._connection, self._project.id, "detector", texts)
        answer = self._connection.client.projects.import_predictions(self._project.id, request=new)
        return ExchangeReport(predictions=int(answer.created or 0))

    def _update_task(
        self,
        task: RemoteTask,
        places: Sequence[Place],
        local: Mapping[Place, Local],
        base: Mapping[Place, RecordedVerdict | None],
        sent: Mapping[Place, RecordedVerdict | None],
    ) -> ExchangeReport:
        """Push the judgments of one pair to its task."""
        by_person, problems = annotations_by_person([task], self._people) if task.annotations else ({}, [])
        report = ExchangeReport(problems=tuple(problems))
        for place in places:
            theirs = by_person.get(place.annotator)
            if theirs is not None and theirs.newest.problem:
                continue
            ours, remote = local.get(place), theirs.judgment if theirs else None
            judgment, moment = (ours.judgment, ours.at) if ours else (None, "")
            agreed = base.get(place)
            if place in sent and sent[place] == remote:
                # An earlier push, which arrived without a confirmation: agreed, whatever the judgment here is by now.
                agreed = remote
                self._remember({place: Agreed(remote, theirs.newest.id if theirs and remote else None)}, {})
            decided = step(agreed, judgment, remote, ours_at=moment, theirs_at=theirs.newest.at if theirs else None)
            if decided is Step.AGREED:
                self._remember({place: Agreed(judgment, theirs.newest.id if theirs and judgment else None)}, {})
            elif decided is Step.SEND and ours is not None and (theirs is not None or self._belongs(place)):
                report += self._send(task, place, ours, theirs)
            elif decided in (Step.OURS_IS_LATER, Step.THEIRS_IS_LATER):
                report += ExchangeReport(problems=(_BOTH_CHANGED,))
        return report

    def _send(self, task: RemoteTask, place: Place, ours: Local, theirs: PersonAnnotations | None) -> ExchangeReport:
        self._announce({place: ours.judgment})
        try:
            if ours.judgment is None:
                number, done = self._delete(theirs), ExchangeReport(annotations_deleted=1)
            elif theirs is None:
                number, done = self._create(task, place, ours.judgment, ours.uid), ExchangeReport(annotations_created=1)
            else:
                number, done = self._update(task, theirs, ours.judgment), ExchangeReport(annotations_updated=1)
        except ApiError as error:
            if error.status_code != _NOT_FOUND:
                raise
            number = None
        if number is None:
            return ExchangeReport(problems=(_BOTH_CHANGED,))
        self._remember({place: Agreed(ours.judgment, number if ours.judgment else None)}, {})
        return done

    def _create(self, task: RemoteTask, place: Place, judgment: RecordedVerdict, uid: str) -> int | None:
        unique = annotation_uid(self._project.key, uid, task.id)
        number = create_annotation(self._connection, task, judgment, self._people.user(place.annotator), unique)
        if number is not None:
            return number
        # It exists already: another exchange, on another machine, was faster.
        now = look_up(self._connection, self._project.id, [task.key]).get(task.key, [])
        there = annotations_by_person(now, self._people)[0].get(place.annotator)
        return there.newest.id if there is not None and there.judgment == judgment else None

    def _update(self, task: RemoteTask, theirs: PersonAnnotations, judgment: RecordedVerdict) -> int | None:
        newest = theirs.newest
        if not self._unchanged(newest):
            return None
        self._connection.client.annotations.update(
            id=newest.id, result=result_of(judgment, task.data), was_cancelled=False
        )
        return newest.id

    def _delete(self, theirs: PersonAnnotations | None) -> int | None:
        # Older annotations of this person are deleted too: otherwise the previous one would count again.
        annotations = [a for a in theirs.annotations if a.judgment is not None] if theirs else []
        if not all(self._unchanged(annotation) for annotation in annotations):
            return None
        for annotation in annotations:
            self._connection.client.annotations.delete(id=annotation.id)
        return annotations[-1].id if annotations else 0

    def _unchanged(self, annotation: RemoteAnnotation) -> bool:
        # Its author may have changed it since the look-up; such a change must not be overwritten unseen.
        return last_change(self._connection, annotation.id) == annotation.at

    def _belongs(self, place: Place) -> bool:
        """Return whether a judgment that is not in the project yet belongs there: others may not see it."""
        return self._purpose.person in (None, place.annotator)

    def _announce(self, judgments: Mapping[Place, RecordedVerdict | None]) -> None:
        with writing(self._judgments.engine) as connection:
            write_sent(connection, self._project.key, judgments)

    def _remember(self, agreed: Mapping[Place, Agreed], tasks: Mapping[str, RemoteTask]) -> None:
        with writing(self._judgments.engine) as connection:
            write_agreed(connection, self._project.key, agreed)
            write_tasks(connection, self._project.key, {key: task.id for key, task in tasks.items()})
