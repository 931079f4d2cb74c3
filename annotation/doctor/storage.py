"""Whether the database is whole: its pages and indexes, and that what a row names is there."""

from collections.abc import Iterator
from functools import partial
from typing import Any

from sqlalchemy import Column, Connection, ForeignKey, Table, delete, exists, func, select, text

from berdseye.annotation.doctor.finding import Finding, some, within
from berdseye.annotation.judgments import now
from berdseye.annotation.schema import (
    annotators,
    batch_people,
    metadata,
    reservations,
    sync_annotations,
    sync_projects,
    sync_tasks,
)

_RESTORE = "restore the last backup beside it (`berdseye restore`), and compare."
_REMADE_ANYWAY = (batch_people.name, reservations.name, sync_annotations.name, sync_projects.name, sync_tasks.name)
"""Tables without anybody's word: a row there that leads nowhere can go."""


def integrity(connection: Connection) -> Iterator[Finding]:
    """SQLite's own check of its file; a PostgreSQL server checks its pages by itself."""
    if connection.dialect.name != "sqlite":
        return
    said = [str(row[0]) for row in connection.execute(text("PRAGMA integrity_check(100)"))]
    if said == ["ok"]:
        return
    if all("index" in line for line in said):
        yield Finding(
            "integrity",
            f"{len(said)} entries of indexes are wrong: {some(said)}.",
            "makes all indexes anew from the rows, which are whole.",
            within(lambda writing: writing.execute(text("REINDEX"))),
        )
        return
    yield Finding("integrity", f"The file is damaged: {some(said)}.", _RESTORE)


def references(connection: Connection) -> Iterator[Finding]:
    """Rows that name a pair, person or batch which is not there."""
    for table in metadata.sorted_tables:
        for column in table.columns:
            for key in column.foreign_keys:
                yield from _dangling(connection, table, column, key)


def _dangling(connection: Connection, table: Table, column: Column[object], key: ForeignKey) -> Iterator[Finding]:
    parent = key.column
    leads_nowhere = column.is_not(None) & ~exists().where(parent == column)
    query = select(column, func.count()).where(leads_nowhere).group_by(column)
    found: dict[Any, int] = {row[0]: int(row[1]) for row in connection.execute(query)}
    if not found:
        return
    said = (
        f"{sum(found.values())} rows of {table.name} name {some([str(one) for one in found])}, not in {parent.table}."
    )
    if table.name in _REMADE_ANYWAY:
        cure = "drops these rows, which hold nobody's word."
        yield Finding(
            "references", said, cure, within(lambda writing: writing.execute(delete(table).where(leads_nowhere)))
        )
    elif parent.table is annotators:
        cure = "gives each of these people a name again, so that their words are seen."
        yield Finding("references", said, cure, within(partial(_name_people, numbers=list(found))))
    else:
        yield Finding("references", said, _RESTORE)


def _name_people(connection: Connection, numbers: list[int]) -> None:
    rows = [
        {"id": n, "name": f"Unknown person {n}", "folded": f"unknown person {n}", "demo": False, "at": now()}
        for n in dict.fromkeys(numbers)
    ]
    known = set(connection.execute(select(annotators.c.id)).scalars())
    if new := [row for row in rows if row["id"] not in known]:
        connection.execute(annotators.insert(), new)
