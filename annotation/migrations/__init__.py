"""Alembic migrations of the judgments database; run by `annotation.database.open_database`."""
