"""The workspace that a page is drawn on: empty, or a copy of the demo."""

import shutil
from collections.abc import Iterator
from functools import cache

import pytest
from streamlit.components.v2 import manifest_scanner

from berdseye.app.access.session import judgments as shared_judgments
from berdseye.data.workspace import Workspace
from tests.app.drawn_page import forget


@pytest.fixture(scope="session", autouse=True)
def components_looked_for_once() -> Iterator[None]:
    """Each page drawn without a browser would read the metadata of all installed packages, for a quarter of a second; a server
    does so once."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(manifest_scanner, "scan_component_manifests", cache(manifest_scanner.scan_component_manifests))
        yield


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
