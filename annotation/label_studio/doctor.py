"""What is wrong between here and Label Studio, as findings that an exchange mends."""

from functools import partial

from berdseye.annotation.batches.stored import Batch, list_batches
from berdseye.annotation.doctor.finding import Finding, some
from berdseye.annotation.judgments.log import Judgments
from berdseye.annotation.label_studio.batch_projects import data_of, detector_of, labels_of
from berdseye.annotation.label_studio.connection import Connection
from berdseye.annotation.label_studio.drift import Drift, find_drift
from berdseye.annotation.label_studio.project import Project
from berdseye.annotation.label_studio.purpose import exchanged_projects, purpose_of
from berdseye.annotation.label_studio.sync import sync


def examine_exchange(judgments: Judgments, connection: Connection) -> list[Finding]:
    """What differs in every project that was exchanged with; nothing is changed.

    Raises what `find_drift` raises.
    """
    found: list[Finding] = []
    batches = {batch.id: batch for batch in list_batches(judgments)}
    for project in exchanged_projects(judgments, connection):
        batch = batches.get(purpose_of(judgments, project.key).batch or 0)
        found += _findings(find_drift(judgments, connection, project), connection, project, batch)
    return found


def _findings(drift: Drift, connection: Connection, project: Project, batch: Batch | None) -> list[Finding]:
    title, counts = drift.project, drift.counts()
    again = [*drift.missing_tasks, *drift.doubled_tasks, *(drift.unpredicted if batch is not None else ())]

    def exchange(judgments: Judgments) -> None:
        if batch is None:
            sync(judgments, connection, project, again)
            return
        labels, more = labels_of(judgments, batch), data_of(judgments, batch)
        sync(judgments, connection, project, again, labels, detector_of(batch), more=more)

    def by_exchange(text: str, cure: str) -> Finding:
        return Finding("Label Studio", f"{title}: {text}.", cure, exchange)

    by_hand = partial(Finding, "Label Studio")
    found = []
    words = {name: count for name, count in counts.items() if name.startswith("words") and count}
    if words:
        told = ", ".join(f"{count} {name}" for name, count in words.items())
        found.append(by_exchange(told, "exchanges them; where both sides changed, both are kept and the later stands."))
    if drift.doubled_tasks:
        told = f"{len(drift.doubled_tasks)} pairs have several tasks: {some(list(drift.doubled_tasks))}"
        found.append(by_exchange(told, "moves what people said last to the first task, and deletes the others."))
    if drift.missing_tasks:
        told = f"{len(drift.missing_tasks)} tasks were deleted there: pairs {some(list(drift.missing_tasks))}"
        found.append(by_exchange(told, "makes them again, with the judgments here."))
    if drift.unknown_pairs:
        told = f"{len(drift.unknown_pairs)} tasks have pairs that are not known here: {some(list(drift.unknown_pairs))}"
        found.append(by_exchange(told, "makes the pairs known."))
    if drift.unpredicted:
        told = f"{len(drift.unpredicted)} pairs have no prediction of the detector shown there"
        if batch is not None:
            found.append(by_exchange(told, "sends those of the batch."))
        else:
            found.append(by_hand(f"{title}: {told}.", "send the runs again: `berdseye judgments push --run NAME`."))
    if drift.foreign_tasks:
        tasks = some([str(task) for task in drift.foreign_tasks])
        found.append(by_hand(f"{title}: tasks whose texts are not ours: {tasks}.", "delete them there, or leave them."))
    if drift.doubled_words:
        told = some([f"{person} on pair {pair}" for pair, person, _ in drift.doubled_words])
        found.append(by_hand(f"{title}: several annotations by {told}.", "the newest counts; delete the others there."))
    found += [by_hand(f"{title}: {problem}", "judge this task again there.") for problem in drift.unreadable]
    return found
