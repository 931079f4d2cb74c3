"""The tables and views of the judgments database, as the newest migration leaves them."""

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
    text,
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
    Column("email", String(254)),
    Column("subject", String(300)),
    Index("annotators_by_email", "email", unique=True),
    Index("annotators_by_subject", "subject", unique=True),
)
"""`subject` identifies a person at a sign-in provider: the provider's address and its own identifier of the person."""

guidelines = Table(
    "guidelines",
    metadata,
    Column("version", String(16), primary_key=True),
    Column("at", String(32), nullable=False),
    Column("made_by", String(120), nullable=False),
    Column("text", Text, nullable=False),
)
"""`version` is a hash of the text."""

guidelines_in_use = Table(
    "guidelines_in_use",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("at", String(32), nullable=False),
    Column("made_by", String(120), nullable=False),
    Column("task", String(12), nullable=False),
    Column("version", String(16), ForeignKey("guidelines.version"), nullable=False),
    sqlite_autoincrement=True,
)
"""A log: the last row of each task names the guidelines shown with its pairs, unless a batch has its own."""

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
    Column("batch", Integer),
    Column("evidence", Text),
    Column("guidelines", String(16)),
    Column("propensity", Float),
    Index("events_by_person", "annotator_id", "id"),
    Index("events_by_person_and_pair", "annotator_id", "pair", "id"),
    Index("events_by_pair", "pair"),
    Index("events_undone", "target"),
    sqlite_autoincrement=True,
)
"""`evidence`: spans of the passage as a JSON list of [start, end), in characters; `guidelines`: the version that was shown;
`propensity`: the probability with which the batch drew the pair next, given everything drawn before; NULL: unknown."""

present = Table(
    "present",
    MetaData(),
    *(Column(c.name, c.type) for c in events.columns if c.name != "target"),
)

adjudicated = Table(
    "adjudicated",
    MetaData(),
    *(Column(name, events.c[name].type) for name in ("id", "uid", "at", "annotator_id", "pair", "verdict", "comment")),
)

batches = Table(
    "batches",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("name", String(64), nullable=False, unique=True),
    Column("at", String(32), nullable=False),
    Column("made_by", String(120), nullable=False),
    Column("task", String(12), nullable=False),
    Column("per_pair", Integer, nullable=False),
    Column("calibration", Integer, nullable=False),
    Column("ordering", String(16), nullable=False),
    Column("blind", Boolean, nullable=False),
    Column("seed", Integer, nullable=False),
    Column("hold", Integer, nullable=False),
    Column("recipe", Text, nullable=False),
    Column("shown_share", Float),
    Column("guidelines", String(16)),
    Column("drawn_by", String(12)),
    sqlite_autoincrement=True,
)
"""`hold`: seconds that a pair stays reserved. `shown_share`: in an experiment, the share of pairs judged with the detector's
label visible; NULL: no experiment. `drawn_by`: what the batch draws as a whole; NULL: its order is no sampling."""

_unfilled = text("judged < wanted")
_undrawn = text("drawn IS NULL AND unit IS NOT NULL")

batch_items = Table(
    "batch_items",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("batch_id", Integer, ForeignKey("batches.id"), nullable=False),
    Column("pair", String(32), ForeignKey("pairs.key"), nullable=False),
    Column("place", Integer, nullable=False),
    Column("wanted", Integer, nullable=False),
    Column("priority", Float, nullable=False),
    Column("probability", Float),
    Column("decision", Boolean),
    Column("judged", Integer, nullable=False),
    Column("split", Integer, nullable=False),
    Column("unit", Integer),
    Column("weight", Float),
    Column("drawn", Integer),
    Column("propensity", Float),
    UniqueConstraint("batch_id", "pair"),
    Index("batch_items_by_draw", "batch_id", "drawn"),
    Index(
        "batch_items_undrawn",
        "batch_id",
        "priority",
        "unit",
        "weight",
        "judged",
        "wanted",
        sqlite_where=_undrawn,
        postgresql_where=_undrawn,
    ),
    Index("batch_items_by_pair", "pair"),
    Index("batch_items_open", "batch_id", "priority", "place", sqlite_where=_unfilled, postgresql_where=_unfilled),
    Index(
        "batch_items_disputed",
        "batch_id",
        "split",
        "priority",
        "place",
        sqlite_where=_unfilled,
        postgresql_where=_unfilled,
    ),
)
"""A trigger keeps `judged` (the judgments that count) and `split` (minus the number of sure verdicts that are not the most
frequent one) in step with the log; the other columns never change, except those of the draws (annotation/batches/draws.py):
`unit` numbers what is drawn as a whole, `weight` (on the first pair of a unit) and `priority` are those of the next draw,
`drawn` is the number of the draw, and `propensity` its probability."""

batch_people = Table(
    "batch_people",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("batch_id", Integer, ForeignKey("batches.id"), nullable=False),
    Column("annotator_id", Integer, ForeignKey("annotators.id"), nullable=False),
    UniqueConstraint("batch_id", "annotator_id"),
)

batch_events = Table(
    "batch_events",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("batch_id", Integer, ForeignKey("batches.id"), nullable=False),
    Column("at", String(32), nullable=False),
    Column("made_by", String(120), nullable=False),
    Column("kind", String(12), nullable=False),
    Index("batch_events_by_batch", "batch_id", "id"),
    sqlite_autoincrement=True,
)

reservations = Table(
    "reservations",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("batch_id", Integer, ForeignKey("batches.id"), nullable=False),
    Column("pair", String(32), ForeignKey("pairs.key"), nullable=False),
    Column("annotator_id", Integer, ForeignKey("annotators.id"), nullable=False),
    Column("until", Float, nullable=False),
    UniqueConstraint("batch_id", "pair", "annotator_id"),
    Index("reservations_by_person", "batch_id", "annotator_id"),
)

batch_words = Table(
    "batch_words",
    MetaData(),
    Column("batch_id", Integer),
    Column("pair", String(32)),
    Column("annotator_id", Integer),
    Column("event", Integer),
    Column("verdict", String(16)),
)

perspective_edits = Table(
    "perspective_edits",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("uid", String(36), nullable=False, unique=True),
    Column("at", String(32), nullable=False),
    Column("annotator_id", Integer, ForeignKey("annotators.id"), nullable=False),
    Column("dataset", String(64), nullable=False),
    Column("question_id", Text, nullable=False),
    Column("kind", String(12), nullable=False),
    Column("change", Text, nullable=False),
    Column("comment", Text, nullable=False),
    Column("target", Integer),
    Index("perspective_edits_by_dataset", "dataset", "id"),
    sqlite_autoincrement=True,
)
"""A log, append-only like `events`: `change` is JSON, `target` the edit that is accepted, rejected or taken back."""

sync_projects = Table(
    "sync_projects",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("project", String(300), nullable=False, unique=True),
    Column("batch_id", Integer, ForeignKey("batches.id")),
    Column("annotator_id", Integer, ForeignKey("annotators.id")),
    Column("received_to", String(40)),
    Column("swept_at", String(40)),
)
"""The batch that a Label Studio project holds (and the person it is for), the moment up to which changes were pulled, and
when all of it was last read."""

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
