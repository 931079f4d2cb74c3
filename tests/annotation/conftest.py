"""A judgments database of its own for each test."""

from collections.abc import Callable, Iterator
from pathlib import Path
from uuid import uuid4

import pytest
from sqlalchemy import create_engine, text

from berdseye.annotation.judgments.log import Judgments
from tests.annotation.postgres_server import binaries, running


@pytest.fixture
def database_url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path / 'judgments.db'}"


@pytest.fixture
def judgments(database_url: str) -> Iterator[Judgments]:
    opened = Judgments.open(database_url)
    yield opened
    opened.engine.dispose()


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[str]:
    """The URL of a PostgreSQL server without a database name, where one is installed; started once."""
    folder = binaries()
    if folder is None:
        pytest.skip("PostgreSQL is not installed (Debian: the package postgresql)")
    pytest.importorskip("psycopg", reason="the `postgres` extra is not installed")
    with running(folder) as server:
        yield server


@pytest.fixture
def new_postgres(postgres_server: str) -> Callable[[], str]:
    """Makes an empty database and gives its URL, at every call."""

    def make() -> str:
        name = f"test_{uuid4().hex[:12]}"
        administration = create_engine(
            f"{postgres_server.replace('postgresql', 'postgresql+psycopg', 1)}/postgres", isolation_level="AUTOCOMMIT"
        )
        with administration.connect() as connection:
            connection.execute(text(f"CREATE DATABASE {name}"))
        administration.dispose()
        return f"{postgres_server}/{name}"

    return make


@pytest.fixture
def postgres_url(new_postgres: Callable[[], str]) -> str:
    return new_postgres()
