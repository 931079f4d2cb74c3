"""What differs between here and Label Studio is told, each kind of it, and mended; telling changes nothing."""

from collections.abc import Callable

import pytest
from there import annotate, change, held_here, pair, task_of, user_of

from berdseye.annotation.doctor.examine import fix_all
from berdseye.annotation.judgments.log import Annotator, Judgments
from berdseye.annotation.label_studio.connection import Connection
from berdseye.annotation.label_studio.drift import examine_exchange, find_drift
from berdseye.annotation.label_studio.exchange import sync
from berdseye.annotation.label_studio.form import RecordedVerdict, result_of, task_data
from berdseye.annotation.label_studio.project import Project
from berdseye.annotation.label_studio.push import push
from berdseye.annotation.label_studio.tasks import raw_tasks
from berdseye.data.records import DetectorVersion

pytestmark = pytest.mark.label_studio
MakePairs = Callable[[int], list[str]]
SUPPORTS, UNSURE = RecordedVerdict("supports", ""), RecordedVerdict("unsure", "on reflection")


def nothing(counts: dict[str, int]) -> dict[str, int]:
    return {name: count for name, count in counts.items() if count}


@pytest.fixture
def keys(
    judgments: Judgments, people: list[Annotator], make_pairs: MakePairs, connection: Connection, project: Project
) -> list[str]:
    """Six pairs with predictions, delivered; Ana judged all of them."""
    keys = make_pairs(6)
    for key in keys:
        judgments.judge(people[0], key, "supports", source="annotate")
    push(judgments, connection, project, keys, dict.fromkeys(keys, (0.7, True)), DetectorVersion("m"))
    return keys


def test_verdicts_that_differ_are_listed_with_who_and_when(
    judgments: Judgments, people: list[Annotator], keys: list[str], connection: Connection, project: Project
) -> None:
    ana, bo, zoe = people
    assert not find_drift(judgments, connection, project)
    judgments.judge(bo, keys[0], "unsure", source="annotate", comment="here alone")
    by_ana = {key: task_of(connection, project, key).annotations[0].id for key in keys[1:5]}
    change(connection, by_ana[keys[1]], UNSURE)
    judgments.judge(ana, keys[2], "does not support", source="annotate")
    change(connection, by_ana[keys[2]], UNSURE)
    change(connection, by_ana[keys[3]], UNSURE)
    judgments.judge(ana, keys[3], "does not support", source="annotate")
    connection.client.annotations.delete(id=by_ana[keys[4]])
    stranger = connection.client.users.create(
        username="nia", email=f"nia-{project.id}@example.org", first_name="Nia Ro"
    )
    annotate(connection, task_of(connection, project, keys[5]), stranger.id, SUPPORTS)
    before = judgments.version(), len(judgments.annotators())

    drift = find_drift(judgments, connection, project)

    assert nothing(drift.counts()) == {"judgments only here": 2, "judgments only there": 1, "judgments differing": 3}
    told = {(one.pair, one.person): one for one in drift.judgments}
    assert told[keys[0], bo.name].here.comment == "here alone"
    changed = told[keys[1], ana.name]
    assert (changed.here.verdict, changed.there.verdict, changed.there.comment) == ("supports", *UNSURE)
    assert changed.here.at < changed.there.at
    assert "the next pull" in changed.remedy
    assert "made in Label Studio, counts" in told[keys[2], ana.name].remedy
    assert "made here, counts" in told[keys[3], ana.name].remedy
    assert told[keys[4], ana.name].side == "only here"
    assert told[keys[5], "Nia Ro"].side == "only there"
    assert (judgments.version(), len(judgments.annotators())) == before
    assert "2 judgments only here" in str(drift)

    sync(judgments, connection, project)
    drift = find_drift(judgments, connection, project)
    assert not drift
    stand = {(one.pair, one.person): one.later for one in drift.contested}
    assert stand == {(keys[1], ana.name): "there", (keys[2], ana.name): "there", (keys[3], ana.name): "here"}
    assert zoe.name not in str(drift.as_json())


def test_what_is_wrong_there_is_found_and_repaired(
    judgments: Judgments, people: list[Annotator], keys: list[str], connection: Connection, project: Project
) -> None:
    ana = user_of(connection, people[0])
    doubled, gone, odd = (task_of(connection, project, key) for key in keys[:3])
    connection.client.projects.import_tasks(
        project.id,
        request=[
            {"data": dict(doubled.data), "annotations": [{"result": result_of(UNSURE), "completed_by": ana}]},
            {"data": task_data(pair(90))},
            {"data": {"ext_id": "theirs", "question": "", "perspective": "", "title": "", "passage": "x"}},
        ],
    )
    connection.client.tasks.delete(id=str(gone.id))
    unknown = result_of(SUPPORTS)
    unknown[0]["value"]["choices"] = ["backs"]
    connection.client.annotations.update(id=odd.annotations[0].id, result=unknown)
    for _ in range(2):
        annotate(connection, task_of(connection, project, keys[4]), ana, SUPPORTS)

    assert nothing(find_drift(judgments, connection, project).counts()) == {
        "judgments only here": 1,
        "judgments differing": 1,
        "pairs with several tasks": 1,
        "people with several annotations on a pair": 2,
        "tasks gone": 1,
        "tasks of pairs not known here": 1,
        "tasks with texts that are not Berdseye's": 1,
        "predictions missing": 2,
        "annotations that cannot be read": 1,
    }
    done, left = fix_all(judgments, lambda: examine_exchange(judgments, connection))
    assert [finding.text for finding in done if "several tasks" in finding.text or "were deleted" in finding.text]
    assert all(finding.fix is None for finding in left)
    told = " ".join(map(str, left))
    assert "backs" in told
    assert "theirs" not in told
    assert nothing(find_drift(judgments, connection, project).counts()) == {
        "people with several annotations on a pair": 1,
        "tasks with texts that are not Berdseye's": 1,
        "predictions missing": 3,
        "annotations that cannot be read": 1,
    }
    assert len(raw_tasks(connection, project.id)) == len(keys) + 2
    here = held_here(judgments)
    assert here[keys[0], next(email for key, email in here if key == keys[0])] == tuple(UNSURE)


def test_judgments_that_were_exchanged_unnoticed_are_noted(
    judgments: Judgments, people: list[Annotator], keys: list[str], connection: Connection, project: Project
) -> None:
    judgments.judge(people[1], keys[0], "unsure", source="annotate")
    annotate(
        connection,
        task_of(connection, project, keys[0]),
        _user(connection, project, people[1]),
        RecordedVerdict("unsure", ""),
    )
    assert nothing(find_drift(judgments, connection, project).counts()) == {"judgments not noted as exchanged": 1}
    _, left = fix_all(judgments, lambda: examine_exchange(judgments, connection))
    assert left == []
    assert not find_drift(judgments, connection, project)


def _user(connection: Connection, project: Project, person: Annotator) -> int:
    email = f"{person.name.split()[0].lower()}-{project.id}@example.org"
    return int(connection.client.users.create(username=email[:30], email=email, first_name=person.name).id)
