"""Words that one person gave differently here and in Label Studio: the log keeps both, and says which one stands."""

from sqlalchemy import select

from berdseye.annotation.judgments import WORD_KINDS, Judgments, by_keys
from berdseye.annotation.label_studio.drift_report import Contested, Held
from berdseye.annotation.schema import annotators, events

_THERE = "label-studio"


def contested_words(judgments: Judgments, pairs: list[str] | None = None) -> tuple[Contested, ...]:
    """By pair and person, the last word given here and the last received from there, where the two differ.

    What was taken back by an undo is left out, and so are pairs on which neither word stands any more.
    """
    undo = events.alias()
    undone = select(undo.c.target).where(undo.c.kind == "undo", undo.c.target.is_not(None))
    query = (
        select(events, annotators.c.name)
        .join(annotators, annotators.c.id == events.c.annotator_id)
        .where(events.c.kind.in_(WORD_KINDS), events.c.id.not_in(undone))
        .order_by(events.c.id)
    )
    last: dict[tuple[str, str], dict[bool, Held]] = {}
    newest: dict[tuple[str, str], tuple[bool, bool]] = {}
    with judgments.reading() as connection:
        for part in by_keys(query, events.c.pair, pairs):
            for row in connection.execute(part):
                place, there = (row.pair, row.name), row.source == _THERE
                newest[place] = (there, row.verdict is not None)
                if row.verdict is not None:
                    last.setdefault(place, {})[there] = Held(row.verdict, row.comment.strip(), row.at)
    found = []
    for place, sides in last.items():
        there, stands = newest[place]
        if len(sides) < 2 or not stands:
            continue
        if (sides[False].verdict, sides[False].comment) != (sides[True].verdict, sides[True].comment):
            found.append(Contested(*place, sides[False], sides[True], "there" if there else "here"))
    return tuple(found)
