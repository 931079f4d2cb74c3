"""What goes wrong: servers that are down, wrong tokens, changed projects. Nothing is lost, nothing doubled."""

import threading
from collections.abc import Callable

import pytest
from sqlalchemy import delete
from there import annotate, change, held_here, held_there, task_of, user_of

from berdseye.annotation.judgments.log import Annotator, Judgments, Verdict
from berdseye.annotation.judgments.schema import sync_annotations
from berdseye.annotation.label_studio.connection import Connection, connect
from berdseye.annotation.label_studio.exchange import sync
from berdseye.annotation.label_studio.exchange_state import ExchangeReport, Place, waiting, write_sent
from berdseye.annotation.label_studio.form import CONFIG, RecordedVerdict, result_of
from berdseye.annotation.label_studio.project import Project, find_or_create, project_by_id
from berdseye.annotation.label_studio.pull import pull
from berdseye.annotation.label_studio.push import push
from berdseye.annotation.label_studio.server import Server
from berdseye.data.errors import BadInputError, UnavailableError, UnknownNameError
from berdseye.data.workspace import Workspace

pytestmark = pytest.mark.label_studio
MakePairs = Callable[[int], list[str]]


def judge_all(judgments: Judgments, people: list[Annotator], keys: list[str]) -> None:
    for index, key in enumerate(keys):
        for person in people[: 1 + index % 3]:
            judgments.judge(person, key, ("supports", "unsure")[index % 2], source="annotate", comment=f"{index}")


@pytest.mark.parametrize("later", ["does not support", None])
@pytest.mark.parametrize("exchange", [sync, push])
def test_our_own_word_that_arrived_unnoticed_is_not_taken_for_another(
    judgments: Judgments, people: list[Annotator], make_pairs: MakePairs, connection: Connection, project: Project,
    later: Verdict | None, exchange: Callable[..., ExchangeReport],
) -> None:  # fmt: skip
    """A push was killed after its import arrived; then the person changed their mind, or took it back."""
    keys = make_pairs(1)
    judgments.judge(people[0], keys[0], "supports", source="annotate")
    push(judgments, connection, project, keys)
    place = Place(keys[0], people[0].id)
    with judgments.engine.begin() as database:
        # The moment before the answer came: announced, arrived, not confirmed.
        database.execute(delete(sync_annotations))
        write_sent(database, project.key, {place: RecordedVerdict("supports", "")})
    if later is None:
        assert judgments.undo(people[0]) == keys[0]
    else:
        # The import may have landed after the person's change of mind: its moment says nothing.
        judgments.judge(people[0], keys[0], later, source="annotate", at="2020-01-01T00:00:00.000000+00:00")

    report = exchange(judgments, connection, project, keys)

    assert report == ExchangeReport(annotations_deleted=int(later is None), annotations_updated=int(later is not None))
    assert [j.verdict for j in judgments.present(keys)] == ([later] if later else [])
    assert held_there(connection, project) == held_here(judgments)
    assert waiting(judgments) == 0


