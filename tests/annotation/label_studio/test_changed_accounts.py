"""Accounts that are deleted, renamed, moved or alike: nobody's judgments become another's, and none is lost."""

from collections.abc import Callable
from uuid import uuid4

import pytest
from there import annotate, new_user, task_of, user_of

from berdseye.annotation.judgments.log import Annotator, Judgments
from berdseye.annotation.label_studio.connection import Connection
from berdseye.annotation.label_studio.drift import find_drift
from berdseye.annotation.label_studio.exchange import sync
from berdseye.annotation.label_studio.exchange_state import ExchangeReport
from berdseye.annotation.label_studio.form import RecordedVerdict, result_of
from berdseye.annotation.label_studio.people import Directory
from berdseye.annotation.label_studio.project import Project
from berdseye.annotation.label_studio.pull import pull
from berdseye.annotation.label_studio.push import push
from berdseye.annotation.label_studio.tasks import all_tasks
from berdseye.annotation.people import link
from berdseye.data.errors import BadInputError

pytestmark = pytest.mark.label_studio
SUPPORTS = RecordedVerdict("supports", "")


@pytest.fixture
def keys(
    judgments: Judgments, connection: Connection, project: Project, make_pairs: Callable[[int], list[str]]
) -> list[str]:
    made = make_pairs(3)
    push(judgments, connection, project, made)
    return made


def names(judgments: Judgments, key: str) -> list[tuple[str, str]]:
    return [(event["annotator"], event["kind"]) for event in judgments.history(key)]


def said_there(connection: Connection, project: Project, key: str, user: int, word: RecordedVerdict = SUPPORTS) -> int:
    return annotate(connection, task_of(connection, project, key), user, word)


@pytest.mark.parametrize("how", ["removed from the organization", "deleted"])
def test_judgments_stay_with_who_gave_them_when_their_account_ends(
    how: str, judgments: Judgments, people: list[Annotator], keys: list[str], connection: Connection, project: Project
) -> None:
    ana, bo = people[:2]
    accounts = [user_of(connection, one) for one in (ana, bo)]
    for user in accounts:
        said_there(connection, project, keys[0], user)
    assert pull(judgments, connection, project).pulled_new == 2
    for user in accounts:
        if how == "deleted":
            connection.client.users.delete(user)
        else:
            connection.client.organizations.members.delete(connection.organization or 0, user)
    known = len(judgments.annotators())
    assert pull(judgments, connection, project, whole=True) == ExchangeReport()
    assert names(judgments, keys[0]) == [(ana.name, "judge"), (bo.name, "judge")]
    assert len(judgments.annotators()) == known, "'Deleted User' is nobody"
    assert not find_drift(judgments, connection, project)
    # What was never received has an author whom nobody knows: it is reported, and not given to anyone.
    zoe = user_of(connection, people[2])
    said_there(connection, project, keys[1], zoe)
    if how == "deleted":
        connection.client.users.delete(zoe)
    else:
        connection.client.organizations.members.delete(connection.organization or 0, zoe)
    report = pull(judgments, connection, project, whole=True)
    assert "its author no longer exists" in report.problems[0]
    assert names(judgments, keys[1]) == []


def test_a_task_whose_author_is_gone_is_not_merged_away(
    judgments: Judgments, people: list[Annotator], keys: list[str], connection: Connection, project: Project
) -> None:
    task = task_of(connection, project, keys[0])
    user = user_of(connection, people[0])
    twin = {"data": dict(task.data), "annotations": [{"result": result_of(SUPPORTS), "completed_by": user}]}
    connection.client.projects.import_tasks(project.id, request=[twin])
    connection.client.users.delete(user)
    push(judgments, connection, project, keys)
    held = [a.judgment for t in all_tasks(connection, project.id) if t.key == keys[0] for a in t.annotations]
    assert held == [SUPPORTS]


def test_a_removed_account_of_someone_whose_words_wait_says_what_to_do(
    judgments: Judgments, people: list[Annotator], keys: list[str], connection: Connection, project: Project
) -> None:
    user = user_of(connection, people[0])
    connection.client.organizations.members.delete(connection.organization or 0, user)
    judgments.judge(people[0], keys[0], "supports", source="annotate")
    with pytest.raises(BadInputError, match=rf"account .* of {people[0].name} was removed.*/admin/"):
        sync(judgments, connection, project)


