"""One real Label Studio server for all these tests; each test has its own workspace, judgments and project."""

from collections.abc import Callable, Iterator
from pathlib import Path
from uuid import uuid4

import pytest
from there import pair

from annotation.judgments import Annotator, Judgments
from annotation.label_studio.connection import Connection, connect
from annotation.label_studio.project import Project, find_or_create
from annotation.label_studio.server import Server, running, start
from data.workspace import Workspace


@pytest.fixture(scope="session")
def server_folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("workspace") / "label_studio"
    started = start(folder, 0)
    try:
        started.ready(180)
        yield folder
    finally:
        (running(folder) or started).stop()


@pytest.fixture
def server(server_folder: Path) -> Server:
    """The server as it is now: a test before this one may have started it again."""
    found = running(server_folder)
    return (found or start(server_folder, 0)).ready()


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    return Workspace.create(tmp_path / "workspace")


@pytest.fixture
def judgments(workspace: Workspace) -> Iterator[Judgments]:
    opened = Judgments.open(workspace.judgments_url)
    yield opened
    opened.engine.dispose()


@pytest.fixture
def connection(server: Server, workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> Connection:
    monkeypatch.setenv("BERDSEYE_LABEL_STUDIO_URL", server.url)
    monkeypatch.setenv("BERDSEYE_LABEL_STUDIO_TOKEN", server.token)
    return connect(workspace)


@pytest.fixture
def project(connection: Connection) -> Project:
    return find_or_create(connection, f"Test {uuid4().hex[:12]}")


@pytest.fixture
def people(judgments: Judgments) -> list[Annotator]:
    # Names are unique to the test: users of Label Studio are shared by all its projects.
    return [judgments.sign_in(f"{name} {uuid4().hex[:6]}") for name in ("Ana", "Bo", "Zoë")]


@pytest.fixture
def make_pairs(judgments: Judgments) -> Callable[[int], list[str]]:
    return lambda count: judgments.add_pairs(pair(i) for i in range(count))
