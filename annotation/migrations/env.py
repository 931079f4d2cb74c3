"""Runs migrations over the connection that `berdseye.annotation.judgments.database` hands in."""

from alembic import context

from berdseye.annotation.judgments.schema import metadata

context.configure(connection=context.config.attributes["connection"], target_metadata=metadata)
with context.begin_transaction():
    context.run_migrations()
