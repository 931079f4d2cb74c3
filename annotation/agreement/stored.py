"""The present labels of a judgments database in long form, without the texts: what statistics need, and nothing slow to read."""

import pandas as pd
from sqlalchemy import select

from annotation.agreement.rules import SKIPPED
from annotation.frames import frame_of
from annotation.judgments import Judgments
from annotation.schema import annotators, pairs, present

ABOUT = ("dataset", "question_id", "corpus", "stance")
COLUMNS = ("item", "annotator", "label", "at", "shown", "demo", "guidelines", *ABOUT)


def stored_labels(judgments: Judgments, *, demo: bool = True) -> pd.DataFrame:
    """Everyone's present verdicts, and pairs put aside as 'skipped', a row each: item (the pair's key), annotator, label, at,
    shown, demo, the version of the guidelines it was given under, and the data set, question, corpus and stance of the pair.

    `demo` False leaves out the made-up annotators.
    """
    columns = [present.c[name] for name in ("pair", "annotator_id", "kind", "verdict", "at", "shown", "guidelines")]
    words = select(*columns).where(present.c.kind.in_(("judge", "skip"))).order_by(present.c.id)
    with judgments.reading() as connection:
        found = frame_of(connection.execute(words)).rename(columns={"pair": "item"})
        people = {row.id: row for row in connection.execute(select(annotators))}
        about = frame_of(connection.execute(select(pairs.c.key, *(pairs.c[name] for name in ABOUT))))
    found["label"] = found["verdict"].where(found["kind"] == "judge", SKIPPED)
    found["annotator"] = found["annotator_id"].map({key: row.name for key, row in people.items()})
    found["demo"] = found["annotator_id"].map({key: bool(row.demo) for key, row in people.items()}).astype(bool)
    place = pd.Index(about["key"]).get_indexer(found["item"])
    for name in ABOUT:
        found[name] = about[name].to_numpy()[place]
    return (found if demo else found[~found["demo"]])[list(COLUMNS)].reset_index(drop=True)
