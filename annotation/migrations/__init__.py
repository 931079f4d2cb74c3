"""Alembic migrations of the judgments database; run by `berdseye.annotation.judgments.database.open_database`."""
