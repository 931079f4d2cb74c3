"""Annotators, pairs, the event log with its present state, and what Label Studio holds."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    op.create_table(
        "annotators",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("name", sa.String(120), nullable=False),
        sa.Column("folded", sa.String(120), nullable=False, unique=True),
        sa.Column("demo", sa.Boolean, nullable=False),
        sa.Column("at", sa.String(32), nullable=False),
    )
    op.create_table(
        "pairs",
        sa.Column("key", sa.String(32), primary_key=True),
        sa.Column("dataset", sa.String(64), nullable=False),
        sa.Column("question_id", sa.Text, nullable=False),
        sa.Column("question", sa.Text, nullable=False),
        sa.Column("perspective", sa.Text, nullable=False),
        sa.Column("stance", sa.String(12)),
        sa.Column("corpus", sa.String(64), nullable=False),
        sa.Column("title", sa.Text, nullable=False),
        sa.Column("passage", sa.Text, nullable=False),
        sa.Column("url", sa.Text, nullable=False),
    )
    op.create_table(
        "events",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("uid", sa.String(36), nullable=False, unique=True),
        sa.Column("at", sa.String(32), nullable=False),
        sa.Column("annotator_id", sa.Integer, sa.ForeignKey("annotators.id"), nullable=False),
        sa.Column("pair", sa.String(32), sa.ForeignKey("pairs.key"), nullable=False),
        sa.Column("kind", sa.String(12), nullable=False),
        sa.Column("verdict", sa.String(16)),
        sa.Column("comment", sa.Text, nullable=False),
        sa.Column("source", sa.String(16), nullable=False),
        sa.Column("target", sa.Integer),
        sa.Column("seconds", sa.Float),
        sa.Column("shown", sa.Boolean),
        sqlite_autoincrement=True,
    )
    op.create_index("events_by_person_and_pair", "events", ["annotator_id", "pair", "id"])
    op.create_index("events_by_pair", "events", ["pair"])
    op.create_index("events_undone", "events", ["target"])
    op.execute(
        """
        CREATE VIEW present AS
        SELECT id, uid, at, annotator_id, pair, kind, verdict, comment, source, seconds, shown
        FROM (
            SELECT e.*, ROW_NUMBER() OVER (PARTITION BY e.annotator_id, e.pair ORDER BY e.id DESC) AS newest
            FROM events e
            WHERE e.kind <> 'undo'
              AND NOT EXISTS (SELECT 1 FROM events u WHERE u.kind = 'undo' AND u.target = e.id)
        ) standing
        WHERE newest = 1
        """
    )
    op.create_table(
        "sync_tasks",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("project", sa.String(300), nullable=False),
        sa.Column("pair", sa.String(32), sa.ForeignKey("pairs.key"), nullable=False),
        sa.Column("task", sa.Integer, nullable=False),
        sa.UniqueConstraint("project", "pair"),
    )
    op.create_table(
        "sync_annotations",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("project", sa.String(300), nullable=False),
        sa.Column("pair", sa.String(32), sa.ForeignKey("pairs.key"), nullable=False),
        sa.Column("annotator_id", sa.Integer, sa.ForeignKey("annotators.id"), nullable=False),
        sa.Column("annotation", sa.Integer),
        sa.Column("verdict", sa.String(16)),
        sa.Column("comment", sa.Text, nullable=False),
        sa.UniqueConstraint("project", "pair", "annotator_id"),
    )


def downgrade() -> None:
    op.execute("DROP VIEW present")
    for table in ("sync_annotations", "sync_tasks", "events", "pairs", "annotators"):
        op.drop_table(table)
