"""What still has to be sent to Label Studio."""

from sqlalchemy import ColumnElement, Select, and_, exists, or_, select, union_all
from sqlalchemy import func as sql

from berdseye.annotation.judgments import Judgments
from berdseye.annotation.label_studio.purpose import Purpose, batch_purposes, purpose_of
from berdseye.annotation.schema import present, sync_annotations, sync_projects, sync_tasks


def waiting(judgments: Judgments, project: str | None = None) -> int:
    """How many judgments and withdrawals Label Studio has not confirmed; `project` is `Project.key`.

    Without one it is the project of the workspace at the last exchange that made tasks (before the first, everything
    waits), and every project of a batch.
    """
    if project is not None:
        purposes = [purpose_of(judgments, project)]
    else:
        with judgments.reading() as connection:
            latest = str(connection.execute(_latest_project()).scalar() or "")
        purposes = [Purpose(latest), *batch_purposes(judgments)]
    with judgments.reading() as connection:
        counts = (select(sql.count()).select_from(_waiting(one).subquery()) for one in purposes)
        return sum(int(connection.execute(count).scalar_one()) for count in counts)


def waiting_pairs(judgments: Judgments, project: str) -> list[str]:
    """The pairs on which something waits."""
    purpose = purpose_of(judgments, project)
    with judgments.reading() as connection:
        rows = connection.execute(_waiting(purpose)).all()
    return list(dict.fromkeys(row.pair for row in rows))


def _waiting(purpose: Purpose) -> Select[tuple[str, int]]:
    base = (
        select(sync_annotations)
        .where(sync_annotations.c.project == purpose.project, sync_annotations.c.verdict.is_not(None))
        .subquery()
    )
    kind = "prefer" if purpose.task == "prefer" else "judge"
    said = select(present).where(present.c.kind == kind, belongs(purpose)).subquery()
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


def belongs(purpose: Purpose) -> ColumnElement[bool]:
    """Whether a present word has its place in the project: on a pair that it has a task for, or (the workspace's) may get."""
    here = exists().where(sync_tasks.c.project == purpose.project, sync_tasks.c.pair == present.c.pair)
    if purpose.batch is None:
        # A batch that was sent out has its own projects: a task here would show its pairs with predictions and others' words.
        elsewhere = exists().where(
            sync_projects.c.batch_id.is_not(None),
            sync_projects.c.project == sync_tasks.c.project,
            sync_tasks.c.pair == present.c.pair,
        )
        return or_(here, ~elsewhere)
    if purpose.person is None:
        return here
    known = exists().where(
        sync_annotations.c.project == purpose.project,
        sync_annotations.c.pair == present.c.pair,
        sync_annotations.c.annotator_id == present.c.annotator_id,
        sync_annotations.c.verdict.is_not(None),
    )
    return and_(here, or_(present.c.annotator_id == purpose.person, known))


def _latest_project() -> Select[tuple[str]]:
    of_batches = select(sync_projects.c.project).where(sync_projects.c.batch_id.is_not(None))
    query = select(sync_tasks.c.project).where(sync_tasks.c.project.not_in(of_batches))
    return query.order_by(sync_tasks.c.id.desc()).limit(1)
