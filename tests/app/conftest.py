"""The workspace that a page is drawn on: empty, or a copy of the demo."""

import shutil
from collections.abc import Iterator

import pytest

from berdseye.app.access.session import judgments as shared_judgments
from berdseye.data.workspace import Workspace
from tests.app.drawn_page import forget


@pytest.fixture
def at_hand(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> Iterator[Workspace]:
    """An empty workspace as the one the app was started on."""
    monkeypatch.setenv("BERDSEYE_WORKSPACE", str(workspace.folder))
    monkeypatch.delenv("BERDSEYE_JUDGMENTS_URL", raising=False)
    forget()
    yield workspace
    shared_judgments().engine.dispose()
    forget()


@pytest.fixture
def demo(demo_workspace: Workspace, at_hand: Workspace) -> Workspace:
    """A copy of the demo as the workspace the app was started on."""
    shutil.copytree(demo_workspace.folder, at_hand.folder, dirs_exist_ok=True)
    return Workspace.open(at_hand.folder)
