"""Batches with their reservations, adjudication beside people's own words, and which batch a word was given in."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"

STANDS = "NOT EXISTS (SELECT 1 FROM events u WHERE u.kind = 'undo' AND u.target = {0}.id)"
WORDS = "('judge', 'prefer', 'skip', 'withdraw')"

RECOUNT = """
UPDATE batch_items SET
    judged = (SELECT COUNT(*) FROM batch_words w WHERE w.batch_id = batch_items.batch_id AND w.pair = batch_items.pair),
    split = (
        SELECT CASE WHEN t.yes < t.no THEN -t.yes ELSE -t.no END
        FROM (
            SELECT COUNT(CASE WHEN w.verdict IN ('supports', 'first') THEN 1 END) AS yes,
                   COUNT(CASE WHEN w.verdict IN ('does not support', 'second') THEN 1 END) AS no
            FROM batch_words w WHERE w.batch_id = batch_items.batch_id AND w.pair = batch_items.pair
        ) t
    )
WHERE pair = NEW.pair
"""


def upgrade() -> None:
    op.execute("DROP VIEW present")
    op.add_column("events", sa.Column("batch", sa.Integer))
    op.execute(
        f"""
        CREATE VIEW present AS
        SELECT id, uid, at, annotator_id, pair, kind, verdict, comment, source, seconds, shown, batch
        FROM (
            SELECT e.*, ROW_NUMBER() OVER (PARTITION BY e.annotator_id, e.pair ORDER BY e.id DESC) AS newest
            FROM events e
            WHERE e.kind IN {WORDS} AND {STANDS.format("e")}
        ) standing
        WHERE newest = 1
        """
    )
    op.execute(
        f"""
        CREATE VIEW adjudicated AS
        SELECT id, uid, at, annotator_id, pair, verdict, comment
        FROM (
            SELECT e.*, ROW_NUMBER() OVER (PARTITION BY e.pair ORDER BY e.id DESC) AS newest
            FROM events e
            WHERE e.kind = 'adjudicate' AND {STANDS.format("e")}
        ) standing
        WHERE newest = 1
        """
    )
    op.create_table(
        "batches",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("name", sa.String(64), nullable=False, unique=True),
        sa.Column("at", sa.String(32), nullable=False),
        sa.Column("made_by", sa.String(120), nullable=False),
        sa.Column("task", sa.String(12), nullable=False),
        sa.Column("per_pair", sa.Integer, nullable=False),
        sa.Column("calibration", sa.Integer, nullable=False),
        sa.Column("ordering", sa.String(16), nullable=False),
        sa.Column("blind", sa.Boolean, nullable=False),
        sa.Column("seed", sa.Integer, nullable=False),
        sa.Column("hold", sa.Integer, nullable=False),
        sa.Column("recipe", sa.Text, nullable=False),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "batch_items",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("batch_id", sa.Integer, sa.ForeignKey("batches.id"), nullable=False),
        sa.Column("pair", sa.String(32), sa.ForeignKey("pairs.key"), nullable=False),
        sa.Column("place", sa.Integer, nullable=False),
        sa.Column("wanted", sa.Integer, nullable=False),
        sa.Column("priority", sa.Float, nullable=False),
        sa.Column("probability", sa.Float),
        sa.Column("decision", sa.Boolean),
        sa.Column("judged", sa.Integer, nullable=False),
        sa.Column("split", sa.Integer, nullable=False),
        sa.UniqueConstraint("batch_id", "pair"),
    )
    op.create_index("batch_items_by_pair", "batch_items", ["pair"])
    unfilled = sa.text("judged < wanted")
    for name, columns in {
        "batch_items_open": ["batch_id", "priority", "place"],
        "batch_items_disputed": ["batch_id", "split", "priority", "place"],
    }.items():
        op.create_index(name, "batch_items", columns, sqlite_where=unfilled, postgresql_where=unfilled)
    op.create_table(
        "batch_people",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("batch_id", sa.Integer, sa.ForeignKey("batches.id"), nullable=False),
        sa.Column("annotator_id", sa.Integer, sa.ForeignKey("annotators.id"), nullable=False),
        sa.UniqueConstraint("batch_id", "annotator_id"),
    )
    op.create_table(
        "batch_events",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("batch_id", sa.Integer, sa.ForeignKey("batches.id"), nullable=False),
        sa.Column("at", sa.String(32), nullable=False),
        sa.Column("made_by", sa.String(120), nullable=False),
        sa.Column("kind", sa.String(12), nullable=False),
        sqlite_autoincrement=True,
    )
    op.create_index("batch_events_by_batch", "batch_events", ["batch_id", "id"])
    op.create_table(
        "reservations",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("batch_id", sa.Integer, sa.ForeignKey("batches.id"), nullable=False),
        sa.Column("pair", sa.String(32), sa.ForeignKey("pairs.key"), nullable=False),
        sa.Column("annotator_id", sa.Integer, sa.ForeignKey("annotators.id"), nullable=False),
        sa.Column("until", sa.Float, nullable=False),
        sa.UniqueConstraint("batch_id", "pair", "annotator_id"),
    )
    op.create_index("reservations_by_person", "reservations", ["batch_id", "annotator_id"])
    # Whose words fill a batch: those of its people (of anyone, where it names none), given blind where it is blind.
    op.execute(
        f"""
        CREATE VIEW batch_words AS
        SELECT i.batch_id, i.pair, e.annotator_id, e.id AS event, e.verdict
        FROM batch_items i
        JOIN batches b ON b.id = i.batch_id
        JOIN events e ON e.pair = i.pair
        JOIN annotators a ON a.id = e.annotator_id
        WHERE e.kind = CASE WHEN b.task = 'prefer' THEN 'prefer' ELSE 'judge' END
          AND NOT a.demo
          AND NOT (b.blind AND COALESCE(e.shown, FALSE))
          AND (NOT EXISTS (SELECT 1 FROM batch_people p WHERE p.batch_id = b.id)
               OR EXISTS (SELECT 1 FROM batch_people p WHERE p.batch_id = b.id AND p.annotator_id = e.annotator_id))
          AND {STANDS.format("e")}
          AND NOT EXISTS (
              SELECT 1 FROM events f
              WHERE f.annotator_id = e.annotator_id AND f.pair = e.pair AND f.id > e.id AND f.kind IN {WORDS}
                AND {STANDS.format("f")}
          )
        """
    )
    # Counted whoever writes: a word given on another page or pulled from Label Studio fills a batch as well.
    if op.get_bind().dialect.name == "sqlite":
        op.execute(
            f"""
            CREATE TRIGGER batch_recount AFTER INSERT ON events
            WHEN NEW.kind NOT IN ('flag', 'adjudicate')
            BEGIN {RECOUNT}; END
            """
        )
        return
    # The rows are locked by a statement of their own, so that the next one sees what the writer before has committed.
    op.execute(
        f"""
        CREATE FUNCTION batch_recount() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
            PERFORM 1 FROM batch_items WHERE pair = NEW.pair ORDER BY id FOR UPDATE;
            IF FOUND THEN {RECOUNT}; END IF;
            RETURN NULL;
        END $$
        """
    )
    op.execute(
        """
        CREATE TRIGGER batch_recount AFTER INSERT ON events
        FOR EACH ROW WHEN (NEW.kind NOT IN ('flag', 'adjudicate')) EXECUTE FUNCTION batch_recount()
        """
    )


def downgrade() -> None:
    raise NotImplementedError("Adjudications and batches are people's work, and are not thrown away.")
