"""Alembic migrations of the judgments database; run by `berdseye.annotation.database.open_database`."""
