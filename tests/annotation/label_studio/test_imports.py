"""Judgments out of Label Studio's JSON and out of projects of others, each once; a batch by file to a server and back."""

import json
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from there import annotate, pair, user_of

from berdseye.annotation.batches.progress import batch_progress
from berdseye.annotation.batches.stored import BatchPlan, Item, create_batch
from berdseye.annotation.judgments.log import Annotator, Judgments
from berdseye.annotation.label_studio.batch_projects import write_batch_file
from berdseye.annotation.label_studio.connection import Connection
from berdseye.annotation.label_studio.form import RecordedVerdict, result_of, task_data
from berdseye.annotation.label_studio.imports import Rule, import_file, import_project
from berdseye.annotation.label_studio.people import People
from berdseye.annotation.label_studio.project import Project
from berdseye.annotation.label_studio.push import push
from berdseye.annotation.label_studio.tasks import all_tasks
from berdseye.annotation.people import link
from berdseye.data.errors import BadInputError, UnknownNameError

FORM = """<View><Text name="t" value="$text"/><Text name="c" value="$claim"/>
<Choices name="stance" toName="t"><Choice value="Yes"/><Choice value="No"/><Choice value="hm"/></Choices>
<TextArea name="why" toName="t"/></View>"""


def region(name: str, **value: Any) -> dict[str, Any]:
    kind = "choices" if "choices" in value else "textarea"
    return {"id": name, "from_name": name, "to_name": "t", "type": kind, "value": value}


def annotation(
    choice: str, number: int = 1, by: Any = None, at: str = "2026-01-02T00:00:00.000000Z", **more: Any
) -> dict[str, Any]:
    by = by or {"id": 5, "email": "Eve@Example.org", "first_name": "Eve", "last_name": "Lin"}
    said = {"id": number, "unique_id": str(number), "completed_by": by, "updated_at": at, "was_cancelled": False}
    return {**said, "result": [region("stance", choices=[choice]), region("why", text=["because"])], **more}


def task(number: int, *annotations: dict[str, Any], **data: Any) -> dict[str, Any]:
    return {"id": number, "data": {"text": f"Passage {number}.", "claim": "Cats.", **data}, "annotations": annotations}


def write(path: Path, tasks: Any) -> Path:
    path.write_text(json.dumps(tasks))
    return path


def words(judgments: Judgments) -> set[tuple[str, str, str]]:
    return {(j.annotator.name, j.verdict, j.comment) for j in judgments.present()}


def test_an_export_of_others_is_read_once_by_guess_and_option(judgments: Judgments, tmp_path: Path) -> None:
    link(judgments, judgments.sign_in("Eva").name, "eve@example.org")
    tasks = [
        task(1, annotation("Yes", 1), annotation("No", 2, {"id": 6, "email": "al@example.org"})),
        task(2, annotation("hm", 3), annotation("No", 4, was_cancelled=True)),
        task(3, annotation("Yes", 5, at="2026-01-01T00:00:00Z"), annotation("No", 6)),
        task(4, annotation("Yes", 7, by=9), annotation("Yes", 8, result=[])),
        {"id": 5, "data": {"text": "No claim."}, "annotations": [annotation("Yes", 9)]},
    ]
    path = write(tmp_path / "export.json", tasks)
    with pytest.raises(BadInputError, match=r"'hm'.*--choice"):
        import_file(judgments, path)
    rule = Rule(verdicts={"hm": "unsure"})
    done = import_file(judgments, path, rule)
    assert (done.tasks, done.new, done.known, done.skipped) == (5, 4, 0, 2)
    expected = {("Eva", "supports"), ("Eva", "unsure"), ("Eva", "does not support"), ("al", "does not support")}
    assert words(judgments) == {(*one, "because") for one in expected}
    told = " ".join(done.problems)
    assert len(done.problems) == 3
    for part in (
        "Task 4, annotation 7: the export gives only the id",
        "annotation 8: it has 0",
        "Task 5: it has no perspective",
    ):
        assert part in told
    version = judgments.version()
    again = import_file(judgments, path, rule)
    assert (again.new, again.known, judgments.version()) == (0, 4, version)
    assert import_file(judgments, path, rule, {9: "ida@example.org"}).new == 1
    assert {e["source"] for e in judgments.history(judgments.present()[0].pair)} == {"import"}

    # Eva changed her mind here, and one annotation was changed there meanwhile.
    eva, key = judgments.annotator("Eva"), judgments.present()[0].pair
    judgments.judge(eva, key, "unsure", source="annotate")
    tasks[0]["annotations"][1]["result"][0]["value"]["choices"] = ["Yes"]
    tasks[0]["annotations"][1]["updated_at"] = "2026-01-03T00:00:00Z"
    changed = import_file(judgments, write(path, tasks), rule)
    assert (changed.new, changed.conflicts) == (1, 0)
    assert {j.annotator.name: j.verdict for j in judgments.present([key])} == {"Eva": "unsure", "al": "supports"}


