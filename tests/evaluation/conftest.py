"""A small workspace, its run and its judgments for each test."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from berdseye.annotation.judgments.log import Judgments
from berdseye.data.runs.stored import Run
from berdseye.data.workspace import Workspace
from tests.evaluation.small_workspace import build


@pytest.fixture
def made(tmp_path: Path) -> tuple[Workspace, Run]:
    return build(tmp_path / "made")


@pytest.fixture
def small(made: tuple[Workspace, Run]) -> Workspace:
    return made[0]


@pytest.fixture
def run(made: tuple[Workspace, Run]) -> Run:
    return made[1]


@pytest.fixture
def judgments(small: Workspace) -> Iterator[Judgments]:
    opened = Judgments.open(f"sqlite:///{small.folder / 'judgments.db'}")
    yield opened
    opened.engine.dispose()
