"""Judgments here and annotations there come into agreement, whoever changed what."""

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from uuid import uuid4

import httpx
import pytest
from there import annotate, change, held_here, held_there, task_of, user_of

from berdseye.annotation.judgments.log import Annotator, Judgments
from berdseye.annotation.label_studio.connection import Connection
from berdseye.annotation.label_studio.drift import find_drift
from berdseye.annotation.label_studio.exchange import sync
from berdseye.annotation.label_studio.exchange_state import ExchangeReport, waiting, waiting_pairs
from berdseye.annotation.label_studio.form import RecordedVerdict, result_of, validated
from berdseye.annotation.label_studio.project import Project, create_project, find_or_create, project_by_id
from berdseye.annotation.label_studio.pull import pull
from berdseye.annotation.label_studio.push import push
from berdseye.annotation.label_studio.server import Server
from berdseye.annotation.label_studio.tasks import all_tasks
from berdseye.data.records import DetectorVersion
from berdseye.data.workspace import Workspace

pytestmark = pytest.mark.label_studio
MakePairs = Callable[[int], list[str]]
NOTHING = ExchangeReport()
SUPPORTS, UNSURE = RecordedVerdict("supports", ""), RecordedVerdict("unsure", "on reflection")


@pytest.fixture
def keys(
    judgments: Judgments, people: list[Annotator], make_pairs: MakePairs, connection: Connection, project: Project
) -> list[str]:
    """Three pairs, delivered; Ana judged all of them, Bo the first."""
    keys = make_pairs(3)
    for key in keys:
        judgments.judge(people[0], key, "supports", source="annotate")
    judgments.judge(people[1], keys[0], "unsure", source="annotate", comment="two\nlines <b>&")
    push(judgments, connection, project, keys)
    return keys


def test_a_first_push_brings_all_and_a_second_nothing(
    judgments: Judgments, people: list[Annotator], make_pairs: MakePairs, connection: Connection, project: Project
) -> None:
    keys = make_pairs(7)
    for person in people:
        for key in keys[:4]:
            judgments.judge(person, key, "does not support", source="annotate", comment=person.name)
    labels, detector = dict.fromkeys(keys, (0.25, False)), DetectorVersion("nli(X,k=1)", grade="stance")
    seen: list[tuple[int, int]] = []
    assert waiting(judgments) == 12

    report = push(judgments, connection, project, keys, labels, detector, progress=lambda *p: seen.append(p))

    assert (report.tasks_created, report.predictions, report.annotations_created) == (7, 7, 12)
    assert seen[-1] == (7, 7)
    assert held_there(connection, project) == held_here(judgments)
    assert waiting(judgments) == waiting(judgments, project.key) == 0
    assert push(judgments, connection, project, keys, labels, detector) == NOTHING
    assert pull(judgments, connection, project) == NOTHING
    stored = connection.client.tasks.get(id=str(task_of(connection, project, keys[0]).id))
    assert [(p.score, p.model_version) for p in stored.predictions] == [(0.75, "nli(X;k=1)")]
    assert not any(a["ground_truth"] for a in stored.annotations)


def test_another_detector_adds_its_predictions_and_is_the_one_shown(
    judgments: Judgments, people: list[Annotator], make_pairs: MakePairs, connection: Connection, project: Project
) -> None:
    keys = make_pairs(3)
    first, second = DetectorVersion("first"), DetectorVersion("second", grade="stance")
    push(judgments, connection, project, keys, dict.fromkeys(keys, (0.9, True)), first)
    annotate(connection, task_of(connection, project, keys[0]), user_of(connection, people[0]), UNSURE)
    pull(judgments, connection, project)
    again = push(judgments, connection, project, keys, dict.fromkeys(keys, (0.8, True)), second)
    assert again == ExchangeReport(predictions=3)
    assert project_by_id(connection, project.id).model_version == "second"
    shown = {task.key: task.data["detector"] for task in all_tasks(connection, project.id)}
    texts = [
        "first: on topic, P(supports) = 0.90",
        "second: supports, P(supports) = 0.80",
        "second: supports, P(supports) = 0.80",
    ]
    assert [shown[key] for key in keys] == texts, "a judged task keeps the text that its annotator saw"
    assert push(judgments, connection, project, keys, dict.fromkeys(keys, (0.8, True)), second) == NOTHING
    assert pull(judgments, connection, project) == NOTHING


