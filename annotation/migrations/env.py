"""Runs migrations over the connection that `annotation.database` hands in."""

from alembic import context

from annotation.schema import metadata

context.configure(connection=context.config.attributes["connection"], target_metadata=metadata)
with context.begin_transaction():
    context.run_migrations()
