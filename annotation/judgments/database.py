"""Open the judgments database: SQLite by default, any PostgreSQL by URL, migrated to the newest schema.

Also the transactions that write to it, and query results as tables.
"""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

from filelock import FileLock
from sqlalchemy import Connection, CursorResult, Engine, create_engine, event, func, inspect, select, text
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, NoSuchModuleError

from berdseye.data.errors import BadInputError, UnavailableError
from berdseye.data.extras import missing

if TYPE_CHECKING:
    import pandas as pd

VERSION_TABLE = "alembic_version"
"""The table in which Alembic keeps the revision of the schema."""
_BUSY_SECONDS = 30
_MIGRATIONS = Path(__file__).parents[1] / "migrations"
_MIGRATING = 0x6265726473657965
"""The key of PostgreSQL's advisory lock for migrations."""


def frame_of(result: CursorResult[Any]) -> "pd.DataFrame":
    """Return the rows of a query as a table; its columns are named as in the query."""
    import pandas as pd  # takes long to load

    # Plain tuples: pandas checks whether each SQLAlchemy row is a dataclass, which takes longer than all the rest.
    return pd.DataFrame(map(tuple, result), columns=list(result.keys()))


try:
    import fcntl
except ImportError:  # Windows, where writers rely on SQLite's own lock
    fcntl = None  # type: ignore[assignment]


def open_database(url: str) -> Engine:
    """Open an engine on the newest schema; every commit is on disk before it returns.

    SQLite runs in WAL mode with `synchronous=FULL`; writers take the lock when they begin, and wait for each other.
    Raises `BadInputError` for a URL that cannot be used, `UnavailableError` for a database that does not open.
    """
    try:
        parsed = make_url(url)
        if parsed.get_backend_name() == "postgresql" and parsed.drivername == "postgresql":
            parsed = parsed.set(drivername="postgresql+psycopg")
        sqlite = parsed.get_backend_name() == "sqlite"
        if sqlite and parsed.database:
            Path(parsed.database).parent.mkdir(parents=True, exist_ok=True)
        arguments: dict[str, Any] = {"timeout": _BUSY_SECONDS} if sqlite else {}
        engine = create_engine(parsed, connect_args=arguments, pool_pre_ping=not sqlite)
    except (ArgumentError, NoSuchModuleError, ModuleNotFoundError, ValueError) as error:
        if isinstance(error, ModuleNotFoundError) and (found := missing(error, "A PostgreSQL database")):
            raise found from error
        # What cannot be read as a number may be a part of the password.
        reason = "its port is not a number" if isinstance(error, ValueError) else str(error)
        raise BadInputError(
            f"The judgments URL cannot be used: {reason}.",
            hint="Use sqlite:///PATH or postgresql://USER@HOST/NAME (the latter requires the `postgres` extra).",
        ) from error
    if sqlite:
        _make_durable(engine)
    try:
        _migrate(engine)
    except DBAPIError as error:
        raise UnavailableError(
            f"The judgments database cannot be opened: {error.orig}.",
            where=shown_url(parsed),
            hint="Check that it exists, is not damaged and is writable.",
        ) from error
    return engine


@contextmanager
def writing(engine: Engine) -> Iterator[Connection]:
    """Open a transaction that writes.

    On a SQLite file, writers queue in the order they arrive. SQLite's own lock goes to the writer that happens to ask at the
    right moment, so that with fifty people at once some would wait forever.
    """
    with _writer_queue(engine), engine.begin() as connection:
        yield connection


@contextmanager
def _writer_queue(engine: Engine) -> Iterator[None]:
    database = engine.url.database
    if fcntl is None or engine.dialect.name != "sqlite" or not database:
        yield
        return
    with Path(f"{database}.writing").open("wb") as lock_file:
        fcntl.flock(lock_file, fcntl.LOCK_EX)  # released when the file is closed, also when the process dies
        yield


def shown_url(url: URL) -> str:
    """Return a URL that is safe to show: without its password and without its options, which may hold another password."""
    return url.set(query={}).render_as_string(hide_password=True)


def _make_durable(engine: Engine) -> None:
    @event.listens_for(engine, "connect")
    def on_connect(connection: sqlite3.Connection, _record: Any) -> None:
        connection.isolation_level = None
        for pragma in ("journal_mode=WAL", "synchronous=FULL", "foreign_keys=ON"):
            connection.execute(f"PRAGMA {pragma}")

    @event.listens_for(engine, "begin")
    def on_begin(connection: Any) -> None:
        deferred = connection.get_execution_options().get("read_only", False)
        connection.exec_driver_sql("BEGIN" if deferred else "BEGIN IMMEDIATE")


def newest_revision() -> str:
    """Return the revision that databases are migrated to; files of migrations begin with their revision and a line."""
    return max(path.name.partition("_")[0] for path in (_MIGRATIONS / "versions").glob("[0-9]*.py"))


def _migrate(engine: Engine) -> None:
    if _revision(engine) == newest_revision():
        return
    from alembic import command  # takes as long to load as all the rest of opening a database
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(_MIGRATIONS))
    with _migration_lock(engine), engine.connect() as connection:
        if engine.dialect.name == "postgresql":
            connection.execute(select(func.pg_advisory_xact_lock(_MIGRATING)))
        config.attributes["connection"] = connection
        command.upgrade(config, "head")
        connection.commit()


def _revision(engine: Engine) -> str | None:
    with engine.connect().execution_options(read_only=True) as connection:
        if not inspect(connection).has_table(VERSION_TABLE):
            return None
        found: str | None = connection.execute(text(f"SELECT version_num FROM {VERSION_TABLE}")).scalar()
        return found


def _migration_lock(engine: Engine) -> FileLock | nullcontext[None]:
    """Return the lock that admits one migration of a SQLite file at a time; PostgreSQL has its own, across machines."""
    database = engine.url.database
    return FileLock(f"{database}.migrating") if engine.dialect.name == "sqlite" and database else nullcontext()