def test_predictions_of_topics_replace_those_of_sides_that_an_earlier_version_pushed(
    judgments: Judgments, people: list[Annotator], make_pairs: MakePairs, connection: Connection, server: Server
) -> None:
    old = create_project(connection, title=f"Old {uuid4().hex[:12]}", label_config=validated("judge"))
    keys, labels = (found := make_pairs(3)), {key: (0.3 + 0.2 * n, n > 0) for n, key in enumerate(found)}
    # An earlier version pushed a verdict under the bare name of any detector, as this one does for the grade `stance`.
    push(judgments, connection, old, keys, labels, DetectorVersion("embedded", "7", grade="stance"))
    judged = task_of(connection, old, keys[0])
    annotate(connection, judged, user_of(connection, people[0]), RecordedVerdict("supports", "as preselected"))
    assert pull(judgments, connection, old) == ExchangeReport(pulled_new=1)
    before = held_there(connection, old)
    assert not find_drift(judgments, connection, old)

    topic = DetectorVersion("embedded", "7")
    assert sync(judgments, connection, old, keys, labels, topic) == ExchangeReport(predictions=3)

    assert held_there(connection, old) == before == held_here(judgments)
    assert len(judgments.history(keys[0])) == 1
    assert not find_drift(judgments, connection, old)
    assert sync(judgments, connection, old, keys, labels, topic) == NOTHING
    answer = connection.client.tasks.list(
        project=old.id, query=json.dumps({"ordering": ["-tasks:predictions_score"]}), resolve_uri=False
    )
    by_score = [(task.data["ext_id"], task.predictions_score) for task in answer.items or ()]
    assert by_score == [(keys[2], pytest.approx(0.7)), (keys[1], pytest.approx(0.5)), (keys[0], pytest.approx(0.3))]
    # What the labeling page of the next annotator loads.
    signed = {"Authorization": f"Token {server.token}"}
    task = httpx.get(f"{server.url}/api/projects/{old.id}/next", headers=signed, timeout=60, trust_env=False).json()
    assert [(one["model_version"], one["result"]) for one in task["predictions"]] == [("embedded 7 (topic)", [])]


def test_changes_and_withdrawals_here_arrive_there(
    judgments: Judgments, people: list[Annotator], keys: list[str], connection: Connection, project: Project
) -> None:
    ana, bo, zoe = people
    judgments.judge(ana, keys[0], "unsure", source="annotate", comment="hm")
    judgments.withdraw(bo, keys[0], source="annotate")
    judgments.judge(zoe, keys[2], "supports", source="annotate")
    assert waiting(judgments) == 3
    assert set(waiting_pairs(judgments, project.key)) == {keys[0], keys[2]}

    report = sync(judgments, connection, project)

    assert report == ExchangeReport(annotations_created=1, annotations_updated=1, annotations_deleted=1)
    assert held_there(connection, project) == held_here(judgments)
    assert waiting(judgments) == 0
    assert sync(judgments, connection, project) == NOTHING


def test_an_undone_withdrawal_is_sent_again(
    judgments: Judgments, people: list[Annotator], keys: list[str], connection: Connection, project: Project
) -> None:
    judgments.withdraw(people[0], keys[0], source="annotate")
    sync(judgments, connection, project)
    assert judgments.undo(people[0]) == keys[0]
    assert sync(judgments, connection, project) == ExchangeReport(annotations_created=1)
    assert held_there(connection, project) == held_here(judgments)


def test_what_people_do_there_arrives_here_once(
    judgments: Judgments, people: list[Annotator], keys: list[str], connection: Connection, project: Project
) -> None:
    ana, bo, _ = people
    first, second, third = (task_of(connection, project, key) for key in keys)
    change(connection, next(a.id for a in first.annotations if a.user == user_of(connection, ana)), UNSURE)
    annotate(connection, second, user_of(connection, bo), SUPPORTS)
    connection.client.annotations.delete(id=third.annotations[0].id)

    report = pull(judgments, connection, project)

    assert report == ExchangeReport(pulled_new=1, pulled_changed=1, pulled_withdrawn=1)
    assert held_here(judgments) == held_there(connection, project)
    version = judgments.version()
    assert sync(judgments, connection, project) == NOTHING
    assert judgments.version() == version
    assert [e["source"] for e in judgments.history(keys[2])] == ["annotate", "label-studio"]


