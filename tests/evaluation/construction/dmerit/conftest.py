"""A made dump and the construction from it, for all tests of D-MERIT: what they add to its workspace has names of its own."""

import pytest

from berdseye.data.workspace import Workspace
from berdseye.evaluation.construction.finishing import finish
from berdseye.evaluation.construction.running import run_construction
from berdseye.evaluation.construction.stored import Construction
from tests.data.wikipedia.made_dump import MadeDump, make_dump
from tests.evaluation.construction.constructed import scripted
from tests.evaluation.construction.dmerit.made_wiki import begun, dump_file, reader


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> MadeDump:
    return make_dump(dump_file(tmp_path_factory.mktemp("dump")), 420, 12, words=12)


@pytest.fixture(scope="session")
def done(made: MadeDump, tmp_path_factory: pytest.TempPathFactory) -> Construction:
    construction = begun(Workspace.create(tmp_path_factory.mktemp("whole")), made)
    with pytest.MonkeyPatch.context() as patched:
        scripted(patched, reader(made))
        run_construction(construction)
        finish(construction, "lists")
    return construction
