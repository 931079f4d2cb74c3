"""Opening brings a database to the newest schema, once, whoever opens it and on whichever server."""

import sqlite3
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from importlib.resources import files
from itertools import repeat
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from alembic import op
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import inspect, text

from berdseye.annotation.judgments.database import newest_revision, open_database
from berdseye.annotation.judgments.log import Judgments
from berdseye.annotation.judgments.schema import adjudicated, batch_words, metadata, present
from berdseye.data.errors import BadInputError, UnavailableError
from tests.annotation.made_pairs import record
from tests.killable import fork_server


def open_and_judge(url: str, name: str) -> str:
    judgments = Judgments.open(url)
    [key] = judgments.add_pairs([record(0)])
    judgments.judge(judgments.sign_in(name), key, "supports", source="annotate")
    judgments.engine.dispose()
    return key


def test_the_newest_revision_is_that_of_the_migrations() -> None:
    config = Config()
    config.set_main_option("script_location", str(files("berdseye.annotation") / "migrations"))
    assert newest_revision() == ScriptDirectory.from_config(config).get_current_head()


def check_schema(url: str) -> None:
    """The migrations and annotation/judgments/schema.py tell of the same tables, and of the same columns of the view."""
    engine = open_database(url)
    with engine.connect().execution_options(read_only=True) as connection:
        context = MigrationContext.configure(
            connection, opts={"compare_type": True, "include_name": lambda name, *_: name != "alembic_version"}
        )
        assert compare_metadata(context, metadata) == []
        views = {view.name: view for view in (adjudicated, batch_words, present)}
        assert sorted(inspect(connection).get_view_names()) == sorted(views)
        for name, view in views.items():
            assert [c["name"] for c in inspect(connection).get_columns(name)] == [c.name for c in view.columns]
    engine.dispose()


def open_at_once(url: str, count: int) -> None:
    """Several processes open a new database at the same time; everyone's judgment is there."""
    names = [f"Person {n}" for n in range(count)]
    with ProcessPoolExecutor(count, mp_context=fork_server()) as processes:
        keys = set(processes.map(open_and_judge, repeat(url), names))
    judgments = Judgments.open(url)
    assert sorted(j.annotator.name for j in judgments.present(list(keys))) == names
    assert judgments.version() == count
    judgments.engine.dispose()


def everyday(url: str) -> None:
    """What people do all day, as it must work on every database."""
    judgments = Judgments.open(url)
    ana, bo = judgments.sign_in("Ana"), judgments.sign_in("bo")
    assert judgments.sign_in(" ANA ") == ana
    long = record(0).__dict__ | {"question_id": "https://example.org/" + "q" * 400, "passage": "P" * 10_000}
    keys = judgments.add_pairs([type(record(0))(**long), *(record(n) for n in range(1, 1200))])
    judgments.add_pairs([record(1)])
    uid = str(uuid4())
    first = judgments.judge(ana, keys[0], "supports", source="annotate", comment="<b>é\x00 👍 هذا", uid=uid)
    assert judgments.judge(ana, keys[0], "supports", source="annotate", uid=uid) == first
    judgments.judge(bo, keys[0], "does not support", source="annotate", seconds=1.5, shown=True)
    judgments.judge(ana, keys[0], "unsure", source="annotate")
    judgments.skip(ana, keys[1], source="annotate")
    judgments.withdraw(bo, keys[0], source="annotate")
    assert [(j.annotator.name, j.verdict) for j in judgments.present()] == [("Ana", "unsure")]
    assert judgments.undo(ana) == keys[1]
    assert judgments.undo(ana) == keys[0]
    assert judgments.undo(bo) == keys[0]
    held = [(j.annotator.name, j.verdict, j.comment, j.seconds) for j in judgments.present(keys)]
    assert held == [("Ana", "supports", "<b>é  👍 هذا", None), ("bo", "does not support", "", 1.5)]
    frame = judgments.frame()
    assert frame["verdict"].tolist() == ["supports", "does not support"]
    assert frame["question_id"].tolist() == [long["question_id"]] * 2
    assert frame["shown"].tolist() == [None, True]
    assert [e["kind"] for e in judgments.history(keys[0])].count("undo") == 2
    with pytest.raises(BadInputError, match="not in this judgments database"):
        judgments.judge(ana, "0" * 32, "supports", source="annotate")
    assert judgments.version() == 8
    # Two windows of one person: every undo takes back another action.
    for key in keys[:20]:
        judgments.judge(bo, key, "unsure", source="annotate")
    with ThreadPoolExecutor(4) as windows:
        undone = list(windows.map(lambda _: judgments.undo(bo), range(20)))
    assert sorted(map(str, undone)) == sorted(keys[:20])
    judgments.engine.dispose()


