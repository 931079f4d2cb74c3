"""What every test may ask for (an empty workspace, the demo, the published data), and which tests run when and where."""

import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import hypothesis
import pytest
from filelock import FileLock
from xdist.remote import Producer
from xdist.scheduler import LoadScopeScheduling

from berdseye.annotation.judgments.log import Judgments
from berdseye.app.demo import build_demo
from berdseye.data.workspace import Workspace
from tests.watchdog import watch_over_this_process

hypothesis.settings.register_profile("quick", max_examples=20)  # of `make test`; the default tries 100


def pytest_configure() -> None:
    watch_over_this_process()


@pytest.fixture(autouse=True)
def own_main() -> Iterator[None]:
    """A page drawn without a browser takes the place of the main module, and processes that begin later would run it."""
    main = sys.modules["__main__"]
    yield
    sys.modules["__main__"] = main


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    return Workspace.create(tmp_path / "workspace")


@pytest.fixture(scope="session")
def demo_workspace(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    """The demo, for reading only; built by the first of the processes that share the tests, and copied by the others."""
    folder, built = tmp_path_factory.mktemp("demo") / "workspace", tmp_path_factory.getbasetemp().parent / "demo"
    if "PYTEST_XDIST_WORKER" not in os.environ:
        return build_demo(folder, lambda *_: None)
    with FileLock(built.with_suffix(".lock")):
        build_demo(built, lambda *_: None)
        shutil.copytree(built, folder)
    return Workspace.open(folder)


@pytest.fixture
def demo_judgments(demo_workspace: Workspace) -> Iterator[Judgments]:
    """The demo's judgments, closed after the test: SQLite's side files would go later, while another test copies the demo."""
    judgments = Judgments.open(demo_workspace.judgments_url)
    yield judgments
    judgments.engine.dispose()


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """Data sets as their authors released them; they are not part of the repository."""
    folder = Path(__file__).parents[1].parent / "shared" / "data"
    if not folder.is_dir():
        pytest.skip("the published data sets are not at hand")
    return folder


_TOGETHER = (
    "annotation/label_studio",
    "browser",
    "retrieval/cluster",
    "notebooks",
    "annotation",
    "data/language_models",
)
"""Folders whose tests share a server or another costly thing, and so stay in one process; those that take longest first."""


def _group(file: str) -> str:
    """What a test's file stays in one process with: the files of its folder above, else itself alone."""
    return next((folder for folder in _TOGETHER if file.startswith(f"tests/{folder}/")), file)


class Sharing(LoadScopeScheduling):
    """How several processes share the tests: each group goes to one of them, whole.

    The plugin's own groups by mark do nothing under pytest 9, where a test's id can no longer be written over.
    """

    def _split_scope(self, nodeid: str) -> str:
        return _group(nodeid.partition("::")[0])


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> Sharing:
    return Sharing(config, log)


_SERVERS = ("browser", "label_studio", "postgres")
_FULL = [
    line
    for line in Path(__file__).with_name("full.txt").read_text(encoding="utf-8").splitlines()
    if line and not line.startswith("#")
]
"""Folders, files and tests (`file::test`) that only `make test-all` runs."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark as `full` what starts servers and what full.txt lists; begin with the groups that take longest.

    A long group that begins last would leave the other processes with nothing to do. A test of a server that fails is run once
    more, and named in the summary: browsers and servers share two cores with everything else, and one mishap in
    hundreds of tests would otherwise fail the whole suite.
    """
    for item in items:
        name = item.nodeid.partition("[")[0]
        listed = any(name == line or name.startswith((f"{line}/", f"{line}::")) for line in _FULL)
        uses_a_server = any(item.get_closest_marker(server) for server in _SERVERS)
        if listed or uses_a_server:
            item.add_marker(pytest.mark.full)
        if uses_a_server:
            item.add_marker(pytest.mark.flaky(reruns=1))
    items.sort(key=lambda item: _rank(_group(item.nodeid.partition("::")[0])))


def _rank(group: str) -> int:
    return _TOGETHER.index(group) if group in _TOGETHER else len(_TOGETHER)
