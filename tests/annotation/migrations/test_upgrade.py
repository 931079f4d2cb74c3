"""A database that an earlier version wrote is opened by this one: every word stands as it stood, and new ones are added."""

import sqlite3
import time
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from alembic import command
from alembic.config import Config
from sqlalchemy import Connection, MetaData, create_engine, inspect, text

from berdseye import annotation
from berdseye.annotation.batches.check_items import CheckItem, create_check_batch
from berdseye.annotation.batches.queue import BatchQueue
from berdseye.annotation.batches.stored import load_batch
from berdseye.annotation.judgments.log import Judgments
from tests.annotation.made_pairs import record

EVENTS = [  # annotator, kind, verdict, comment, target
    (1, "judge", "supports", "yes", None),
    (2, "judge", "does not support", "", None),
    (1, "judge", "unsure", "on second thoughts", None),
    (2, "judge", "supports", "", None),
    (2, "undo", None, "", 4),
]
BATCH_EVENTS = [  # annotator, pair, kind, verdict, target, batch, shown
    (1, "k0", "judge", "supports", None, 1, False),
    (2, "k0", "judge", "does not support", None, 1, False),
    (1, "k1", "judge", "unsure", None, 1, False),
    (1, "k1", "undo", None, 3, None, None),
    (2, "k1", "skip", None, None, 1, None),
    (1, "k2", "judge", "supports", None, None, True),
    (3, "k2", "judge", "supports", None, None, None),
    (2, "k2", "flag", None, None, None, None),
    (1, "k0", "adjudicate", "supports", None, None, None),
    (1, "k3", "prefer", "first", None, 2, None),
    (2, "k3", "prefer", "second", None, 2, None),
    (2, "k3", "withdraw", None, None, None, None),
]
AT = "2026-01-01T00:00:00.000000+00:00"
VIEWS = ("present", "adjudicated", "batch_words")


def migrated(url: str, revision: str) -> None:
    """A database as an earlier version left it."""
    config = Config()
    config.set_main_option("script_location", str(Path(annotation.__file__).parent / "migrations"))
    engine = create_engine(driver(url))
    with engine.connect() as connection:
        config.attributes["connection"] = connection
        command.upgrade(config, revision)
        connection.commit()
    engine.dispose()


def driver(url: str) -> str:
    return url.replace("postgresql://", "postgresql+psycopg://", 1)


def test_every_verdict_is_kept_and_new_ones_are_added(tmp_path: Path) -> None:
    path = tmp_path / "judgments.db"
    migrated(f"sqlite:///{path}", "0001")
    with sqlite3.connect(path) as raw:
        for number, name in enumerate(("Ana", "Bo"), start=1):
            raw.execute("INSERT INTO annotators VALUES (?, ?, ?, 0, '2026-01-01')", (number, name, name.casefold()))
        raw.execute("INSERT INTO pairs VALUES ('k', 'd', 'q', 'Why?', 'So.', NULL, 'web', '', 'A passage.', '')")
        raw.executemany(
            "INSERT INTO events (uid, at, annotator_id, pair, kind, verdict, comment, source, target) "
            "VALUES (hex(randomblob(16)), '2026-01-01', ?, 'k', ?, ?, ?, 'annotate', ?)",
            EVENTS,
        )
        before = raw.execute("SELECT * FROM events ORDER BY id").fetchall()
    judgments = Judgments.open(f"sqlite:///{path}")
    with sqlite3.connect(path) as raw:
        after = raw.execute("SELECT * FROM events ORDER BY id").fetchall()
    assert [row[: len(before[0])] for row in after] == before
    standing = {j.annotator.name: (j.verdict, j.comment) for j in judgments.present(["k"])}
    assert standing == {"Ana": ("unsure", "on second thoughts"), "Bo": ("does not support", "")}
    bo = judgments.sign_in("Bo")
    assert judgments.undo(bo) == "k"
    judgments.judge(bo, "k", "unsure", source="annotate")
    assert {j.annotator.name: j.verdict for j in judgments.present(["k"])} == {"Ana": "unsure", "Bo": "unsure"}
    judgments.engine.dispose()


