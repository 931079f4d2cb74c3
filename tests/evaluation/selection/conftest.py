"""The runs of two retrievers, for every test of the selection of pairs."""

from pathlib import Path

import pytest

from berdseye.data.workspace import Workspace
from tests.evaluation.selection.two_retriever_runs import made_two_retrievers


@pytest.fixture
def two_retrievers(tmp_path: Path) -> Workspace:
    """A workspace that each test may change."""
    return made_two_retrievers(tmp_path)
