"""What every test may ask for: an empty workspace, the demo, and the published data where it is at hand."""

from pathlib import Path

import pytest

from app.demo import build_demo
from data.workspace import Workspace


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    return Workspace.create(tmp_path / "workspace")


@pytest.fixture(scope="session")
def demo_workspace(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    """The demo, built once; for reading only."""
    return build_demo(tmp_path_factory.mktemp("demo") / "workspace", lambda *_: None)


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """Data sets as their authors released them; they are not part of the repository."""
    folder = Path(__file__).parents[1].parent / "shared" / "data"
    if not folder.is_dir():
        pytest.skip("the published data sets are not at hand")
    return folder


_TOGETHER = ("annotation/label_studio", "browser", "retrieval/cluster", "app", "annotation", "data/language_models")
"""Folders whose tests share a server or another costly thing, and so stay in one process; those that take longest first."""


# First, because what shares the work out reads the groups in the same hook, and was there before this file.
@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Where several processes share the work: the tests of a folder above run in the same one, and else those of a file."""
    root = Path(__file__).parent
    for item in items:
        place = item.path.relative_to(root).as_posix()
        group = next((folder for folder in _TOGETHER if place.startswith(f"{folder}/")), place)
        item.add_marker(pytest.mark.xdist_group(group))
    items.sort(key=_rank)  # a long group that begins last leaves the other processes with nothing to do


def _rank(item: pytest.Item) -> int:
    """The place of a test's group among those that take longest."""
    group = next(item.iter_markers("xdist_group")).args[0]
    return _TOGETHER.index(group) if group in _TOGETHER else len(_TOGETHER)
