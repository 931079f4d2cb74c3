"""A judgments database of its own for each test."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from annotation.judgments import Judgments


@pytest.fixture
def database_url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path / 'judgments.db'}"


@pytest.fixture
def judgments(database_url: str) -> Iterator[Judgments]:
    opened = Judgments.open(database_url)
    yield opened
    opened.engine.dispose()
