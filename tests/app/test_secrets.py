"""Secrets of the environment appear nowhere: not in what commands and pages say, fail as they may, nor in any file."""

import os
import shutil
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest
from typer.testing import CliRunner

from berdseye.app.cli import cli
from berdseye.data.errors import BerdseyeError
from berdseye.data.workspace import Workspace
from tests.annotation.postgres_server import binaries, running

VIEWS = Path(__file__).resolve().parents[2] / "app" / "views"
MARK = "hush7f3a"
"""In every secret below; nothing else in the workspace has it."""
NOWHERE = "127.0.0.1:9"
ENVIRONMENT = {
    "OPENAI_API_KEY": f"sk-{MARK}-openai",
    "OPENAI_BASE_URL": f"http://user:{MARK}-proxy@{NOWHERE}/v1",
    "SERPER_API_KEY": f"{MARK}-serper",
    "BERDSEYE_LABEL_STUDIO_URL": f"http://{NOWHERE}",
    "BERDSEYE_LABEL_STUDIO_TOKEN": f"{MARK}-labelstudio",
    "BERDSEYE_OIDC_CLIENT_SECRET": f"{MARK}-client",
    "BERDSEYE_COOKIE_SECRET": f"{MARK}-cookie",
    "PGPASSWORD": f"{MARK}-pg",
}
DATABASE = f"postgresql://user:{MARK}-password@{NOWHERE}/x?password={MARK}-again"


@pytest.fixture
def held(demo_workspace: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Workspace]:
    shutil.copytree(demo_workspace.folder, tmp_path / "workspace")
    for name, value in ENVIRONMENT.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("BERDSEYE_WORKSPACE", str(tmp_path / "workspace"))
    monkeypatch.delenv("BERDSEYE_JUDGMENTS_URL", raising=False)
    st.cache_resource.clear()
    yield Workspace.open(tmp_path / "workspace")
    st.cache_resource.clear()


def said(*arguments: object) -> tuple[bool, str]:
    """Whether a command did its work, and all that it said, as `berdseye` prints it."""
    result = CliRunner().invoke(cli, [str(a) for a in arguments])
    assert result.exception is None or isinstance(result.exception, BerdseyeError | SystemExit), result.exception
    text = f"{result.output}{result.exception or ''}"
    assert MARK not in text, text
    return result.exit_code == 0, text


def drawn(page: str) -> str:
    at = AppTest.from_file(str(VIEWS / f"{page}.py"), default_timeout=60).run()
    parts = (at.markdown, at.caption, at.info, at.success, at.error, at.warning, at.code, at.exception)
    text = "\n".join(str(m.value) for part in parts for m in part)
    assert MARK not in text.replace("\\", "")
    return text


def check_files(folder: Path) -> int:
    """No file below a folder holds a secret, as it is or packed; returns how many were looked at."""
    looked = 0
    for path in (p for p in folder.rglob("*") if p.is_file()):
        looked += 1
        assert MARK.encode() not in path.read_bytes(), path
        if zipfile.is_zipfile(path):
            with zipfile.ZipFile(path) as archive:
                for name in archive.namelist():
                    assert MARK.encode() not in archive.read(name), (path, name)
    return looked


def test_what_works_keeps_them(held: Workspace, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    out = tmp_path / "out"
    out.mkdir()
    for command in (
        ("agreement", "--json"),
        ("judgments", "export", out / "judgments.parquet"),
        ("people", "list", "--json"),
        ("detector", "adopt", "embedded"),
        ("training-set", "create", "--demo"),
        ("bundle", "all", out / "bundle.zip"),
        ("backup", out / "backup.zip"),
        ("restore", out / "backup.zip", out / "restored"),
    ):
        works, text = said(*command)
        assert works, text
    assert check_files(held.folder) + check_files(out) > 50
    assert MARK not in caplog.text


def test_what_fails_keeps_them(
    held: Workspace, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    works, text = said("judgments", "pull")
    assert not works, text
    for wrong in (f"http://user:{MARK}@{NOWHERE}", f"u:{MARK}@h", f"http://h/?t={MARK}"):
        monkeypatch.setenv("BERDSEYE_LABEL_STUDIO_URL", wrong)
        works, text = said("judgments", "pull")
        assert not works, text
        drawn("label_studio")
    for wrong in (DATABASE, f"nosuch://u:{MARK}@h/x", f"postgresql://u:{MARK}@h:{MARK}/x", f"{MARK}"):
        monkeypatch.setenv("BERDSEYE_JUDGMENTS_URL", wrong)
        works, text = said("batch", "list")
        assert not works, text
    monkeypatch.setenv("BERDSEYE_JUDGMENTS_URL", DATABASE)
    st.cache_resource.clear()
    for page in ("annotate", "agreement", "label_studio", "adjudication"):
        drawn(page)
    assert check_files(held.folder) > 50
    assert MARK not in caplog.text


@pytest.mark.postgres
@pytest.mark.skipif(binaries() is None, reason="PostgreSQL is not installed (apt-get install postgresql)")
@pytest.mark.usefixtures("held")
def test_the_password_of_a_real_database_stays_in_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = binaries()
    assert folder is not None
    out = tmp_path / "out"
    out.mkdir()
    (out / "pairs.tsv").write_text("passage\tperspective\nStreets are quiet.\tCars should go.\n")
    with running(folder) as url:
        secret = f"{url.replace('postgres@', f'postgres:{MARK}-password@')}/postgres"
        assert MARK in secret
        assert said("backup", out / "demo.zip")[0]
        works, text = said("restore", out / "demo.zip", out / "restored", "--judgments-url", secret)
        assert works, text
        assert "PGPASSWORD" in text
        monkeypatch.setenv("BERDSEYE_JUDGMENTS_URL", secret)
        monkeypatch.setenv("BERDSEYE_WORKSPACE", str(out / "restored"))
        for command in (
            ("batch", "create", "b", "--file", out / "pairs.tsv"),
            ("batch", "show", "b"),
            ("batch", "close", "b"),
            ("agreement", "--json"),
            ("backup", out / "again.zip"),
        ):
            works, text = said(*command)
            assert works, text
        monkeypatch.delenv("BERDSEYE_JUDGMENTS_URL")
        assert said("batch", "list", "--json")[0], "the settings know where the judgments are"
    assert "b\t" not in said("batch", "list")[1], "the server has ended"
    assert check_files(out) > 50
    assert os.environ["PGPASSWORD"].startswith(MARK)
