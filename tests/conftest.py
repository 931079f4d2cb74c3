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
