"""Every page on a workspace of many questions: small here, and in tests/benchmarks as large as pages are held to."""

from collections.abc import Iterator

import pytest
import streamlit as st

from berdseye.app.access.session import judgments
from berdseye.data.runs.stored import list_runs
from berdseye.data.workspace import Workspace
from tests.app.views.page_draws import draws, every_view
from tests.large_workspace import SMALL, large_workspace


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    """The workspace, as the one that the app was started on."""
    workspace = large_workspace(tmp_path_factory.mktemp("many") / "workspace", SMALL)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("BERDSEYE_WORKSPACE", str(workspace.folder))
        patch.delenv("BERDSEYE_JUDGMENTS_URL", raising=False)
        _forget()
        yield workspace
        judgments().engine.dispose()
        _forget()


def _forget() -> None:
    st.cache_resource.clear()
    st.cache_data.clear()


def test_every_page_is_drawn_of_many_questions(small: Workspace) -> None:
    assert sum(run.questions * run.k for run in list_runs(small)) * 2 == SMALL.labels == 24_000
    troubles = {}
    for name, (page, address) in every_view(small).items():
        if said := draws(page, address, again=0).troubles:
            troubles[name] = said
    assert troubles == {}


def test_an_error_on_a_page_is_found(small: Workspace) -> None:
    assert small.runs_folder.is_dir()
    assert "(" in str(draws("runs", {"measures": "MRecall("}, again=0).troubles)
