"""What people have said of the pairs of perspectives: reasons to edit them, and what an edit leaves behind."""

from collections.abc import Sequence

from sqlalchemy import func, select

from annotation.judgments import Judgments
from annotation.schema import pairs, present


def judgment_counts(judgments: Judgments, perspectives: Sequence[str]) -> dict[str, int]:
    """How many present judgments there are of pairs with each perspective, by its text; those without any are left out."""
    query = (
        select(pairs.c.perspective, func.count())
        .join_from(present, pairs, pairs.c.key == present.c.pair)
        .where(present.c.kind == "judge", pairs.c.perspective.in_(list(perspectives)))
        .group_by(pairs.c.perspective)
    )
    with judgments.reading() as connection:
        return {text: int(count) for text, count in connection.execute(query)}