def test_two_pushes_at_once_make_everything_once(
    judgments: Judgments, people: list[Annotator], make_pairs: MakePairs, workspace: Workspace,
    connection: Connection, project: Project,
) -> None:  # fmt: skip
    keys = make_pairs(60)
    judge_all(judgments, people, keys[:12])
    reports: list[ExchangeReport] = []
    threads = [
        threading.Thread(target=lambda c=c: reports.append(push(judgments, c, project, keys)))
        for c in (connection, connect(workspace))
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert sorted(r.tasks_created for r in reports) == [0, 60]
    assert held_there(connection, project) == held_here(judgments)


def test_a_server_that_is_down_is_reported_and_nothing_is_lost(
    judgments: Judgments, people: list[Annotator], make_pairs: MakePairs, workspace: Workspace,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    keys = make_pairs(2)
    judge_all(judgments, people, keys)
    monkeypatch.delenv("BERDSEYE_LABEL_STUDIO_URL", raising=False)
    with pytest.raises(UnavailableError, match="not running"):
        connect(workspace)
    monkeypatch.setenv("BERDSEYE_LABEL_STUDIO_URL", "http://127.0.0.1:9")
    monkeypatch.setenv("BERDSEYE_LABEL_STUDIO_TOKEN", "x" * 40)
    with pytest.raises(UnavailableError, match="does not answer"):
        connect(workspace)
    assert waiting(judgments) == len(judgments.present()) == 3


def test_a_wrong_token_is_reported(server: Server, workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BERDSEYE_LABEL_STUDIO_URL", server.url)
    monkeypatch.setenv("BERDSEYE_LABEL_STUDIO_TOKEN", "0" * 40)
    with pytest.raises(BadInputError, match="token") as raised:
        connect(workspace)
    assert "0" * 40 not in str(raised.value)
    monkeypatch.delenv("BERDSEYE_LABEL_STUDIO_TOKEN")
    with pytest.raises(BadInputError, match="BERDSEYE_LABEL_STUDIO_TOKEN"):
        connect(workspace)
    monkeypatch.setenv("BERDSEYE_LABEL_STUDIO_URL", "ftp://example.org")
    with pytest.raises(BadInputError, match="http"):
        connect(workspace)


def test_an_unknown_project_or_title_is_reported(connection: Connection) -> None:
    with pytest.raises(UnknownNameError, match="999999"):
        project_by_id(connection, 999999)
    with pytest.raises(BadInputError, match="50"):
        find_or_create(connection, "x" * 51)


def test_a_deleted_project_whose_id_is_used_again_is_not_mistaken(
    judgments: Judgments, make_pairs: MakePairs, connection: Connection, project: Project
) -> None:
    connection.client.projects.delete(id=project.id)
    other = find_or_create(connection, f"{project.title} 2")
    for exchange in (pull, sync):
        with pytest.raises(UnknownNameError, match=str(project.id)):
            exchange(judgments, connection, project)
    assert push(judgments, connection, other, make_pairs(2)).tasks_created == 2


def test_an_unknown_pair_is_reported(judgments: Judgments, connection: Connection, project: Project) -> None:
    with pytest.raises(BadInputError, match="not in the judgments database"):
        push(judgments, connection, project, ["0" * 32])


def test_a_renamed_choice_is_named_and_the_rest_goes_on(
    judgments: Judgments, people: list[Annotator], make_pairs: MakePairs, connection: Connection, project: Project
) -> None:
    keys = make_pairs(2)
    judge_all(judgments, people, keys)
    push(judgments, connection, project, keys)
    renamed = CONFIG.replace('"supports"', '"backs"')
    connection.client.projects.update(id=project.id, label_config=renamed)
    ana = user_of(connection, people[0])
    first, second = (task_of(connection, project, key) for key in keys)
    odd = next(a.id for a in first.annotations if a.user == ana)
    result = result_of(RecordedVerdict("supports", "see above"))
    result[0]["value"]["choices"] = ["backs"]
    connection.client.annotations.update(id=odd, result=result)
    change(connection, next(a.id for a in second.annotations if a.user == ana), RecordedVerdict("unsure", "new"))
    before = held_here(judgments)

    report = sync(judgments, connection, project, keys)

    assert report.pulled_changed == 1
    assert any("backs" in p and f"Annotation {odd}" in p for p in report.problems)
    assert any("Labeling Interface" in p for p in report.problems)
    assert sum(before[place] != word for place, word in held_here(judgments).items()) == 1
    with pytest.raises(BadInputError, match="backs"):
        push(judgments, connection, project, keys)

    connection.client.projects.update(id=project.id, label_config=CONFIG)
    report = sync(judgments, connection, project, keys)
    assert (report.annotations_updated, len(report.problems)) == (0, 1)
    change(connection, odd, RecordedVerdict("does not support", ""))
    assert sync(judgments, connection, project, keys) == ExchangeReport(pulled_changed=1)
    assert held_there(connection, project) == held_here(judgments)


def test_an_annotation_made_there_between_two_exchanges_counts_once(
    judgments: Judgments, people: list[Annotator], make_pairs: MakePairs, connection: Connection, project: Project
) -> None:
    keys = make_pairs(1)
    judge_all(judgments, people, keys)
    push(judgments, connection, project, keys)
    judgments.judge(people[1], keys[0], "supports", source="annotate")
    sync(judgments, connection, project)
    annotate(
        connection, task_of(connection, project, keys[0]), user_of(connection, people[1]), RecordedVerdict("unsure", "")
    )
    assert [pull(judgments, connection, project).pulled_changed for _ in range(2)] == [1, 0]
    assert sorted(j.verdict for j in judgments.present(keys)) == ["supports", "unsure"]