def test_someone_who_annotates_only_there_becomes_an_annotator(
    judgments: Judgments, keys: list[str], connection: Connection, project: Project
) -> None:
    name = f"ada-{project.id}"
    made = connection.client.users.create(username=name, email=f"{name}@example.org")
    annotate(connection, task_of(connection, project, keys[1]), made.id, UNSURE)
    assert pull(judgments, connection, project).pulled_new == 1
    person = judgments.annotator(name)
    assert (keys[1], "unsure") in {(j.pair, j.verdict) for j in judgments.present() if j.annotator == person}
    # What this person says here goes to that same user.
    judgments.judge(person, keys[1], "supports", source="annotate")
    judgments.judge(person, keys[2], "supports", source="annotate")
    assert sync(judgments, connection, project) == ExchangeReport(annotations_created=1, annotations_updated=1)
    task = task_of(connection, project, keys[1])
    assert [a.judgment for a in task.annotations if a.user == made.id] == [SUPPORTS]


def test_a_skip_there_is_no_verdict(
    judgments: Judgments, people: list[Annotator], keys: list[str], connection: Connection, project: Project
) -> None:
    task = task_of(connection, project, keys[1])
    user = user_of(connection, people[1])
    connection.client.annotations.create(id=task.id, result=[], completed_by=user, was_cancelled=True)
    assert pull(judgments, connection, project) == NOTHING
    judgments.judge(people[1], keys[1], "supports", source="annotate")
    assert sync(judgments, connection, project) == ExchangeReport(annotations_updated=1)
    assert held_there(connection, project) == held_here(judgments)


@pytest.mark.parametrize(("ours_later", "stands"), [(True, "does not support"), (False, "unsure")])
def test_when_both_changed_both_are_kept_and_the_later_stands(
    judgments: Judgments, people: list[Annotator], keys: list[str], connection: Connection, project: Project,
    ours_later: bool, stands: str,
) -> None:  # fmt: skip
    change(connection, task_of(connection, project, keys[1]).annotations[0].id, UNSURE)
    shift = timedelta(minutes=10 if ours_later else -10)
    at = (datetime.now(UTC) + shift).isoformat(timespec="microseconds")
    judgments.judge(people[0], keys[1], "does not support", source="annotate", at=at)

    report = sync(judgments, connection, project)

    assert (report.conflicts, report.annotations_updated) == (1, 1 if ours_later else 0)
    assert [j.verdict for j in judgments.present([keys[1]])] == [stands]
    assert held_there(connection, project) == held_here(judgments)
    verdicts = [e["verdict"] for e in judgments.history(keys[1])]
    assert {"supports", "does not support", "unsure"} == set(verdicts)
    assert sync(judgments, connection, project) == NOTHING


def test_push_alone_leaves_what_both_changed(
    judgments: Judgments, people: list[Annotator], keys: list[str], connection: Connection, project: Project
) -> None:
    change(connection, task_of(connection, project, keys[1]).annotations[0].id, UNSURE)
    judgments.judge(people[0], keys[1], "does not support", source="annotate")
    report = push(judgments, connection, project, keys)
    assert report.annotations_updated == 0
    assert report.problems
    assert task_of(connection, project, keys[1]).annotations[0].judgment == UNSURE


def test_both_changing_to_the_same_is_no_conflict(
    judgments: Judgments, people: list[Annotator], keys: list[str], connection: Connection, project: Project
) -> None:
    change(connection, task_of(connection, project, keys[1]).annotations[0].id, UNSURE)
    judgments.judge(people[0], keys[1], "unsure", source="annotate", comment="on reflection")
    version = judgments.version()
    assert sync(judgments, connection, project) == NOTHING
    assert judgments.version() == version
    assert waiting(judgments) == 0


def test_deleted_there_and_changed_here_keeps_ours(
    judgments: Judgments, people: list[Annotator], keys: list[str], connection: Connection, project: Project
) -> None:
    connection.client.annotations.delete(id=task_of(connection, project, keys[1]).annotations[0].id)
    judgments.judge(people[0], keys[1], "unsure", source="annotate")
    report = sync(judgments, connection, project)
    assert (report.conflicts, report.annotations_created) == (1, 1)
    assert held_there(connection, project) == held_here(judgments)


