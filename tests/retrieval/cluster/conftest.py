"""One cluster for all tests of this folder, since nodes take seconds to start."""

from collections.abc import Iterator
from importlib.util import find_spec

import pytest
from several_nodes import SeveralNodes
from tied_corpus import write_tied_corpus

from berdseye.data.corpora import Corpus
from berdseye.data.workspace import Workspace
from berdseye.retrieval.cluster.connection import Connection, connect


@pytest.fixture(scope="session")
def nodes() -> Iterator[SeveralNodes]:
    if find_spec("ray") is None:  # importing it here would be too early for its settings
        pytest.skip("the extra 'cluster' is not installed")
    started = SeveralNodes(2)
    yield started
    started.close()


@pytest.fixture(scope="session")
def cluster(nodes: SeveralNodes) -> Iterator[Connection]:
    with connect(nodes.address) as joined:
        yield joined


@pytest.fixture(scope="session")
def tied(tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    """2,400 passages of 60 texts; for reading, and for shards of it."""
    return write_tied_corpus(Workspace.create(tmp_path_factory.mktemp("tied") / "workspace"), 2400)
