"""What is wrong between here and Label Studio, as findings that an exchange mends."""

from functools import partial

from annotation.doctor.finding import Finding, some
from annotation.judgments import Judgments
from annotation.label_studio.connection import Connection
from annotation.label_studio.drift import find_drift
from annotation.label_studio.drift_report import Drift
from annotation.label_studio.exchanged import exchanged_projects
from annotation.label_studio.project import Project
from annotation.label_studio.sync import sync


def examine_exchange(judgments: Judgments, connection: Connection) -> list[Finding]:
    """What differs in every project that was exchanged with; nothing is changed.

    Raises what `find_drift` raises.
    """
    found: list[Finding] = []
    for project in exchanged_projects(judgments, connection):
        found += _findings(find_drift(judgments, connection, project), connection, project)
    return found


def _findings(drift: Drift, connection: Connection, project: Project) -> list[Finding]:
    title, counts = drift.project, drift.counts()
    again = [*drift.missing_tasks, *drift.doubled_tasks]

    def exchange(judgments: Judgments) -> None:
        sync(judgments, connection, project, again)

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
        told = f"{title}: {len(drift.unpredicted)} pairs have no prediction of the detector shown there."
        found.append(by_hand(told, "send the runs or the batch again."))
    if drift.foreign_tasks:
        tasks = some([str(task) for task in drift.foreign_tasks])
        found.append(by_hand(f"{title}: tasks whose texts are not ours: {tasks}.", "delete them there, or leave them."))
    if drift.doubled_words:
        told = some([f"{person} on pair {pair}" for pair, person, _ in drift.doubled_words])
        found.append(by_hand(f"{title}: several annotations by {told}.", "the newest counts; delete the others there."))
    found += [by_hand(f"{title}: {problem}", "judge this task again there.") for problem in drift.unreadable]
    return found
