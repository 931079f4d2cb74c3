"""All judgments as one SQLite file, at one moment, while people go on judging; and such a file as a database again.

SQLite is copied through its online backup API in one step, during which writers go on (WAL). PostgreSQL is read in one
repeatable-read transaction into the same kind of file, rather than through `pg_dump`: such a copy needs no client of the
server's version, is checked as any other, and goes back into SQLite as well as into PostgreSQL.
"""

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine, MetaData, Table, func, insert, select, text
from sqlalchemy.engine import make_url
from sqlalchemy.exc import DBAPIError

from berdseye.annotation.judgments.database import open_database, shown_url
from berdseye.data.errors import BadInputError, UnavailableError

_ROWS = 2_000
_VERSION = "alembic_version"


def copy_judgments(url: str, path: Path) -> None:
    """Write the judgments at a SQLAlchemy URL into a new SQLite file; every event of before the call is in it."""
    engine = open_database(url)
    try:
        if engine.dialect.name == "sqlite":
            copy_sqlite(Path(str(make_url(url).database)), path)
        else:
            with _opened(f"sqlite:///{path}") as target:
                _copy_rows(engine, target)
            checkpoint_and_verify(path)
    finally:
        engine.dispose()


def copy_sqlite(source: Path, path: Path) -> None:
    """A SQLite database as it is now, in one file of its own; raises `UnavailableError` where it is damaged."""
    try:
        with (
            closing(sqlite3.connect(f"file:{source}?mode=ro", uri=True, timeout=30)) as reading,
            closing(sqlite3.connect(path)) as writing,
        ):
            reading.backup(writing)
        checkpoint_and_verify(path)
    except sqlite3.Error as error:
        raise UnavailableError(
            f"The database cannot be copied: {error}.", where=source, hint="Check that it is whole and readable."
        ) from error


def checkpoint_and_verify(path: Path) -> None:
    """One file without a log beside it, checked from end to end; raises `sqlite3.DatabaseError` where it is damaged."""
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA journal_mode=DELETE")
        for check in ("integrity_check", "foreign_key_check"):
            found = connection.execute(f"PRAGMA {check}").fetchall()
            if found not in ([("ok",)], []):
                raise sqlite3.DatabaseError(f"{check} says {found[0]}")


def load_judgments(path: Path, url: str) -> None:
    """Put all of a copy into an empty database at a URL; raises `BadInputError` for one that holds judgments."""
    with _opened(url) as target:
        with target.connect() as connection:
            tables = _tables(target)
            if any(connection.execute(select(func.count()).select_from(t)).scalar_one() for t in tables):
                raise BadInputError(
                    "The database holds judgments already.",
                    where=shown_url(target.url),
                    hint="Name an empty one: restoring overwrites nothing.",
                )
        with _opened(f"sqlite:///{path}") as source:
            _copy_rows(source, target)


def count_events(path: Path) -> int:
    """How many events a copy holds."""
    with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as connection:
        return int(connection.execute("SELECT count(*) FROM events").fetchone()[0])


@contextmanager
def _opened(url: str) -> Iterator[Engine]:
    engine = open_database(url)
    try:
        yield engine
    finally:
        engine.dispose()


def _tables(engine: Engine) -> list[Table]:
    """All tables as they are there, referred ones first: those of newer migrations are among them."""
    held = MetaData()
    held.reflect(engine)
    return [table for table in held.sorted_tables if table.name != _VERSION]


def _copy_rows(source: Engine, target: Engine) -> None:
    """All rows of all tables, in one transaction on either side; triggers rest, since what they would do is copied too."""
    level: dict[str, Any] = {} if source.dialect.name == "sqlite" else {"isolation_level": "REPEATABLE READ"}
    there = {table.name: table for table in _tables(target)}
    try:
        with (
            source.connect().execution_options(read_only=True, **level) as reading,
            target.begin() as writing,
            _without_triggers(writing, list(there.values())),
        ):
            for table in _tables(source):
                rows = reading.execution_options(stream_results=True).execute(select(table)).mappings()
                for part in rows.partitions(_ROWS):
                    writing.execute(insert(there[table.name]), [dict(row) for row in part])
            if target.dialect.name == "postgresql":
                _go_on_counting(writing, list(there.values()))
    except DBAPIError as error:
        raise UnavailableError(
            f"The judgments could not be copied: {error.orig}.",
            where=shown_url(source.url),
            hint="Nothing was changed; try again.",
        ) from error


@contextmanager
def _without_triggers(connection: Connection, tables: list[Table]) -> Iterator[None]:
    if connection.dialect.name == "postgresql":
        for table in tables:
            connection.execute(text(f'ALTER TABLE "{table.name}" DISABLE TRIGGER USER'))
        yield
        for table in tables:
            connection.execute(text(f'ALTER TABLE "{table.name}" ENABLE TRIGGER USER'))
        return
    made = connection.execute(text("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'")).all()
    for name, _ in made:
        connection.execute(text(f'DROP TRIGGER "{name}"'))
    yield
    for _, sql in made:
        connection.exec_driver_sql(sql)


def _go_on_counting(connection: Connection, tables: list[Table]) -> None:
    """Let new rows have ids above those that were put in."""
    for table in tables:
        if "id" in table.columns:
            highest = select(func.max(table.c.id)).scalar_subquery()
            sequence = func.pg_get_serial_sequence(table.name, "id")
            connection.execute(select(func.setval(sequence, highest)).where(highest.is_not(None)))
