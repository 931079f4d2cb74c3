"""What still has to be sent to Label Studio."""

from sqlalchemy import Select, and_, or_, select, union_all
from sqlalchemy import func as sql

from annotation.judgments import Judgments
from annotation.schema import present, sync_annotations, sync_tasks


def waiting(judgments: Judgments, project: str | None = None) -> int:
    """How many judgments and withdrawals Label Studio has not confirmed; `project` is `Project.key`.

    Without one it is the project of the last exchange that made tasks; before the first, everything waits.
    """
    with judgments.engine.connect().execution_options(read_only=True) as connection:
        if project is None:
            project = str(connection.execute(_latest_project()).scalar() or "")
        places = _waiting(project).subquery()
        return int(connection.execute(select(sql.count()).select_from(places)).scalar_one())


def waiting_pairs(judgments: Judgments, project: str) -> list[str]:
    """The pairs on which something waits."""
    with judgments.engine.connect().execution_options(read_only=True) as connection:
        rows = connection.execute(_waiting(project)).all()
    return list(dict.fromkeys(row.pair for row in rows))


def _waiting(project: str) -> Select[tuple[str, int]]:
    base = (
        select(sync_annotations)
        .where(sync_annotations.c.project == project, sync_annotations.c.verdict.is_not(None))
        .subquery()
    )
    said = select(present).where(present.c.kind == "judge").subquery()
    same_place = and_(base.c.pair == said.c.pair, base.c.annotator_id == said.c.annotator_id)
    changed = (
        select(said.c.pair, said.c.annotator_id)
        .outerjoin(base, same_place)
        .where(
            or_(
                base.c.pair.is_(None),
                base.c.verdict != said.c.verdict,
                base.c.comment != sql.trim(said.c.comment),
            )
        )
    )
    withdrawn = select(base.c.pair, base.c.annotator_id).outerjoin(said, same_place).where(said.c.pair.is_(None))
    both = union_all(changed, withdrawn).subquery()
    return select(both.c.pair, both.c.annotator_id)


def _latest_project() -> Select[tuple[str]]:
    return select(sync_tasks.c.project).order_by(sync_tasks.c.id.desc()).limit(1)
