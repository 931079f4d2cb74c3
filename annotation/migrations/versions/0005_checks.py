"""Checks of constructed data: verdicts of a kind of their own, which the views and the counters of batches know.

Only views and the trigger change. The columns of `present` are read from the view as it is, so that a column that an earlier
migration added to it stays.
"""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"

STANDS = "NOT EXISTS (SELECT 1 FROM events u WHERE u.kind = 'undo' AND u.target = {0}.id)"
WORDS = "('judge', 'prefer', 'check', 'skip', 'withdraw')"

# A verdict may be one of three or more: those that are not the most frequent one disagree with it.
RECOUNT = """
UPDATE batch_items SET
    judged = (SELECT COUNT(*) FROM batch_words w WHERE w.batch_id = batch_items.batch_id AND w.pair = batch_items.pair),
    split = (
        SELECT COALESCE(MAX(t.n) - SUM(t.n), 0)
        FROM (
            SELECT COUNT(*) AS n
            FROM batch_words w
            WHERE w.batch_id = batch_items.batch_id AND w.pair = batch_items.pair AND w.verdict NOT IN ('unsure', 'neither')
            GROUP BY w.verdict
        ) t
    )
WHERE pair = NEW.pair
"""


def upgrade() -> None:
    connection = op.get_bind()
    sqlite = connection.dialect.name == "sqlite"
    columns = [column["name"] for column in sa.inspect(connection).get_columns("present")]
    # SQLite compiles a trigger when it fires: it must not find the views gone in between.
    op.execute("DROP TRIGGER batch_recount" if sqlite else "DROP TRIGGER batch_recount ON events")
    op.execute("DROP VIEW present")
    op.execute("DROP VIEW batch_words")
    op.execute(
        f"""
        CREATE VIEW present AS
        SELECT {", ".join(f"e.{name}" for name in columns)}
        FROM events e
        WHERE e.kind IN {WORDS} AND {STANDS.format("e")}
          AND NOT EXISTS (
              SELECT 1 FROM events f
              WHERE f.annotator_id = e.annotator_id AND f.pair = e.pair AND f.id > e.id AND f.kind IN {WORDS}
                AND {STANDS.format("f")}
          )
        """
    )
    op.execute(
        f"""
        CREATE VIEW batch_words AS
        SELECT i.batch_id, i.pair, e.annotator_id, e.id AS event, e.verdict
        FROM batch_items i
        JOIN batches b ON b.id = i.batch_id
        JOIN events e ON e.pair = i.pair
        JOIN annotators a ON a.id = e.annotator_id
        WHERE e.kind = CASE WHEN b.task IN ('prefer', 'check') THEN b.task ELSE 'judge' END
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
    if sqlite:
        op.execute(
            f"""
            CREATE TRIGGER batch_recount AFTER INSERT ON events
            WHEN NEW.kind NOT IN ('flag', 'adjudicate')
            BEGIN {RECOUNT}; END
            """
        )
        return
    op.execute(
        f"""
        CREATE OR REPLACE FUNCTION batch_recount() RETURNS trigger LANGUAGE plpgsql AS $$
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
    raise NotImplementedError("Checks are people's work, and are not thrown away.")
