"""Judgments made from another's account in a person's project: kept under the name that is certain, and assigned by decision."""

import json
from uuid import uuid4

import pytest
from there import annotate, change, held_there, pair, user_of
from typer.testing import CliRunner

from berdseye.annotation.batches.progress import batch_progress
from berdseye.annotation.batches.stored import Batch, BatchPlan, Item, create_batch
from berdseye.annotation.judgments.log import Annotator, Judgments
from berdseye.annotation.label_studio.attribution import assign, misplaced
from berdseye.annotation.label_studio.connection import Connection
from berdseye.annotation.label_studio.drift import find_drift
from berdseye.annotation.label_studio.exchange import BatchExchange, pull_from_projects, push_to_projects
from berdseye.annotation.label_studio.exchange_state import ExchangeReport
from berdseye.annotation.label_studio.form import RecordedVerdict
from berdseye.annotation.label_studio.tasks import all_tasks
from berdseye.app.cli import cli
from berdseye.data.errors import BadInputError
from berdseye.data.workspace import Workspace

pytestmark = pytest.mark.label_studio
ADMIN = "admin@berdseye.local"


@pytest.fixture
def batch(judgments: Judgments, people: list[Annotator]) -> Batch:
    plan = BatchPlan(f"b-{uuid4().hex[:6]}", people=(people[0].name,))
    return create_batch(judgments, plan, [Item(pair(number)) for number in range(3)])


@pytest.fixture
def sent(judgments: Judgments, batch: Batch, connection: Connection) -> BatchExchange:
    (one,) = push_to_projects(judgments, connection, batch)
    return one


def judge_all(connection: Connection, sent: BatchExchange, user: int, verdict: str = "supports") -> None:
    for number, task in enumerate(sorted(all_tasks(connection, sent.project.id), key=lambda task: task.id)):
        annotate(connection, task, user, RecordedVerdict(verdict, f"word {number}"))  # type: ignore[arg-type]


def admin_of(connection: Connection) -> int:
    return int(connection.client.users.whoami().id)


def present(judgments: Judgments) -> dict[str, set[tuple[str, str]]]:
    found: dict[str, set[tuple[str, str]]] = {}
    for word in judgments.present():
        found.setdefault(word.annotator.name, set()).add((word.pair, word.comment))
    return found


def test_the_admins_judgments_in_a_persons_project_are_warned_of_and_assigned_by_decision(
    judgments: Judgments, people: list[Annotator], batch: Batch, sent: BatchExchange, connection: Connection
) -> None:
    ana = people[0]
    judge_all(connection, sent, admin_of(connection))
    (received,) = pull_from_projects(judgments, connection, [batch])
    assert received.report == ExchangeReport(pulled_new=3)
    (warning,) = received.report.warnings
    assert warning.startswith(
        f"3 judgments in the project of {ana.name} were made from the account of {ADMIN}, and are recorded"
    )
    assert f'assign {batch.name} --to "{ana.name}" --from "{ADMIN}"' in warning
    assert list(present(judgments)) == [ADMIN]
    assert batch_progress(judgments, batch, time=0).judgments == 0, "they are nobody's the batch asks for"
    (again,) = pull_from_projects(judgments, connection, [batch])
    assert again.report.warnings == (warning,), "it is said until somebody has decided"

    before = [event for task in all_tasks(connection, sent.project.id) for event in judgments.history(task.key)]
    done = assign(judgments, batch, ana, None, "Lea")
    assert (done.judgments, done.earlier, done.author) == (3, 0, ADMIN)
    after = [event for task in all_tasks(connection, sent.project.id) for event in judgments.history(task.key)]
    assert [event for event in after if event["id"] in {e["id"] for e in before}] == before, "nothing is overwritten"
    added = [event for event in after if event["id"] not in {e["id"] for e in before}]
    assert [(e["annotator"], e["kind"]) for e in added] == [(ADMIN, "withdraw"), (ana.name, "judge")] * 3
    assert {e["comment"] for e in added if e["kind"] == "withdraw"} == {f"Assigned to {ana.name} by Lea."}
    kept = ("at", "verdict", "comment", "seconds", "shown", "batch", "guidelines")
    assert [[e[name] for name in kept] for e in added if e["kind"] == "judge"] == [[e[n] for n in kept] for e in before]
    assert list(present(judgments)) == [ana.name]
    assert batch_progress(judgments, batch, time=0).judgments == 3
    assert misplaced(judgments) == []
    with pytest.raises(BadInputError, match="has no judgment"):
        assign(judgments, batch, ana, None, "Lea")

    # The next exchange makes the annotations hers there too, and then both sides are quiet.
    (exchanged,) = push_to_projects(judgments, connection, batch)
    assert exchanged.report == ExchangeReport(annotations_created=3, annotations_deleted=3)
    assert {a.user for t in all_tasks(connection, sent.project.id) for a in t.annotations} == {user_of(connection, ana)}
    assert not find_drift(judgments, connection, sent.project)
    assert push_to_projects(judgments, connection, batch)[0].report == ExchangeReport()
    assert list(present(judgments)) == [ana.name]


