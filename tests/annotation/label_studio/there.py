"""Looking at, and changing, what a Label Studio server holds, as people and other programs would."""

from uuid import uuid4

import httpx

from berdseye.annotation.judgments.log import Annotator, Judgments, PairRecord
from berdseye.annotation.label_studio.connection import Connection
from berdseye.annotation.label_studio.form import RecordedVerdict, result_of
from berdseye.annotation.label_studio.people import email_of
from berdseye.annotation.label_studio.project import Project
from berdseye.annotation.label_studio.tasks import RemoteTask, all_tasks

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
            assert annotation.judgment is not None
            place = (task.key, users[annotation.user])
            assert place not in found, "a person has two annotations on a task"
            found[place] = (annotation.judgment.verdict, annotation.judgment.comment)
    return found


def task_of(connection: Connection, project: Project, key: str) -> RemoteTask:
    return next(task for task in all_tasks(connection, project.id) if task.key == key)


def user_of(connection: Connection, person: Annotator) -> int:
    """A person's account, made where there is none."""
    known = next((u.id for u in connection.client.users.list() if u.email == email_of(person)), None)
    if known is not None:
        return int(known)
    return new_user(connection, email_of(person), person.name)


def new_user(connection: Connection, email: str, name: str = "") -> int:
    """An account of this address."""
    made = connection.client.users.create(username=uuid4().hex[:30], email=email, first_name=name)
    return int(connection.client.users.update(made.id, active_organization=connection.organization).id)


def signed_in(url: str, email: str, password: str) -> httpx.Client | None:
    """A browser's session of someone who signed in by e-mail and password; None where Label Studio refused."""
    http = httpx.Client(base_url=url, trust_env=False, timeout=60)
    http.get("/user/login/")
    fields = {"email": email, "password": password, "csrfmiddlewaretoken": http.cookies["csrftoken"]}
    answer = http.post("/user/login/", data=fields, headers={"Referer": url})
    return http if answer.status_code == httpx.codes.FOUND else None


def annotate(connection: Connection, task: RemoteTask, user: int, word: RecordedVerdict) -> int:
    """A person annotates in Label Studio."""
    return int(connection.client.annotations.create(id=task.id, result=result_of(word), completed_by=user).id)


def change(connection: Connection, annotation: int, word: RecordedVerdict) -> None:
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
