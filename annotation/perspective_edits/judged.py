"""What people have said of perspectives: reasons to edit them, and what an edit leaves behind."""

from collections.abc import Sequence
from typing import NamedTuple

from sqlalchemy import func, select

from berdseye.annotation.batch_progress import flags
from berdseye.annotation.judgments import Judgments
from berdseye.annotation.schema import pairs, present


class Attention(NamedTuple):
    """Of a perspective, how many present judgments there are, and who flagged its text, with their comments."""

    judgments: int
    flags: tuple[tuple[str, str], ...]


def attention(judgments: Judgments, perspectives: Sequence[str]) -> list[Attention]:
    """What there is of each perspective, by its text, in their order."""
    query = (
        select(pairs.c.perspective, func.count())
        .join_from(present, pairs, pairs.c.key == present.c.pair)
        .where(present.c.kind == "judge", pairs.c.perspective.in_(list(perspectives)))
        .group_by(pairs.c.perspective)
    )
    with judgments.reading() as connection:
        counts = {text: int(count) for text, count in connection.execute(query)}
    found = flags(judgments)
    told = list(zip(found["perspective"], found["annotator"], found["comment"], strict=True))
    return [
        Attention(counts.get(text, 0), tuple((who, why) for flagged, who, why in told if flagged == text))
        for text in perspectives
    ]
