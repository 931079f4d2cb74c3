"""A log that an earlier version wrote is opened by this one: every word stands as it stood, and new ones are added."""

import sqlite3
from pathlib import Path

from alembic import command
from alembic.config import Config
from sqlalchemy import create_engine

import annotation
from annotation.judgments import Judgments

EVENTS = [  # annotator, kind, verdict, comment, target
    (1, "judge", "supports", "yes", None),
    (2, "judge", "does not support", "", None),
    (1, "judge", "unsure", "on second thoughts", None),
    (2, "judge", "supports", "", None),
    (2, "undo", None, "", 4),
]


def first_schema(path: Path) -> None:
    """A database as version 0.1.0 made it, with a few words in it."""
    config = Config()
    config.set_main_option("script_location", str(Path(annotation.__file__).parent / "migrations"))
    engine = create_engine(f"sqlite:///{path}")
    with engine.connect() as connection:
        config.attributes["connection"] = connection
        command.upgrade(config, "0001")
        connection.commit()
    engine.dispose()
    with sqlite3.connect(path) as raw:
        for number, name in enumerate(("Ana", "Bo"), start=1):
            raw.execute("INSERT INTO annotators VALUES (?, ?, ?, 0, '2026-01-01')", (number, name, name.casefold()))
        raw.execute("INSERT INTO pairs VALUES ('k', 'd', 'q', 'Why?', 'So.', NULL, 'web', '', 'A passage.', '')")
        raw.executemany(
            "INSERT INTO events (uid, at, annotator_id, pair, kind, verdict, comment, source, target) "
            "VALUES (hex(randomblob(16)), '2026-01-01', ?, 'k', ?, ?, ?, 'annotate', ?)",
            EVENTS,
        )


def test_every_word_stands_and_new_ones_are_added(tmp_path: Path) -> None:
    path = tmp_path / "judgments.db"
    first_schema(path)
    with sqlite3.connect(path) as raw:
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