def test_two_authors_of_one_name_in_a_file_are_two_people(judgments: Judgments, tmp_path: Path) -> None:
    judgments.sign_in("Kim")
    kims = [{"id": n, "email": f"kim@{host}.org", "first_name": "Kim"} for n, host in enumerate("ab", start=1)]
    tasks = [task(1, annotation("Yes", 1, kims[0]), annotation("No", 2, kims[1]))]
    assert import_file(judgments, write(tmp_path / "export.json", tasks)).new == 2
    assert {name for name, *_ in words(judgments)} == {"Kim (kim@a.org)", "Kim (kim@b.org)"}


def test_a_word_given_here_later_stays_the_present_one(judgments: Judgments, tmp_path: Path) -> None:
    eva = judgments.sign_in("Eve Lin")
    path = write(tmp_path / "export.json", [{"data": task_data(pair(0)), "annotations": []}])
    import_file(judgments, path)
    judgments.judge(eva, pair(0).key, "unsure", source="annotate")
    said = annotation("", result=result_of(RecordedVerdict("supports", "")))
    done = import_file(judgments, write(path, [{"data": task_data(pair(0)), "annotations": [said]}]))
    assert done.conflicts == 1
    assert [j.verdict for j in judgments.present()] == ["unsure"]
    assert [e["verdict"] for e in judgments.history(pair(0).key)] == ["unsure", "supports", "unsure"]


@pytest.mark.parametrize(
    ("tasks", "rule", "error", "said"),
    [
        ([{"id": 1, "stance": "Yes"}], Rule(), BadInputError, "JSON-MIN"),
        ({"a": 1}, Rule(), BadInputError, "not a JSON export"),
        ([{"data": {"x": "?"}, "annotations": []}], Rule(), BadInputError, "--field passage=KEY"),
        ([task(1, annotation("Yes"))], Rule(fields={"passge": "text"}), UnknownNameError, "passage"),
        ([task(1, annotation("Yes"))], Rule(verdicts={"Yes": "backs"}), UnknownNameError, "supports"),  # type: ignore[dict-item]
        ([task(1, annotation("Yes"))], Rule(control="stanc"), UnknownNameError, "stance"),
    ],
)
def test_what_cannot_be_read_is_reported(
    judgments: Judgments, tmp_path: Path, tasks: Any, rule: Rule, error: type[Exception], said: str
) -> None:
    with pytest.raises(error, match=said):
        import_file(judgments, write(tmp_path / "export.json", tasks), rule)