def test_an_id_used_again_does_not_hide_a_second_deletion(
    judgments: Judgments, people: list[Annotator], keys: list[str], connection: Connection, project: Project
) -> None:
    user = user_of(connection, people[0])
    for _ in range(2):
        task = task_of(connection, project, keys[2])
        connection.client.annotations.delete(id=task.annotations[0].id)
        assert pull(judgments, connection, project) == ExchangeReport(pulled_withdrawn=1)
        annotate(connection, task, user, SUPPORTS)
        assert pull(judgments, connection, project) == ExchangeReport(pulled_new=1)
    assert held_here(judgments) == held_there(connection, project)


def test_a_skip_here_withdraws_there(
    judgments: Judgments, people: list[Annotator], keys: list[str], connection: Connection, project: Project
) -> None:
    judgments.skip(people[0], keys[1], source="annotate")
    assert sync(judgments, connection, project) == ExchangeReport(annotations_deleted=1)
    assert held_there(connection, project) == held_here(judgments)


def test_a_task_deleted_there_comes_back_with_its_annotations(
    judgments: Judgments, keys: list[str], connection: Connection, project: Project
) -> None:
    before = held_here(judgments)
    connection.client.tasks.delete(id=str(task_of(connection, project, keys[0]).id))
    assert pull(judgments, connection, project) == ExchangeReport(tasks_gone=1)
    assert pull(judgments, connection, project) == NOTHING, "only a whole reading tells"
    assert held_here(judgments) == before
    assert push(judgments, connection, project, keys) == ExchangeReport(tasks_created=1, annotations_created=2)
    assert held_there(connection, project) == before


def test_a_task_deleted_there_and_a_judgment_withdrawn_here_settle(
    judgments: Judgments, people: list[Annotator], keys: list[str], connection: Connection, project: Project
) -> None:
    connection.client.tasks.delete(id=str(task_of(connection, project, keys[0]).id))
    judgments.withdraw(people[1], keys[0], source="annotate")
    assert push(judgments, connection, project, keys) == ExchangeReport(tasks_created=1, annotations_created=1)
    assert waiting(judgments) == 0
    assert held_there(connection, project) == held_here(judgments)


def test_duplicate_tasks_become_one_and_nothing_is_lost(
    judgments: Judgments, people: list[Annotator], keys: list[str], connection: Connection, project: Project
) -> None:
    original = task_of(connection, project, keys[1])
    said = {"result": result_of(UNSURE), "completed_by": user_of(connection, people[1])}
    connection.client.projects.import_tasks(
        project.id, request=[{"data": dict(original.data), "annotations": [said]}, {"data": dict(original.data)}]
    )
    assert sync(judgments, connection, project, keys) == ExchangeReport(pulled_new=1)
    assert len(all_tasks(connection, project.id)) == 3
    assert held_there(connection, project) == held_here(judgments)
    assert ("unsure", "on reflection") in held_here(judgments).values()


def test_another_workspace_on_the_same_project_learns_its_pairs(
    judgments: Judgments, keys: list[str], connection: Connection, project: Project, workspace: Workspace
) -> None:
    other = Judgments.open(f"sqlite:///{workspace.folder / 'other.db'}")
    assert pull(other, connection, project).pulled_new == 4
    assert len(other.present()) == 4
    assert {j.annotator.name for j in other.present()} == {j.annotator.name for j in judgments.present()}
    assert sync(other, connection, project, keys) == NOTHING
    other.engine.dispose()


def test_tasks_of_others_in_the_project_are_left_alone(
    judgments: Judgments, keys: list[str], connection: Connection, project: Project
) -> None:
    foreign = {"ext_id": "theirs", "question": "q", "perspective": "p", "title": "t", "passage": "x"}
    connection.client.projects.import_tasks(
        project.id, request=[{"data": foreign, "annotations": [{"result": result_of(SUPPORTS)}]}]
    )
    report = sync(judgments, connection, project, keys)
    assert [problem for problem in report.problems if "ext_id" in problem]
    assert report == ExchangeReport(problems=report.problems)


def test_the_project_is_found_by_its_title(connection: Connection, project: Project) -> None:
    assert find_or_create(connection, project.title) == project
