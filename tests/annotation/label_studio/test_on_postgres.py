"""Label Studio on PostgreSQL: the same exchange, with the server's tables in a real PostgreSQL."""

from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from there import annotate, change, held_here, held_there, task_of, user_of

from berdseye.annotation.judgments.log import Annotator, Judgments
from berdseye.annotation.label_studio.connection import connect
from berdseye.annotation.label_studio.drift import find_drift
from berdseye.annotation.label_studio.exchange import sync
from berdseye.annotation.label_studio.exchange_state import ExchangeReport
from berdseye.annotation.label_studio.form import RecordedVerdict
from berdseye.annotation.label_studio.project import find_or_create
from berdseye.annotation.label_studio.server import start
from berdseye.data.records import DetectorVersion
from berdseye.data.workspace import Workspace
from tests.annotation import postgres_server

pytestmark = [pytest.mark.label_studio, pytest.mark.postgres, pytest.mark.slow, pytest.mark.timeout(900)]


@pytest.fixture
def on_postgres(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A workspace whose Label Studio keeps its tables in a PostgreSQL server; yields that server's data."""
    folder = postgres_server.binaries()
    if folder is None:
        pytest.skip("PostgreSQL is not installed (Debian: the package postgresql)")
    with postgres_server.running(folder) as url:
        where = urlsplit(url)
        told = {"DB": "default", "USER": where.username, "PASSWORD": "none", "NAME": "postgres", "HOST": where.hostname}
        for name, value in (told | {"PORT": where.port}).items():
            monkeypatch.setenv("DJANGO_DB" if name == "DB" else f"POSTGRE_{name}", str(value))
        server = start(workspace.label_studio_folder, 0)
        try:
            server.ready(600)
            monkeypatch.delenv("BERDSEYE_LABEL_STUDIO_URL", raising=False)
            yield workspace.label_studio_folder / "data"
        finally:
            server.stop()


def test_push_annotate_and_pull(
    on_postgres: Path,
    workspace: Workspace,
    judgments: Judgments,
    people: list[Annotator],
    make_pairs: Callable[[int], list[str]],
) -> None:
    connection = connect(workspace)
    assert not list(on_postgres.glob("*.sqlite3")), "the tables are in PostgreSQL"
    project = find_or_create(connection, "On PostgreSQL")
    keys = make_pairs(40)
    for person in people:
        for key in keys[:20]:
            judgments.judge(person, key, "supports", source="annotate", comment=f"{person.name} <b>")

    report = sync(judgments, connection, project, keys, dict.fromkeys(keys, (0.7, True)), DetectorVersion("m"))

    assert (report.tasks_created, report.predictions, report.annotations_created) == (40, 40, 60)
    assert held_there(connection, project) == held_here(judgments)
    users = [user_of(connection, person) for person in people]
    changed, gone, new = (task_of(connection, project, keys[place]) for place in (0, 1, 30))
    change(connection, changed.annotations[0].id, RecordedVerdict("unsure", "there"))
    connection.client.annotations.delete(id=gone.annotations[0].id)
    annotate(connection, new, users[2], RecordedVerdict("does not support", "new there"))
    judgments.withdraw(people[1], keys[5], source="annotate")

    report = sync(judgments, connection, project)

    assert report == ExchangeReport(pulled_new=1, pulled_changed=1, pulled_withdrawn=1, annotations_deleted=1)
    assert held_there(connection, project) == held_here(judgments)
    assert not find_drift(judgments, connection, project)

    other = DetectorVersion("n", grade="stance")
    assert sync(judgments, connection, project, keys, dict.fromkeys(keys, (0.2, False)), other).predictions == 40
    texts = {key: task_of(connection, project, key).data["detector"] for key in (keys[30], keys[31])}
    assert list(texts.values()) == ["m: on topic, P(supports) = 0.70", "n: does not support, P(supports) = 0.20"]
    assert not find_drift(judgments, connection, project)