def test_the_later_verdict_of_a_person_counts(
    judgments: Judgments, people: list[Annotator], batch: Batch, sent: BatchExchange, connection: Connection
) -> None:
    judge_all(connection, sent, admin_of(connection))
    pull_from_projects(judgments, connection, [batch])
    judgments.judge(people[0], pair(1).key, "unsure", source="annotate", comment="mine")
    done = assign(judgments, batch, people[0], None, "Lea")
    assert (done.judgments, done.earlier) == (3, 1)
    words = {word.pair: word.comment for word in judgments.present()}
    assert words[pair(1).key] == "mine"
    assert len(words) == 3
    push_to_projects(judgments, connection, batch)
    assert {name for _, name in held_there(connection, sent.project).values()} == {*words.values()}


def test_several_accounts_are_distinguished_and_a_shared_project_needs_a_name(
    judgments: Judgments, people: list[Annotator], batch: Batch, sent: BatchExchange, connection: Connection
) -> None:
    ana, bo, zoe = people
    tasks = all_tasks(connection, sent.project.id)
    annotate(connection, tasks[0], user_of(connection, bo), RecordedVerdict("supports", ""))
    annotate(connection, tasks[1], admin_of(connection), RecordedVerdict("unsure", ""))
    annotate(connection, tasks[2], user_of(connection, ana), RecordedVerdict("unsure", "hers"))
    (received,) = pull_from_projects(judgments, connection, [batch])
    assert len(received.report.warnings) == 2
    with pytest.raises(BadInputError, match=rf"{bo.name} and {ADMIN}|{ADMIN} and {bo.name}"):
        assign(judgments, batch, ana, None, "Lea")
    assert assign(judgments, batch, ana, judgments.annotator(ADMIN), "Lea").judgments == 1
    assert {name: len(words) for name, words in present(judgments).items()} == {ana.name: 2, bo.name: 1}
    with pytest.raises(BadInputError, match="no project of their own"):
        assign(judgments, batch, zoe, None, "Lea")

    shared = create_batch(judgments, BatchPlan(f"b-{uuid4().hex[:6]}"), [Item(pair(7))])
    (for_anyone,) = push_to_projects(judgments, connection, shared)
    annotate(
        connection, all_tasks(connection, for_anyone.project.id)[0], admin_of(connection), RecordedVerdict("unsure", "")
    )
    assert pull_from_projects(judgments, connection, [shared])[0].report.warnings == (), "it was for anyone"
    assert assign(judgments, shared, zoe, judgments.annotator(ADMIN), "Lea").judgments == 1
    assert present(judgments)[zoe.name] == {(pair(7).key, "")}


def test_an_assignment_is_taken_back_by_the_opposite_one(
    judgments: Judgments, people: list[Annotator], batch: Batch, sent: BatchExchange, connection: Connection
) -> None:
    judge_all(connection, sent, admin_of(connection))
    pull_from_projects(judgments, connection, [batch])
    first = present(judgments)
    assign(judgments, batch, people[0], None, "Lea")
    push_to_projects(judgments, connection, batch)
    assign(judgments, batch, judgments.annotator(ADMIN), people[0], "Lea")
    assert present(judgments) == first


def test_a_person_called_admin_is_not_the_admins_account(
    judgments: Judgments, batch: Batch, sent: BatchExchange, connection: Connection
) -> None:
    judgments.sign_in("Admin")
    judge_all(connection, sent, admin_of(connection))
    pull_from_projects(judgments, connection, [batch])
    assert list(present(judgments)) == [ADMIN]


def test_a_judgment_that_another_account_changed_is_warned_of(
    judgments: Judgments, people: list[Annotator], batch: Batch, sent: BatchExchange, connection: Connection
) -> None:
    ana = people[0]
    task = all_tasks(connection, sent.project.id)[0]
    number = annotate(connection, task, user_of(connection, ana), RecordedVerdict("supports", ""))
    assert pull_from_projects(judgments, connection, [batch])[0].report.warnings == ()
    change(
        connection, number, RecordedVerdict("unsure", "changed")
    )  # by the admin's token, as the admin's browser would
    (received,) = pull_from_projects(judgments, connection, [batch])
    assert received.report == ExchangeReport(pulled_changed=1)
    (warning,) = received.report.warnings
    assert f"{ADMIN} changed the judgment of {ana.name} in Label Studio" in warning


def test_the_commands_warn_and_assign(
    judgments: Judgments,
    people: list[Annotator],
    batch: Batch,
    sent: BatchExchange,
    connection: Connection,
    workspace: Workspace,
) -> None:
    judge_all(connection, sent, admin_of(connection))
    judgments.sign_in("Lea")
    told = _run(workspace, "label-studio", "receive", batch.name)
    assert f"Warning: 3 judgments in the project of {people[0].name} were made from the account of {ADMIN}," in told
    done = json.loads(
        _run(workspace, "label-studio", "assign", batch.name, "--to", people[0].name, "--from", ADMIN, "--json")
    )
    assert done == {"judgments": 3, "earlier": 0, "person": people[0].name, "author": ADMIN}
    assert list(present(judgments)) == [people[0].name]
    assert {e["comment"] for e in judgments.history(pair(0).key) if e["kind"] == "withdraw"} == {
        f"Assigned to {people[0].name} by Lea."
    }


def _run(workspace: Workspace, *words: str) -> str:
    done = CliRunner().invoke(cli, ["--as", "Lea", *words, "--workspace", str(workspace.folder)])
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    return done.output
