"""Looking at, and changing, what a Label Studio server holds, as people and other programs would."""

from annotation.judgments import Annotator, Judgments, PairRecord
from annotation.label_studio.config import Word, result_of
from annotation.label_studio.connection import Connection
from annotation.label_studio.people import email_of
from annotation.label_studio.project import Project
from annotation.label_studio.remote import RemoteTask, all_tasks

Held = dict[tuple[str, str], tuple[str, str]]


def held_here(judgments: Judgments) -> Held:
    """(pair, e-mail) -> (verdict, comment)."""
    return {(j.pair, email_of(j.annotator)): (j.verdict, j.comment) for j in judgments.present()}


def held_there(connection: Connection, project: Project) -> Held:
    """The same in Label Studio; fails where a pair has two tasks, or a person two annotations on one."""
    users = {user.id: user.email for user in connection.client.users.list()}
    found: Held = {}
    tasks = all_tasks(connection, project.id)
    assert len({task.key for task in tasks}) == len(tasks), "a pair has two tasks"
    for task in tasks:
        for annotation in task.annotations:
            assert annotation.user is not None
            assert annotation.word is not None
            place = (task.key, users[annotation.user])
            assert place not in found, "a person has two annotations on a task"
            found[place] = (annotation.word.verdict, annotation.word.comment)
    return found


def task_of(connection: Connection, project: Project, key: str) -> RemoteTask:
    return next(task for task in all_tasks(connection, project.id) if task.key == key)


def user_of(connection: Connection, person: Annotator) -> int:
    return next(u.id for u in connection.client.users.list() if u.email == email_of(person))


def annotate(connection: Connection, task: RemoteTask, user: int, word: Word) -> int:
    """A person annotates in Label Studio."""
    return int(connection.client.annotations.create(id=task.id, result=result_of(word), completed_by=user).id)


def change(connection: Connection, annotation: int, word: Word) -> None:
    """A person changes an annotation in Label Studio."""
    connection.client.annotations.update(id=annotation, result=result_of(word))


def pair(number: int) -> PairRecord:
    return PairRecord(
        dataset="demo", question_id="q1", question="Should cities ban cars?",
        perspective=f"Cities should ban cars for reason {number}.", stance="supporting", corpus="demo",
        title="" if number % 2 else f"Title {number} <b>",
        passage=f"Passage {number}: <script>alert(1)</script> ümlaut — 'quotes' & ampersands. " * 8,
        url="https://example.org/?a=1&b=2",
    )  # fmt: skip
