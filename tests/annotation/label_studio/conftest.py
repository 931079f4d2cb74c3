"""One real Label Studio server for all these tests; each test has its own workspace, judgments and project."""

import shutil
import sqlite3
from collections.abc import Callable, Iterator
from importlib.metadata import version
from pathlib import Path
from uuid import uuid4

import pytest
from there import pair

from berdseye.annotation.judgments.log import Annotator, Judgments
from berdseye.annotation.label_studio.connection import Connection, connect
from berdseye.annotation.label_studio.project import Project, find_or_create
from berdseye.annotation.label_studio.server import Server, running, start
from berdseye.data.workspace import Workspace

_STARTS_WITHIN = 600
"""Seconds; half a minute on an idle machine, but more than three minutes were seen on a busy one."""


@pytest.fixture(scope="session")
def server_folder(tmp_path_factory: pytest.TempPathFactory, pytestconfig: pytest.Config) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("workspace") / "label_studio"
    # Label Studio takes half a minute to make its tables: a copy of them, empty, is kept from one run to the next.
    kept = pytestconfig.cache.mkdir(f"label_studio-{version('label-studio')}") / "empty"
    if kept.exists():
        shutil.copytree(kept, folder)
    started = start(folder, 0)
    try:
        started.ready(_STARTS_WITHIN)
        if not kept.exists():
            _keep(folder, kept)
        yield folder
    finally:
        (running(folder) or started).stop()


def _keep(folder: Path, kept: Path) -> None:
    made = kept.with_name(f"{uuid4().hex}.part")
    shutil.copytree(folder, made, ignore=shutil.ignore_patterns("*.sqlite3*", "server.*", "*.lock", "*.log"))
    for database in (folder / "data").glob("*.sqlite3"):
        with sqlite3.connect(database) as source, sqlite3.connect(made / "data" / database.name) as target:
            source.backup(target)
    made.rename(kept)


@pytest.fixture
def server(server_folder: Path) -> Server:
    """The server as it is now: a test before this one may have started it again."""
    found = running(server_folder)
    return (found or start(server_folder, 0)).ready(_STARTS_WITHIN)


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
def own(server: Server, server_folder: Path, monkeypatch: pytest.MonkeyPatch) -> Connection:
    """A connection to the server as the one that Berdseye itself started in the workspace."""
    for name in ("BERDSEYE_LABEL_STUDIO_URL", "BERDSEYE_LABEL_STUDIO_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    found = connect(Workspace.create(server_folder.parent))
    assert found.url == server.url
    return found


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
