"""An index of each person's events in their order: the last one, which undo takes back, is found without reading the others."""

from alembic import op

revision = "0006"
down_revision = "0005"


def upgrade() -> None:
    op.create_index("events_by_person", "events", ["annotator_id", "id"])


def downgrade() -> None:
    op.drop_index("events_by_person", "events")
