"""A consistent copy of all judgments as one SQLite file, written while people judge; and such a file as a database again.

SQLite is copied through its online backup API in one step, during which writers continue (WAL). PostgreSQL is read in one
repeatable-read transaction into such a SQLite file, and not through `pg_dump`: the copy needs no client of the server's
version, gets the checks of every copy, and can be restored into SQLite as well as into PostgreSQL.
"""

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine, MetaData, Table, func, insert, select, text
from sqlalchemy.engine import make_url
from sqlalchemy.exc import DBAPIError

from berdseye.annotation.judgments.database import VERSION_TABLE, open_database, shown_url
from berdseye.data.errors import BadInputError, UnavailableError

_ROWS = 2_000


def copy_judgments(url: str, path: Path) -> None:
    """Write the judgments at a SQLAlchemy URL into a new SQLite file, with every event from before the call."""
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
    """Copy the present state of a SQLite database into one new file; raises `UnavailableError` if it is damaged."""
    try:
        with (
            closing(sqlite3.connect(f"file:{source}?mode=ro", uri=True, timeout=30)) as reading,
            closing(sqlite3.connect(path)) as writing,
        ):
            reading.backup(writing)
        checkpoint_and_verify(path)
    except sqlite3.Error as error:
        raise UnavailableError(
            f"The database cannot be copied: {error}.", where=source, hint="Check that it is intact and readable."
        ) from error


def checkpoint_and_verify(path: Path) -> None:
    """Merge a database's log into its one file, and check the file; raises `sqlite3.DatabaseError` if it is damaged."""
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA journal_mode=DELETE")
        for check in ("integrity_check", "foreign_key_check"):
            rows = connection.execute(f"PRAGMA {check}").fetchall()
            if rows not in ([("ok",)], []):
                raise sqlite3.DatabaseError(f"{check} reports {rows[0]}")


def load_judgments(path: Path, url: str) -> None:
    """Load a copy into an empty database at a URL; raises `BadInputError` for a database that contains anything."""
    with _opened(url) as target:
        with target.connect() as connection:
            tables = _tables(target)
            if any(connection.execute(select(func.count()).select_from(t)).scalar_one() for t in tables):
                raise BadInputError(
                    "The database is not empty.",
                    where=shown_url(target.url),
                    hint="Name an empty database: restoring overwrites nothing.",
                )
        with _opened(f"sqlite:///{path}") as source:
            _copy_rows(source, target)


def count_events(path: Path) -> int:
    """Count the events in a copy."""
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
    """Read the tables of a database, also those of newer migrations; tables come after those that they refer to."""
    metadata = MetaData()
    metadata.reflect(engine)
    return [table for table in metadata.sorted_tables if table.name != VERSION_TABLE]


def _copy_rows(source: Engine, target: Engine) -> None:
    """Copy all rows of all tables, in one transaction per side, without triggers: their effects are copied too."""
    level: dict[str, Any] = {} if source.dialect.name == "sqlite" else {"isolation_level": "REPEATABLE READ"}
    target_tables = {table.name: table for table in _tables(target)}
    try:
        with (
            source.connect().execution_options(read_only=True, **level) as reading,
            target.begin() as writing,
            _without_triggers(writing, list(target_tables.values())),
        ):
            for table in _tables(source):
                rows = reading.execution_options(stream_results=True).execute(select(table)).mappings()
                for part in rows.partitions(_ROWS):
                    writing.execute(insert(target_tables[table.name]), [dict(row) for row in part])
            if target.dialect.name == "postgresql":
                _advance_sequences(writing, list(target_tables.values()))
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
    triggers = connection.execute(text("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'")).all()
    for name, _ in triggers:
        connection.execute(text(f'DROP TRIGGER "{name}"'))
    yield
    for _, sql in triggers:
        connection.exec_driver_sql(sql)


def _advance_sequences(connection: Connection, tables: list[Table]) -> None:
    """Advance the id sequences, so that new rows get ids above those of the copied rows."""
    for table in tables:
        if "id" in table.columns:
            highest = select(func.max(table.c.id)).scalar_subquery()
            sequence = func.pg_get_serial_sequence(table.name, "id")
            connection.execute(select(func.setval(sequence, highest)).where(highest.is_not(None)))
