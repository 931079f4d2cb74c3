"""A real browser, and real servers of the app, for the tests that press keys."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, Request

from berdseye.data.workspace import Workspace
from tests.browser.served import Served, chromium, leaves, new_context, served


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    if shutil.which("chromium") is None:
        if os.environ.get("CI"):
            pytest.fail("Chromium is missing, and CI must not do without it (apt-get install chromium).")
        pytest.skip("Chromium is missing (apt-get install chromium)")
    with chromium() as found:
        yield found


@pytest.fixture(scope="session")
def app(demo_workspace: Workspace, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """The app on a copy of the demo; each test signs in under a name of its own."""
    folder = tmp_path_factory.mktemp("served")
    shutil.copytree(demo_workspace.folder, folder / "workspace")
    with served(folder / "workspace", folder / "log") as server:
        yield server


@pytest.fixture
def own_app(demo_workspace: Workspace, tmp_path: Path) -> Iterator[Served]:
    """A server that a test may kill."""
    shutil.copytree(demo_workspace.folder, tmp_path / "workspace")
    with served(tmp_path / "workspace", tmp_path / "log") as server:
        yield server


def _is_ours(request: Request) -> bool:
    """Whether a page of the app asks for it, not the page where a provider asks who somebody is."""
    return request.is_navigation_request() or "/oauth2/" not in request.frame.url


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """A page of a fresh visitor; a script error, a dialog or a request to another machine fails the test."""
    context = new_context(browser)
    opened = context.new_page()
    trouble: list[str] = []
    opened.on("pageerror", lambda error: trouble.append(str(error)))
    opened.on("request", lambda asked: trouble.append(asked.url) if leaves(asked.url) and _is_ours(asked) else None)
    opened.on("dialog", lambda dialog: (trouble.append(f"dialog: {dialog.message}"), dialog.dismiss()))
    yield opened
    context.close()
    assert trouble == []
