"""The differences between the judgments here and Label Studio, as findings of the doctor that an exchange fixes."""

from functools import partial

from berdseye.annotation.batches.stored import Batch, list_batches
from berdseye.annotation.doctor.finding import Finding, first_few
from berdseye.annotation.judgments.log import Judgments
from berdseye.annotation.label_studio.batch_projects import data_of, detector_of, labels_of
from berdseye.annotation.label_studio.connection import Connection
from berdseye.annotation.label_studio.drift import Drift, find_drift, shown_kind
from berdseye.annotation.label_studio.project import Project
from berdseye.annotation.label_studio.purpose import exchanged_projects, purpose_of
from berdseye.annotation.label_studio.sync import sync


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
    findings = []
    words = {name: count for name, count in counts.items() if name.startswith("words") and count}
    if words:
        text = ", ".join(f"{count} {shown_kind(name)}" for name, count in words.items())
        cure = "exchanges them; if both sides changed, both judgments are kept and the later one counts."
        findings.append(by_exchange(text, cure))
    if drift.doubled_tasks:
        text = f"{len(drift.doubled_tasks)} pairs have several tasks: {first_few(list(drift.doubled_tasks))}"
        findings.append(
            by_exchange(text, "moves people's last judgments to the first task, and deletes the other tasks.")
        )
    if drift.missing_tasks:
        text = f"{len(drift.missing_tasks)} tasks were deleted in Label Studio: pairs {first_few(list(drift.missing_tasks))}"
        findings.append(by_exchange(text, "creates them again, with the judgments here."))
    if drift.unknown_pairs:
        text = f"{len(drift.unknown_pairs)} tasks have pairs that are not known here: {first_few(list(drift.unknown_pairs))}"
        findings.append(by_exchange(text, "adds the pairs."))
    if drift.unpredicted:
        text = f"{len(drift.unpredicted)} pairs have no prediction of the detector that the project shows"
        if batch is not None:
            findings.append(by_exchange(text, "pushes the predictions of the batch."))
        else:
            findings.append(by_hand(f"{title}: {text}.", "push the runs again: `berdseye judgments push --run NAME`."))
    if drift.foreign_tasks:
        tasks = first_few([str(task) for task in drift.foreign_tasks])
        findings.append(
            by_hand(
                f"{title}: tasks whose texts are not those of Berdseye: {tasks}.", "delete them there, or keep them."
            )
        )
    if drift.doubled_words:
        authors = first_few([f"{person} on pair {pair}" for pair, person, _ in drift.doubled_words])
        findings.append(
            by_hand(f"{title}: several annotations by {authors}.", "the newest one counts; delete the others there.")
        )
    findings += [
        by_hand(f"{title}: {problem}", "judge this task again in Label Studio.") for problem in drift.unreadable
    ]
    return findings
