"""People's addresses, guidelines and evidence, experiments with the detector's label shown, perspective edits, and the
exchange of single batches."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"

STANDS = "NOT EXISTS (SELECT 1 FROM events u WHERE u.kind = 'undo' AND u.target = {0}.id)"
WORDS = "('judge', 'prefer', 'skip', 'withdraw')"


def upgrade() -> None:
    op.add_column("annotators", sa.Column("email", sa.String(254)))
    op.add_column("annotators", sa.Column("subject", sa.String(300)))
    op.create_index("annotators_by_email", "annotators", ["email"], unique=True)
    op.create_index("annotators_by_subject", "annotators", ["subject"], unique=True)
    op.create_table(
        "guidelines",
        sa.Column("version", sa.String(16), primary_key=True),
        sa.Column("at", sa.String(32), nullable=False),
        sa.Column("made_by", sa.String(120), nullable=False),
        sa.Column("text", sa.Text, nullable=False),
    )
    op.create_table(
        "guidelines_in_use",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("at", sa.String(32), nullable=False),
        sa.Column("made_by", sa.String(120), nullable=False),
        sa.Column("task", sa.String(12), nullable=False),
        sa.Column("version", sa.String(16), sa.ForeignKey("guidelines.version"), nullable=False),
        sqlite_autoincrement=True,
    )
    op.add_column("batches", sa.Column("shown_share", sa.Float))
    op.add_column("batches", sa.Column("guidelines", sa.String(16)))
    op.execute("DROP VIEW present")
    op.add_column("events", sa.Column("evidence", sa.Text))
    op.add_column("events", sa.Column("guidelines", sa.String(16)))
    # By look-ups in the index events_by_person_and_pair: a window over the log sorts whole events, whatever is asked for.
    op.execute(
        f"""
        CREATE VIEW present AS
        SELECT e.id, e.uid, e.at, e.annotator_id, e.pair, e.kind, e.verdict, e.comment, e.source, e.seconds, e.shown, e.batch,
               e.evidence, e.guidelines
        FROM events e
        WHERE e.kind IN {WORDS} AND {STANDS.format("e")}
          AND NOT EXISTS (
              SELECT 1 FROM events f
              WHERE f.annotator_id = e.annotator_id AND f.pair = e.pair AND f.id > e.id AND f.kind IN {WORDS}
                AND {STANDS.format("f")}
          )
        """
    )
    op.create_table(
        "perspective_edits",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("uid", sa.String(36), nullable=False, unique=True),
        sa.Column("at", sa.String(32), nullable=False),
        sa.Column("annotator_id", sa.Integer, sa.ForeignKey("annotators.id"), nullable=False),
        sa.Column("dataset", sa.String(64), nullable=False),
        sa.Column("question_id", sa.Text, nullable=False),
        sa.Column("kind", sa.String(12), nullable=False),
        sa.Column("change", sa.Text, nullable=False),
        sa.Column("comment", sa.Text, nullable=False),
        sa.Column("target", sa.Integer),
        sqlite_autoincrement=True,
    )
    op.create_index("perspective_edits_by_dataset", "perspective_edits", ["dataset", "id"])
    op.create_table(
        "sync_projects",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("project", sa.String(300), nullable=False, unique=True),
        sa.Column("batch_id", sa.Integer, sa.ForeignKey("batches.id")),
        sa.Column("annotator_id", sa.Integer, sa.ForeignKey("annotators.id")),
        sa.Column("received_to", sa.String(40)),
        sa.Column("swept_at", sa.String(40)),
    )


def downgrade() -> None:
    raise NotImplementedError("Guidelines, evidence and perspective edits are people's work, and are not thrown away.")
