"""The present labels of a judgments database in long form, without the texts: what statistics need, and nothing slow to read.

Which words stand is told here from the log itself, as the view `present` tells it and the tests compare: of 100,000 judgments the
view takes over a second, since it sorts whole events.
"""

from typing import Any

import pandas as pd
from sqlalchemy import CursorResult, select

from annotation.agreement.rules import SKIPPED
from annotation.judgments import Judgments
from annotation.schema import annotators, events, pairs

ABOUT = ("dataset", "question_id", "corpus", "stance")
_WORDS = ("judge", "prefer", "skip", "withdraw")
COLUMNS = ("item", "annotator", "label", "at", "shown", "demo", *ABOUT)


def stored_labels(judgments: Judgments, *, demo: bool = True) -> pd.DataFrame:
    """Everyone's present verdicts, and pairs put aside as 'skipped', a row each: item (the pair's key), annotator, label, at,
    shown, demo, and the data set, question, corpus and stance of the pair.

    Where judgments carry the version of the guidelines they were given under, there is a column `guidelines` too. `demo` False
    leaves out the made-up annotators.
    """
    columns = [events.c[name] for name in ("id", "pair", "annotator_id", "kind", "verdict", "at", "shown")]
    if "guidelines" in events.c:
        columns.append(events.c.guidelines)
    words = select(*columns).where(events.c.kind.in_(_WORDS)).order_by(events.c.id)
    with judgments.reading() as connection:
        said = _frame(connection.execute(words))
        undone = connection.execute(select(events.c.target).where(events.c.kind == "undo")).scalars().all()
        people = {row.id: row for row in connection.execute(select(annotators))}
        about = _frame(connection.execute(select(pairs.c.key, *(pairs.c[name] for name in ABOUT))))
    standing = said[~said["id"].isin(undone)].drop_duplicates(["annotator_id", "pair"], keep="last")
    found = standing[standing["kind"].isin(("judge", "skip"))].rename(columns={"pair": "item"})
    found["label"] = found["verdict"].where(found["kind"] == "judge", SKIPPED)
    found["annotator"] = found["annotator_id"].map({key: row.name for key, row in people.items()})
    found["demo"] = found["annotator_id"].map({key: bool(row.demo) for key, row in people.items()}).astype(bool)
    place = pd.Index(about["key"]).get_indexer(found["item"])
    for name in ABOUT:
        found[name] = about[name].to_numpy()[place]
    kept = [*COLUMNS, *(["guidelines"] if "guidelines" in found else [])]
    return (found if demo else found[~found["demo"]])[kept].reset_index(drop=True)


def _frame(result: CursorResult[Any]) -> pd.DataFrame:
    # As plain tuples: pandas asks each of SQLAlchemy's rows whether it is a dataclass, which takes longer than all the rest.
    return pd.DataFrame([tuple(row) for row in result], columns=list(result.keys()))
