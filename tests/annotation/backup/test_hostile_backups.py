"""Backups from strangers: manifests of wrong types, files that cannot fit, settings that point at another database."""

import hashlib
import json
import shutil
import zipfile
from collections import namedtuple
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from berdseye.annotation.backup.restoring import restore
from berdseye.annotation.backup.writing import FORMAT, MANIFEST, SETTINGS, back_up
from berdseye.annotation.judgments.log import Judgments
from berdseye.data.errors import BadInputError
from berdseye.data.workspace import Workspace


def zipped(path: Path, manifest: Any, files: dict[str, bytes]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(MANIFEST, manifest if isinstance(manifest, str) else json.dumps(manifest))
        for name, content in files.items():
            archive.writestr(name, content)
    return path


@pytest.mark.parametrize(
    "manifest",
    [
        [], None, 7, {}, {"format": FORMAT}, {"format": FORMAT, "files": []}, {"format": FORMAT, "files": {"a": 3}},
        {"format": FORMAT, "files": {"a": {"size": "x", "sha256": 1}}}, {"format": []}, "[" * 100_000, "1" * 5000, "\ufeff",
    ],
)  # fmt: skip
def test_a_manifest_of_a_wrong_form_is_reported(tmp_path: Path, manifest: Any) -> None:
    with pytest.raises(BadInputError, match=r"b\.zip"):
        restore(zipped(tmp_path / "b.zip", manifest, {"a": b"x"}), tmp_path / "out")
    assert [path.name for path in tmp_path.iterdir()] == ["b.zip"]


@pytest.fixture
def backup(workspace: Workspace, tmp_path: Path) -> Path:
    Judgments.open(workspace.judgments_url).engine.dispose()
    back_up(workspace, tmp_path / "good.zip")
    return tmp_path / "good.zip"


def test_what_cannot_fit_is_refused_before_anything_is_written(
    backup: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    usage = namedtuple("usage", "total used free")
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage(10_000, 0, 10_000))
    with pytest.raises(BadInputError, match="0 MiB are free"):
        restore(backup, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_the_settings_of_a_stranger_name_no_other_database(backup: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere.db"
    with zipfile.ZipFile(backup) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    manifest = json.loads(files.pop(MANIFEST))
    files[SETTINGS] = f'[judgments]\nurl = "sqlite:///{elsewhere}"\n'.encode()
    entry = {"size": len(files[SETTINGS]), "sha256": hashlib.sha256(files[SETTINGS]).hexdigest()}
    manifest["files"][SETTINGS] = {**manifest["files"][SETTINGS], **entry}
    made, read = restore(zipped(tmp_path / "evil.zip", manifest, files), tmp_path / "out")
    assert made.judgments_url == f"sqlite:///{tmp_path / 'out' / 'judgments.db'}"
    assert asdict(read)["files"].keys() == files.keys()
    assert not elsewhere.exists()
