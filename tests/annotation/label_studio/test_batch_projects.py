"""Batches in Label Studio: who gets which project, what it shows, and whose words come back as the batch's."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from sqlalchemy import select
from there import annotate, held_there, new_user, pair, user_of

from berdseye.annotation.batches.check_items import CheckItem, create_check_batch
from berdseye.annotation.batches.check_outcomes import check_outcomes
from berdseye.annotation.batches.dealing import ordered_pairs
from berdseye.annotation.batches.progress import batch_progress
from berdseye.annotation.batches.queue import BatchQueue
from berdseye.annotation.batches.stored import Batch, BatchPlan, Item, create_batch
from berdseye.annotation.checks import check_form
from berdseye.annotation.judgments.adjudication import disputes
from berdseye.annotation.judgments.log import Annotator, Judgments, PairRecord
from berdseye.annotation.judgments.recorded import JudgmentDetails
from berdseye.annotation.judgments.schema import batch_items
from berdseye.annotation.label_studio.batch_projects import write_batch_file
from berdseye.annotation.label_studio.connection import Connection
from berdseye.annotation.label_studio.exchange import pull_from_projects, push_to_projects, sync
from berdseye.annotation.label_studio.exchange_state import ExchangeReport, waiting, waiting_pairs
from berdseye.annotation.label_studio.form import RecordedVerdict, pair_of, result_of
from berdseye.annotation.label_studio.project import Project
from berdseye.annotation.label_studio.tasks import all_tasks
from berdseye.annotation.people import link
from berdseye.data.errors import BadInputError

pytestmark = pytest.mark.label_studio
MakeBatch = Callable[..., Batch]
GRADED = {"detector": "embedded", "version": "7", "grade": "stance"}


@pytest.fixture
def make_batch(judgments: Judgments) -> MakeBatch:
    def make(count: int = 4, **fields: Any) -> Batch:
        items = [Item(pair(i), 0.1 + 0.2 * i, i >= 2) for i in range(count)]
        return create_batch(judgments, BatchPlan(f"batch-{uuid4().hex[:8]}", **fields), items)

    return make


def progress_of(judgments: Judgments, batch: Batch) -> tuple[int, int]:
    found = batch_progress(judgments, batch, time=0)
    return found.judgments, found.wanted


def test_each_of_the_people_has_a_project_with_their_share_and_no_prediction(
    judgments: Judgments, people: list[Annotator], make_batch: MakeBatch, connection: Connection
) -> None:
    ana, bo, zoe = people
    address = f"zoe-{zoe.name[-6:]}@example.org"
    link(judgments, zoe.name, address)
    number = new_user(connection, address)  # she signed up there
    batch = make_batch(per_pair=2, people=[p.name for p in people], calibration=1)
    judgments.judge(ana, ordered_pairs(judgments, batch)[3], "unsure", source="annotate")

    sent = push_to_projects(judgments, connection, batch)

    assert [one.person for one in sent] == people
    assert sum(one.report.tasks_created for one in sent) == 3 + 3 * 2
    assert sum(one.report.predictions for one in sent) == 0, "it is blind"
    tasks = {one.person: all_tasks(connection, one.project.id) for one in sent}
    first = ordered_pairs(judgments, batch)[0]
    assert all(held[0].key == first for held in tasks.values()), "what all judge comes first"
    words = {person.id: [len(t.annotations) for t in held] for person, held in tasks.items() if person}
    assert sorted(words[ana.id]) == [0, 0, 1][-len(words[ana.id]) :]
    assert not any(words[bo.id] + words[zoe.id]), "nobody sees what another said"
    shown = connection.client.projects.get(id=sent[0].project.id)
    assert (shown.maximum_annotations, shown.show_collab_predictions) == (1, False)
    assert ana.name in shown.title
    assert "perspective" in shown.expert_instruction

    task = tasks[zoe][1]
    annotate(connection, task, number, RecordedVerdict("supports", "from there"))
    received = pull_from_projects(judgments, connection, [batch])
    assert sum((one.report for one in received), ExchangeReport()) == ExchangeReport(pulled_new=1)
    event = judgments.history(task.key)[-1]
    version = sent[0].project.guidelines
    assert (event["batch"], event["guidelines"], event["shown"]) == (batch.id, version, False)
    assert version
    assert event["annotator"] == zoe.name
    assert progress_of(judgments, batch) == (2, 3 + 3 * 2)

    again = push_to_projects(judgments, connection, batch)
    assert sum((one.report for one in again), ExchangeReport()) == ExchangeReport()
    assert [one.project for one in again] == [one.project for one in sent]
    judgments.judge(bo, task.key, "unsure", source="annotate")
    judgments.judge(ana, first, "unsure", source="annotate")
    assert waiting(judgments, sent[0].project.key) == 1
    push_to_projects(judgments, connection, batch)
    assert waiting(judgments) == 0, "nothing of it is for the workspace's own project"


def test_a_batch_for_anyone_is_one_project_with_predictions_where_it_is_not_blind(
    judgments: Judgments, people: list[Annotator], make_batch: MakeBatch, connection: Connection, project: Project
) -> None:
    batch = make_batch(per_pair=2, blind=False, order="uncertainty", recipe=GRADED)
    (sent,) = push_to_projects(judgments, connection, batch)
    assert sent.person is None
    assert (sent.report.tasks_created, sent.report.predictions) == (4, 4)
    shown = connection.client.projects.get(id=sent.project.id)
    assert (shown.maximum_annotations, shown.model_version) == (2, "embedded 7")
    assert "$detector" not in sent.project.config, "the predictions say it"
    tasks = all_tasks(connection, sent.project.id)
    assert "detector" not in tasks[0].data
    with judgments.reading() as connection_to_log:
        order = select(batch_items.c.pair).where(batch_items.c.batch_id == batch.id).order_by(batch_items.c.priority)
        drawn = list(connection_to_log.execute(order).scalars())
    assert [task.key for task in tasks] == drawn, "in the order in which the queue would draw them"
    assert sorted(drawn) == sorted(pair(i).key for i in range(4))
    judgments.judge(people[0], tasks[0].key, "supports", source="annotate")
    judgments.judge(people[1], tasks[0].key, "does not support", source="annotate")
    assert sync(judgments, connection, project).tasks_created == 0, "it has its place in the batch's project"
    assert waiting_pairs(judgments, project.key) == []
    push_to_projects(judgments, connection, batch)
    assert len(held_there(connection, sent.project)) == 2
    annotate(connection, tasks[1], user_of(connection, people[0]), RecordedVerdict("supports", ""))
    pull_from_projects(judgments, connection, [batch])
    assert judgments.history(tasks[1].key)[-1]["shown"] is True
    assert progress_of(judgments, batch) == (3, 8)
    assert len(disputes(judgments, batch)) == 1

    connection.client.projects.delete(id=sent.project.id)
    (gone,) = pull_from_projects(judgments, connection, [batch])
    assert "not on this server" in gone.report.problems[0]
    (again,) = push_to_projects(judgments, connection, batch)
    assert (again.report.tasks_created, again.report.annotations_created) == (4, 3)
    assert again.project.key != sent.project.key


@pytest.mark.parametrize("grade", [{}, {"grade": "topic"}], ids=["none", "topic"])
def test_a_detector_of_topics_preselects_nothing_and_its_label_is_a_text(
    judgments: Judgments, people: list[Annotator], make_batch: MakeBatch, connection: Connection, grade: dict[str, str]
) -> None:
    batch = make_batch(blind=False, recipe={"detector": "embedded", "version": "7", "threshold": 0.5, **grade})
    (sent,) = push_to_projects(judgments, connection, batch)
    assert (sent.report.tasks_created, sent.report.predictions) == (4, 4)
    assert connection.client.projects.get(id=sent.project.id).model_version == "embedded 7 (topic)"
    tasks = {task.key: task for task in all_tasks(connection, sent.project.id)}
    shown = [tasks[pair(i).key] for i in range(4)]
    assert [task.data["detector"] for task in shown] == [
        "embedded: off topic, P(supports) = 0.10", "embedded: off topic, P(supports) = 0.30",
        "embedded: on topic, P(supports) = 0.50", "embedded: on topic, P(supports) = 0.70",
    ]  # fmt: skip
    [prediction] = connection.client.tasks.get(id=str(shown[3].id)).predictions or []
    assert (prediction.score, prediction.result) == (pytest.approx(0.7), [])
    annotate(connection, shown[0], user_of(connection, people[0]), RecordedVerdict("unsure", ""))
    assert pull_from_projects(judgments, connection, [batch])[0].report == ExchangeReport(pulled_new=1)
    assert judgments.history(shown[0].key)[-1]["shown"] is True, "the text was there"
    assert push_to_projects(judgments, connection, batch)[0].report == ExchangeReport()

    connection.client.tasks.delete(id=str(shown[1].id))
    judgments.judge(people[1], shown[1].key, "supports", source="annotate")
    sync(judgments, connection, sent.project)
    again = next(task for task in all_tasks(connection, sent.project.id) if task.key == shown[1].key)
    assert again.data["detector"] == "(no label)", "an exchange without labels"
    push_to_projects(judgments, connection, batch)
    again = next(task for task in all_tasks(connection, sent.project.id) if task.key == shown[1].key)
    assert (len(again.annotations), again.predicted) == (1, True)


@pytest.mark.parametrize(
    ("grade", "text", "prediction"),
    [
        ("stance", None, (0.9, ["does not support"])),
        ("topic", "embedded: off topic, P(supports) = 0.10", (0.1, [])),
    ],
)
def test_the_file_of_a_batch_has_the_same_predictions(
    make_batch: MakeBatch,
    judgments: Judgments,
    tmp_path: Path,
    grade: str,
    text: str,
    prediction: tuple[float, list[str]],
) -> None:
    batch = make_batch(1, blind=False, recipe=GRADED | {"grade": grade})
    form = write_batch_file(judgments, batch, tmp_path / "far.json").read_text()
    (task,) = json.loads((tmp_path / "far.json").read_text())
    assert ("$detector" in form, task["data"].get("detector")) == (text is not None, text)
    (found,) = task["predictions"]
    choices = [choice for region in found["result"] for choice in region["value"]["choices"]]
    assert (found["score"], choices) == (pytest.approx(prediction[0]), prediction[1])


def test_a_decision_is_agreed_with_or_not(judgments: Judgments, make_batch: MakeBatch, connection: Connection) -> None:
    batch = make_batch(task="verify", blind=False)
    (sent,) = push_to_projects(judgments, connection, batch)
    assert sent.report.predictions == 0, "the decision stands in the task"
    tasks = all_tasks(connection, sent.project.id)
    assert [task.data["decision"] for task in tasks] == ["does not support"] * 2 + ["supports"] * 2
    user = None
    for task, choice in zip(tasks, ("agree", "disagree", "disagree", "unsure"), strict=True):
        result = result_of(RecordedVerdict("unsure", ""))
        result[0]["value"]["choices"] = [choice]
        user = user or connection.client.users.create(username="v", email=f"v-{uuid4().hex[:6]}@example.org").id
        connection.client.annotations.create(id=task.id, result=result, completed_by=user)
    pull_from_projects(judgments, connection, [batch])
    assert [j.verdict for j in judgments.present()] == ["does not support", "supports", "does not support", "unsure"]
    person = judgments.present()[0].annotator
    judgments.judge(person, tasks[0].key, "supports", source="annotate")
    push_to_projects(judgments, connection, batch)
    written = connection.client.tasks.get(id=str(tasks[0].id)).annotations[0]["result"]
    assert written[0]["value"]["choices"] == ["disagree"]


def test_of_two_answers_one_is_preferred(judgments: Judgments, people: list[Annotator], connection: Connection) -> None:
    answers = [PairRecord("d", f"q{i}", "Which?", f"Second {i}.", None, "answers", "", f"First {i}.") for i in range(2)]
    plan = BatchPlan(f"batch-{uuid4().hex[:8]}", task="prefer", people=(people[0].name,))
    batch = create_batch(judgments, plan, [Item(one) for one in answers])
    (sent,) = push_to_projects(judgments, connection, batch)
    task = all_tasks(connection, sent.project.id)[0]
    assert pair_of(task.data) == answers[0]
    annotate(connection, task, user_of(connection, people[0]), RecordedVerdict("second", "clearer"))
    (received,) = pull_from_projects(judgments, connection, [batch])
    assert received.report == ExchangeReport(pulled_new=1)
    assert [(e["kind"], e["verdict"]) for e in judgments.history(task.key)] == [("prefer", "second")]
    assert progress_of(judgments, batch) == (1, 2)
    assert push_to_projects(judgments, connection, batch)[0].report == ExchangeReport()


def test_checks_are_pushed_by_their_form_and_pulled_as_checks(
    judgments: Judgments, people: list[Annotator], connection: Connection
) -> None:
    ana, bo, _ = people
    items = [CheckItem(f"v{i}", f"Document {i}.", f"View {i}.", "" if i else "Why?") for i in range(2)]
    batch = create_check_batch(
        judgments,
        f"batch-{uuid4().hex[:8]}",
        "addresses",
        items,
        dataset="made",
        per_pair=2,
        people=(ana.name, bo.name),
    )
    key = items[0].key(check_form("addresses"))
    queue = BatchQueue(judgments, batch)
    assert queue.next(ana) == key
    queue.give(ana, key, "harmful", JudgmentDetails("an insult"))
    sent = {one.person: one for one in push_to_projects(judgments, connection, batch)}
    assert [(p.report.tasks_created, p.report.annotations_created) for p in sent.values()] == [(2, 1), (2, 0)]
    [anas, _] = all_tasks(connection, sent[ana].project.id)
    assert [a.judgment for a in anas.annotations] == [RecordedVerdict("harmful", "an insult")]
    config = sent[bo].project.config
    assert [f'value="{choice}"' in config for choice in ("yes", "no", "harmful", "unsure")] == [True, True, True, False]

    tasks = all_tasks(connection, sent[bo].project.id)
    assert [pair_of(task.data) for task in tasks] == [item.record(check_form("addresses"), "made") for item in items]
    for task, verdict in zip(tasks, ("no", "yes"), strict=True):
        annotate(connection, task, user_of(connection, bo), RecordedVerdict(verdict, ""))
    assert (
        sum((one.report for one in pull_from_projects(judgments, connection, [batch])), ExchangeReport()).pulled_new
        == 2
    )
    assert [(e["kind"], e["verdict"]) for e in judgments.history(key)] == [("check", "harmful"), ("check", "no")]
    assert judgments.present() == [], "a check is no label"
    assert [outcome.accepted for outcome in check_outcomes(judgments, batch).values()] == [False, None]
    assert all(one.report == ExchangeReport() for one in push_to_projects(judgments, connection, batch))
    assert waiting(judgments) == 0


def test_what_label_studio_cannot_do_right_is_refused(
    judgments: Judgments, people: list[Annotator], make_batch: MakeBatch, connection: Connection
) -> None:
    names = [p.name for p in people]
    for batch, together, said in (
        (make_batch(shown_share=0.5, blind=False), False, "experiment"),
        (make_batch(people=names, calibration=1), True, "calibration pairs"),
    ):
        with pytest.raises(BadInputError, match=said):
            push_to_projects(judgments, connection, batch, together=together)


def test_a_deleted_annotation_is_a_withdrawal_and_a_deleted_task_on_demand(
    judgments: Judgments, people: list[Annotator], make_batch: MakeBatch, connection: Connection
) -> None:
    batch = make_batch(people=(people[0].name,))
    for one in range(3):
        judgments.judge(people[0], pair(one).key, "supports", source="annotate")
    (sent,) = push_to_projects(judgments, connection, batch)
    tasks = all_tasks(connection, sent.project.id)
    connection.client.annotations.delete(id=tasks[0].annotations[0].id)
    connection.client.tasks.delete(id=str(tasks[1].id))
    assert pull_from_projects(judgments, connection, [batch])[0].report == ExchangeReport(pulled_withdrawn=1)
    (whole,) = pull_from_projects(judgments, connection, [batch], whole=True)
    assert whole.report == ExchangeReport(tasks_gone=1)
    assert progress_of(judgments, batch) == (2, 4)
    with pytest.raises(BadInputError, match="cannot be pushed as one project too"):
        push_to_projects(judgments, connection, batch, together=True)
    (taken,) = pull_from_projects(judgments, connection, [batch], withdraw_gone=True)
    assert taken.report == ExchangeReport(tasks_gone=1, pulled_withdrawn=1)
    assert progress_of(judgments, batch) == (1, 4)
    assert pull_from_projects(judgments, connection, [batch], whole=True)[0].report == ExchangeReport()
