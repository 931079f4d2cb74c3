"""Tiny models below BERDSEYE_MODELS in place of the hub."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.offline_models import offline_models


@pytest.fixture(autouse=True)
def models(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    with offline_models(tmp_path / "models", monkeypatch) as folder:
        yield folder
