"""The probability with which a pair was drawn, with each judgment; and the draws of batches whose order is a sampling."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"

STANDS = "NOT EXISTS (SELECT 1 FROM events u WHERE u.kind = 'undo' AND u.target = {0}.id)"
WORDS = "('judge', 'prefer', 'skip', 'withdraw')"


def upgrade() -> None:
    op.execute("DROP VIEW present")
    op.add_column("events", sa.Column("propensity", sa.Float))
    op.execute(
        f"""
        CREATE VIEW present AS
        SELECT e.id, e.uid, e.at, e.annotator_id, e.pair, e.kind, e.verdict, e.comment, e.source, e.seconds, e.shown, e.batch,
               e.evidence, e.guidelines, e.propensity
        FROM events e
        WHERE e.kind IN {WORDS} AND {STANDS.format("e")}
          AND NOT EXISTS (
              SELECT 1 FROM events f
              WHERE f.annotator_id = e.annotator_id AND f.pair = e.pair AND f.id > e.id AND f.kind IN {WORDS}
                AND {STANDS.format("f")}
          )
        """
    )
    op.add_column("batches", sa.Column("drawn_by", sa.String(12)))
    op.add_column("batch_items", sa.Column("unit", sa.Integer))
    op.add_column("batch_items", sa.Column("weight", sa.Float))
    op.add_column("batch_items", sa.Column("drawn", sa.Integer))
    op.add_column("batch_items", sa.Column("propensity", sa.Float))
    op.create_index("batch_items_by_draw", "batch_items", ["batch_id", "drawn"])
    undrawn = sa.text("drawn IS NULL AND unit IS NOT NULL")
    columns = ["batch_id", "priority", "unit", "weight", "judged", "wanted"]
    op.create_index("batch_items_undrawn", "batch_items", columns, sqlite_where=undrawn, postgresql_where=undrawn)


def downgrade() -> None:
    raise NotImplementedError("With what probability a judged pair was drawn cannot be found out again.")
