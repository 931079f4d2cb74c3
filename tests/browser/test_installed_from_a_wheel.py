"""The app of a wheel in a real browser: its pages are whole, and nothing calls home. tests/test_wheel.py has the rest."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from berdseye.data.workspace import Workspace
from tests.browser.served import HOST, ROOT, answers, settled, unused_port

pytestmark = pytest.mark.browser

CLONE = ROOT.parent


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of this tree, unpacked by the installer into a folder of its own; what it depends on is here already."""
    built, folder = tmp_path_factory.mktemp("wheel"), tmp_path_factory.mktemp("installed")
    for command in (
        ["build", "--quiet", "--wheel", "--out-dir", str(built), str(CLONE)],
        ["pip", "install", "--quiet", "--no-deps", "--target", str(folder), "--python", sys.executable, "berdseye"],
    ):
        wheel = [str(path) for path in built.glob("*.whl")]
        subprocess.run([sys.executable, "-m", "uv", *command[:-1], *(wheel or command[-1:])], check=True, cwd=built)
    return folder


@pytest.fixture
def elsewhere(tmp_path: Path) -> Path:
    """A working folder with settings of another project."""
    settings = tmp_path / ".streamlit" / "config.toml"
    settings.parent.mkdir()
    settings.write_text('[browser]\ngatherUsageStats = true\n[client]\nshowErrorDetails = "full"\n', encoding="utf-8")
    return tmp_path


@pytest.fixture
def environment(installed: Path) -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(installed)}


@pytest.fixture
def address(installed: Path, elsewhere: Path, environment: dict[str, str]) -> Iterator[str]:
    """`berdseye app` of the wheel, started in a folder of another project."""
    workspace, port = Workspace.create(elsewhere / "workspace"), unused_port()
    command = [
        sys.executable,
        "-c",
        "import sys; from berdseye.app import cli; print(cli.__file__); cli.main()",
        "app",
    ]
    options = ["--workspace", str(workspace.folder), "--port", str(port), "--no-label-studio"]
    with (elsewhere / "log").open("wb") as log:
        process = subprocess.Popen([*command, *options], cwd=elsewhere, env=environment, stdout=log, stderr=log)
    try:
        yield f"http://{HOST}:{port}"
    finally:
        process.terminate()
        process.wait(timeout=30)
    assert str(installed) in (elsewhere / "log").read_text(encoding="utf-8"), "it is the wheel that ran"


def test_the_app_of_a_wheel_calls_nobody(address: str, page: Page) -> None:
    """The fixture `page` fails on any request to another machine."""
    while not answers(f"{address}/_stcore/health"):
        page.wait_for_timeout(100)
    page.goto(address)
    settled(page)
    expect(page.get_by_role("button", name="Add a corpus")).to_be_visible()