@pytest.mark.parametrize("server", ["database_url", pytest.param("postgres_url", marks=pytest.mark.postgres)])
def test_batches_and_reservations_are_kept_and_can_be_continued(server: str, request: pytest.FixtureRequest) -> None:
    url = request.getfixturevalue(server)
    migrated(url, "0002")
    engine = create_engine(driver(url))
    with engine.begin() as connection:
        fill(connection)
        old = columns(connection)
        before = rows(connection, old)
    assert {name: len(before[name]) for name in VIEWS} == {"present": 7, "adjudicated": 1, "batch_words": 3}
    judgments = Judgments.open(url)
    with engine.connect() as connection:
        assert rows(connection, old) == before
    engine.dispose()

    first, second = (load_batch(judgments, name) for name in ("first", "second"))
    assert [person.name for person in first.people] == ["Ana", "Bo"]
    assert (first.is_open, second.is_open) == (True, False)
    assert (first.shown_share, first.guidelines, first.drawn_by) == (None, None, None)
    assert judgments.frame()["propensity"].isna().all(), "how the pairs of old events were drawn is not known"
    ana, bo, cy = (judgments.annotator(name) for name in ("Ana", "Bo", "Cy"))
    assert (ana.demo, cy.demo) == (False, True)
    queue = BatchQueue(judgments, first)
    assert queue.next(ana) == "k4", "the pair reserved before the upgrade"
    assert queue.next(bo) == "k2", "what Bo had reserved has lapsed; k0 is judged, k1 put aside"
    queue.give(ana, "k4", "supports")
    assert queue.next(ana) == "k1", "taken back before the upgrade"
    assert judgments.undo(ana) == "k4"
    with judgments.reading() as connection:
        counts = text("SELECT pair, judged, split FROM batch_items WHERE batch_id = 1 ORDER BY pair")
        assert [tuple(row) for row in connection.execute(counts)] == [
            ("k0", 2, -1),
            ("k1", 0, 0),
            ("k2", 0, 0),
            ("k4", 0, 0),
        ]
    assert BatchQueue(judgments, second).next(ana) is None
    judgments.engine.dispose()


@pytest.mark.parametrize("server", ["database_url", pytest.param("postgres_url", marks=pytest.mark.postgres)])
def test_checks_join_a_database_whose_view_has_further_columns(server: str, request: pytest.FixtureRequest) -> None:
    """An earlier migration may have added a column to the view `present`: it stays, and so do the counters."""
    url = request.getfixturevalue(server)
    migrated(url, "0004")
    engine = create_engine(driver(url))
    with engine.begin() as connection:
        fill(connection)
        connection.execute(text("ALTER TABLE events ADD COLUMN later INTEGER"))
        columns_before = [column["name"] for column in inspect(connection).get_columns("present")]
        definition = "SELECT e.later, e.id, e.kind, e.verdict, e.pair, e.annotator_id FROM events e"
        connection.execute(text("DROP VIEW present"))
        connection.execute(text(f"CREATE VIEW present AS {definition}"))
        counted_before = connection.execute(text("SELECT pair, judged, split FROM batch_items ORDER BY id")).all()
    assert "later" not in columns_before
    judgments = Judgments.open(url)
    with engine.connect() as connection:
        names = [column["name"] for column in inspect(connection).get_columns("present")]
        assert names == ["later", "id", "kind", "verdict", "pair", "annotator_id"]
        counted = connection.execute(text("SELECT pair, judged, split FROM batch_items ORDER BY id")).all()
        assert counted == counted_before
        kinds = connection.execute(text("SELECT kind, COUNT(*) FROM present GROUP BY kind ORDER BY kind")).all()
        assert [tuple(row) for row in kinds] == [("judge", 4), ("prefer", 1), ("skip", 1), ("withdraw", 1)]
    engine.dispose()

    items = [CheckItem(f"v{n}", f"Document {n}.", f"View {n}.") for n in range(2)]
    batch = create_check_batch(judgments, "checks", "addresses", items, dataset="made", per_pair=5)
    for name, verdict in zip(("Ana", "Bo", "Cyd", "Di", "Eve"), ("yes", "no", "harmful", "harmful", "no"), strict=True):
        queue, person = BatchQueue(judgments, batch), judgments.sign_in(name)
        key = queue.next(person)
        assert key is not None
        queue.give(person, key, verdict)
    with judgments.reading() as connection:
        counts = text("SELECT judged, split FROM batch_items WHERE batch_id = :batch ORDER BY place")
        assert [tuple(row) for row in connection.execute(counts, {"batch": batch.id})] == [(5, -3), (0, 0)]
    judgments.engine.dispose()