def test_a_new_address_moves_no_judgment_to_another_name(
    judgments: Judgments, people: list[Annotator], keys: list[str], connection: Connection, project: Project
) -> None:
    ana, mark = people[0], uuid4().hex[:6]
    link(judgments, ana.name, f"old-{mark}@example.org")
    said_there(connection, project, keys[0], new_user(connection, f"old-{mark}@example.org", "Ana"))
    pull(judgments, connection, project)
    link(judgments, ana.name, f"new-{mark}@example.org")
    assert pull(judgments, connection, project, whole=True) == ExchangeReport()
    assert names(judgments, keys[0]) == [(ana.name, "judge")]
    assert not find_drift(judgments, connection, project)


def test_two_accounts_of_one_name_are_two_people(
    judgments: Judgments, keys: list[str], connection: Connection, project: Project
) -> None:
    mark = uuid4().hex[:6]
    first = judgments.sign_in(f"Kim {mark}")
    addresses = [f"{name}-{mark}@example.org" for name in ("kim", "kim2")]
    accounts = [new_user(connection, one, f"  kim   {mark.upper()} ") for one in addresses]
    for user, word in zip(accounts, ("supports", "unsure"), strict=True):
        said_there(connection, project, keys[0], user, RecordedVerdict(word, ""))  # type: ignore[arg-type]
    assert pull(judgments, connection, project).pulled_new == 2
    given = {word.annotator.name: word.verdict for word in judgments.present([keys[0]])}
    assert len(given) == 2, "neither is the other"
    assert first.name not in given, "nobody can say which of them it is"
    assert all(any(address in name for name in given) for address in addresses)


def test_an_account_that_only_shares_a_persons_name_is_not_theirs(
    judgments: Judgments, people: list[Annotator], keys: list[str], connection: Connection, project: Project
) -> None:
    ana = people[0]
    user_of(connection, ana)  # by which she is known there
    stranger = new_user(connection, f"other-{uuid4().hex[:6]}@example.org", ana.name)
    said_there(connection, project, keys[0], stranger)
    pull(judgments, connection, project)
    assert [name for name, _ in names(judgments, keys[0])] != [ana.name]


def test_names_in_a_file_decide_only_where_one_account_has_them(judgments: Judgments) -> None:
    kim = judgments.sign_in("Kim")
    both = [("kim@a.org", "Kim"), ("kim@b.org", "KIM ")]
    assert Directory(judgments, both[:1]).known(*both[0]) == kim
    directory = Directory(judgments, both)
    assert [directory.known(*one) for one in both] == [None, None]


def test_a_draft_is_nobodys_word_and_a_skip_takes_back_only_the_skippers(
    judgments: Judgments, people: list[Annotator], keys: list[str], connection: Connection, project: Project
) -> None:
    ana, bo = people[:2]
    for person in (ana, bo):
        judgments.judge(person, keys[0], "supports", source="annotate")
    sync(judgments, connection, project)
    task = task_of(connection, project, keys[0])
    http = connection.client._client_wrapper.httpx_client.httpx_client
    draft = {"result": result_of(RecordedVerdict("unsure", "a draft")), "draft_id": 0}
    http.post(f"{connection.url}/api/tasks/{task.id}/drafts?project={project.id}", json=draft).raise_for_status()
    assert pull(judgments, connection, project, whole=True) == ExchangeReport()
    number = next(a.id for a in task.annotations if a.user == user_of(connection, ana))
    connection.client.annotations.update(id=number, was_cancelled=True)
    assert pull(judgments, connection, project) == ExchangeReport(pulled_withdrawn=1)
    assert [word.annotator.name for word in judgments.present([keys[0]])] == [bo.name]
    # Undone here: Bo's word leaves Label Studio, and Ana's skip stays.
    judgments.undo(bo)
    assert sync(judgments, connection, project) == ExchangeReport(annotations_deleted=1)
    assert {a.user for a in task_of(connection, project, keys[0]).annotations} == {user_of(connection, ana)}
