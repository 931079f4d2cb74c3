"""Tables of the judgments database, as the newest migration leaves them."""

from sqlalchemy import (
    Boolean,
    Column,
    Float,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    String,
    Table,
    Text,
    UniqueConstraint,
)

metadata = MetaData()

annotators = Table(
    "annotators",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("name", String(120), nullable=False),
    Column("folded", String(120), nullable=False, unique=True),
    Column("demo", Boolean, nullable=False),
    Column("at", String(32), nullable=False),
)

pairs = Table(
    "pairs",
    metadata,
    Column("key", String(32), primary_key=True),
    Column("dataset", String(64), nullable=False),
    Column("question_id", Text, nullable=False),
    Column("question", Text, nullable=False),
    Column("perspective", Text, nullable=False),
    Column("stance", String(12)),
    Column("corpus", String(64), nullable=False),
    Column("title", Text, nullable=False),
    Column("passage", Text, nullable=False),
    Column("url", Text, nullable=False),
)

events = Table(
    "events",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("uid", String(36), nullable=False, unique=True),
    Column("at", String(32), nullable=False),
    Column("annotator_id", Integer, ForeignKey("annotators.id"), nullable=False),
    Column("pair", String(32), ForeignKey("pairs.key"), nullable=False),
    Column("kind", String(12), nullable=False),
    Column("verdict", String(16)),
    Column("comment", Text, nullable=False),
    Column("source", String(16), nullable=False),
    Column("target", Integer),
    Column("seconds", Float),
    Column("shown", Boolean),
    Index("events_by_person_and_pair", "annotator_id", "pair", "id"),
    Index("events_by_pair", "pair"),
    Index("events_undone", "target"),
    sqlite_autoincrement=True,
)

present = Table(
    "present",
    MetaData(),
    *(Column(c.name, c.type) for c in events.columns if c.name != "target"),
)

sync_tasks = Table(
    "sync_tasks",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("project", String(300), nullable=False),
    Column("pair", String(32), ForeignKey("pairs.key"), nullable=False),
    Column("task", Integer, nullable=False),
    UniqueConstraint("project", "pair"),
)

sync_annotations = Table(
    "sync_annotations",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("project", String(300), nullable=False),
    Column("pair", String(32), ForeignKey("pairs.key"), nullable=False),
    Column("annotator_id", Integer, ForeignKey("annotators.id"), nullable=False),
    Column("annotation", Integer),
    Column("verdict", String(16)),
    Column("comment", Text, nullable=False),
    UniqueConstraint("project", "pair", "annotator_id"),
)