@pytest.mark.parametrize("server", ["database_url", pytest.param("postgres_url", marks=pytest.mark.postgres)])
def test_undo_takes_back_what_was_done_before_the_upgrade(server: str, request: pytest.FixtureRequest) -> None:
    """The migration adds an index alone: rows and views stay, and the last actions are found in their order."""
    url = request.getfixturevalue(server)
    migrated(url, "0005")
    engine = create_engine(driver(url))
    with engine.begin() as connection:
        fill(connection)
        held = columns(connection)
        before = rows(connection, held)
    judgments = Judgments.open(url)
    with engine.connect() as connection:
        assert columns(connection) == held
        assert rows(connection, held) == before
        indexes = {index["name"]: index["column_names"] for index in inspect(connection).get_indexes("events")}
    engine.dispose()
    assert indexes["events_by_person"] == ["annotator_id", "id"]
    ana, bo = judgments.annotator("Ana"), judgments.annotator("Bo")
    # Ana's judgment of k1 was taken back before; an adjudication and a preference count as actions of a page.
    assert [judgments.undo(ana) for _ in range(6)] == ["k3", "k0", "k2", "k0", None, None]
    assert [judgments.undo(bo) for _ in range(6)] == ["k3", "k3", "k2", "k1", "k0", None]
    judgments.engine.dispose()


def fill(connection: Connection) -> None:
    """Words, skips, undos, an adjudication, two batches and what is reserved, as version 0002 wrote them."""
    tables = MetaData()
    tables.reflect(connection)

    def add(name: str, *rows: dict[str, Any]) -> None:
        connection.execute(tables.tables[name].insert(), list(rows))

    add("annotators", *({"name": n, "folded": n.lower(), "demo": n == "Cy", "at": AT} for n in ("Ana", "Bo", "Cy")))
    add("pairs", *({"key": key, **vars(record(n))} for n, key in enumerate(("k0", "k1", "k2", "k3", "k4"))))
    asked = {"at": AT, "made_by": "", "calibration": 0, "ordering": "batch", "seed": 0, "hold": 1800, "recipe": "{}"}
    add("batches", {"name": "first", "task": "judge", "per_pair": 2, "blind": True, **asked})
    add("batches", {"name": "second", "task": "prefer", "per_pair": 1, "blind": False, **asked})
    item = {"wanted": 2, "priority": 0.0, "probability": 0.25, "decision": False, "judged": 0, "split": 0}
    add("batch_items", *({"batch_id": 1, "pair": f"k{n}", "place": n, **item} for n in (0, 1, 2, 4)))
    add("batch_items", {"batch_id": 2, "pair": "k3", "place": 0, **item})
    add("batch_people", *({"batch_id": 1, "annotator_id": person} for person in (1, 2)))
    add("batch_events", {"batch_id": 2, "at": AT, "made_by": "Ana", "kind": "close"})
    names = ("annotator_id", "pair", "kind", "verdict", "target", "batch", "shown")
    rest = {"at": AT, "comment": "so", "source": "annotate", "seconds": 2.5}
    for row in BATCH_EVENTS:
        add("events", {"uid": str(uuid4()), **rest, **dict(zip(names, row, strict=True))})
    held = (("k4", 1, time.time() + 1000), ("k2", 2, time.time() - 10))
    add("reservations", *({"batch_id": 1, "pair": k, "annotator_id": who, "until": until} for k, who, until in held))
    add("sync_tasks", {"project": "p", "pair": "k0", "task": 7})
    add("sync_annotations", {"project": "p", "pair": "k0", "annotator_id": 1, "annotation": 3, "comment": "so"})


def columns(connection: Connection) -> dict[str, list[str]]:
    """The columns of every table and view."""
    seen = inspect(connection)
    names = [name for name in seen.get_table_names() if name != "alembic_version"]
    return {name: [column["name"] for column in seen.get_columns(name)] for name in (*names, *VIEWS)}


def rows(connection: Connection, of: dict[str, list[str]]) -> dict[str, set[str]]:
    """What stands in these columns."""
    return {
        name: {repr(tuple(row)) for row in connection.execute(text(f"SELECT {', '.join(kept)} FROM {name}"))}
        for name, kept in of.items()
    }