def test_opening_makes_the_file_and_opening_again_changes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "new" / "folder" / "judgments.db"
    Judgments.open(f"sqlite:///{path}").engine.dispose()
    with sqlite3.connect(path) as raw:
        before = raw.execute("SELECT * FROM sqlite_master").fetchall()
        assert raw.execute("SELECT version_num FROM alembic_version").fetchall() == [("0006",)]
    Judgments.open(f"sqlite:///{path}").engine.dispose()
    with sqlite3.connect(path) as raw:
        assert raw.execute("SELECT * FROM sqlite_master").fetchall() == before


def test_migrations_make_the_schema_of_the_code(database_url: str) -> None:
    check_schema(database_url)


@pytest.mark.parametrize("round_", range(3))
def test_processes_may_open_a_new_database_at_once(database_url: str, round_: int) -> None:
    del round_
    open_at_once(database_url, 2)


def test_a_migration_that_is_interrupted_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    url = f"sqlite:///{tmp_path / 'judgments.db'}"
    create_table = op.create_table

    def interrupted(name: str, *columns: Any, **options: Any) -> Any:
        if name == "sync_annotations":
            raise KeyboardInterrupt
        return create_table(name, *columns, **options)

    with monkeypatch.context() as patched:
        patched.setattr(op, "create_table", interrupted)
        with pytest.raises(KeyboardInterrupt):
            Judgments.open(url)
    with sqlite3.connect(tmp_path / "judgments.db") as raw:
        left = {name for (name,) in raw.execute("SELECT tbl_name FROM sqlite_master")}
    assert left <= {"alembic_version"}
    check_schema(url)


def test_everyday_work_on_sqlite(database_url: str) -> None:
    everyday(database_url)


def test_a_file_that_is_no_database_is_reported(tmp_path: Path) -> None:
    path = tmp_path / "judgments.db"
    path.write_bytes(b"This is a text file, and a long one. " * 100)
    with pytest.raises(UnavailableError, match=r"not a database.*Check that it exists"):
        Judgments.open(f"sqlite:///{path}")
    assert path.read_bytes().startswith(b"This is a text file")


@pytest.mark.parametrize("url", ["nonsense", "mongo://somewhere/x", ""])
def test_a_url_that_cannot_be_used_is_refused(url: str) -> None:
    with pytest.raises(BadInputError, match="Use sqlite:///PATH"):
        Judgments.open(url)


@pytest.mark.postgres
def test_everyday_work_on_postgresql(postgres_url: str) -> None:
    everyday(postgres_url)


@pytest.mark.postgres
def test_migrations_make_the_schema_of_the_code_on_postgresql(postgres_url: str) -> None:
    check_schema(postgres_url)


@pytest.mark.postgres
def test_processes_may_open_a_new_database_at_once_on_postgresql(postgres_url: str) -> None:
    open_at_once(postgres_url, 3)


@pytest.mark.postgres
def test_the_version_grows_with_judgments_that_commit_out_of_order(postgres_url: str) -> None:
    judgments = Judgments.open(postgres_url)
    ana = judgments.sign_in("Ana")
    [key] = judgments.add_pairs([record(0)])
    with judgments.engine.connect() as slow:
        # Takes an id before the other does, and commits after it.
        slow.execute(
            text("INSERT INTO events (uid, at, annotator_id, pair, kind, verdict, comment, source) "
                 "VALUES (:uid, '2026', :person, :pair, 'judge', 'unsure', '', 'annotate')"),
            {"uid": str(uuid4()), "person": ana.id, "pair": key},
        )  # fmt: skip
        judgments.judge(ana, key, "supports", source="annotate")
        between = judgments.version()
        slow.commit()
    assert judgments.version() > between
    judgments.engine.dispose()


@pytest.mark.postgres
def test_a_server_that_is_not_there_is_reported(postgres_server: str) -> None:
    with pytest.raises(UnavailableError, match="does not exist") as told:
        Judgments.open(f"{postgres_server.replace('postgres@', 'postgres:secret@')}/nowhere")
    assert "secret" not in str(told.value)