@pytest.mark.label_studio
def test_a_project_of_others_is_read_and_left_as_it_is(
    judgments: Judgments, connection: Connection, project: Project
) -> None:
    made = connection.client.projects.create(title=f"theirs {uuid4().hex[:6]}", label_config=FORM)
    email = f"eve-{uuid4().hex[:6]}@example.org"
    user = connection.client.users.create(username=email[:10], email=email).id
    said = [region("stance", choices=["Yes"]), region("why", text=["so"])]
    tasks = [{"data": task(n)["data"], "annotations": [{"result": said, "completed_by": user}]} for n in range(3)]
    connection.client.projects.import_tasks(made.id, request=tasks)
    done = import_project(judgments, connection, made.id)
    assert (done.tasks, done.new, done.problems) == (3, 3, ())
    assert words(judgments) == {(email.partition("@")[0], "supports", "so")}
    again = import_project(judgments, connection, made.id)
    assert (again.new, again.known) == (0, 3)
    push(judgments, connection, project, [j.pair for j in judgments.present()])
    with pytest.raises(BadInputError, match="Berdseye's own"):
        import_project(judgments, connection, project.id)


@pytest.mark.label_studio
def test_a_batch_goes_by_file_to_another_server_and_comes_back(
    judgments: Judgments, people: list[Annotator], connection: Connection, tmp_path: Path
) -> None:
    items = [Item(pair(i), 0.9, True) for i in range(3)]
    names = tuple(person.name for person in people[:2])
    batch = create_batch(judgments, BatchPlan(f"far-{uuid4().hex[:6]}", "verify", people=names, blind=False), items)
    form = write_batch_file(judgments, batch, tmp_path / "far.json")
    tasks = json.loads((tmp_path / "far.json").read_text())
    assert sorted(t["data"]["assigned_to"] for t in tasks) in (sorted([*names, names[0]]), sorted([*names, names[1]]))
    with pytest.raises(BadInputError, match=r"\.json"):
        write_batch_file(judgments, batch, tmp_path / "far.csv")

    # What a person does there by hand: a project with this interface, the file imported, annotated and exported.
    far = connection.client.projects.create(title=batch.name, label_config=form.read_text())
    connection.client.projects.import_tasks(far.id, request=tasks)
    user = People(judgments, connection).user(people[0].id)
    assert user == user_of(connection, people[0])
    for one in all_tasks(connection, far.id)[:2]:
        annotate(connection, one, user, RecordedVerdict("unsure", ""))
    one = all_tasks(connection, far.id)[2]
    result = result_of(RecordedVerdict("does not support", "no"), one.data)
    assert result[0]["value"]["choices"] == ["disagree"]
    connection.client.annotations.create(id=one.id, result=result, completed_by=user)
    exported = tmp_path / "exported.json"
    exported.write_bytes(b"".join(connection.client.projects.exports.download_sync(far.id)))

    named = import_file(judgments, exported)
    assert (named.new, len(named.problems)) == (0, 3), "the export tells authors by number alone"
    done = import_file(judgments, exported, annotators={user: people[0].name})
    assert (done.new, done.problems) == (3, ())
    assert words(judgments) == {(names[0], "unsure", ""), (names[0], "does not support", "no")}
    assert {e["batch"] for j in judgments.present() for e in judgments.history(j.pair)} == {batch.id}
    assert batch_progress(judgments, batch, time=0).judgments == 3
    assert import_file(judgments, exported, annotators={user: people[0].name}).new == 0


@pytest.mark.label_studio
def test_an_export_of_another_kind_is_not_taken(judgments: Judgments, connection: Connection, tmp_path: Path) -> None:
    made = connection.client.projects.create(title=f"theirs {uuid4().hex[:6]}", label_config=FORM)
    said = [region("stance", choices=["Yes"])]
    connection.client.projects.import_tasks(
        made.id, request=[{"data": task(1)["data"], "annotations": [{"result": said}]}]
    )
    path = tmp_path / "min.json"
    parts = connection.client.projects.exports.download_sync(made.id, export_type="JSON_MIN")
    path.write_bytes(b"".join(parts))
    with pytest.raises(BadInputError, match="JSON-MIN"):
        import_file(judgments, path)
