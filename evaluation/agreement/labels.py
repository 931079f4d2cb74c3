"""The labels that agreement is computed over: people's present words and, as one rater more, a detector's.

The present labels of a judgments database in long form, without the texts: what statistics need, and nothing slow to read.
"""

import pandas as pd
from sqlalchemy import select

from berdseye.annotation.judgments.adjudication import adjudicated_labels
from berdseye.annotation.judgments.database import frame_of
from berdseye.annotation.judgments.log import Judgments
from berdseye.annotation.judgments.schema import annotators, batch_items, batches, pairs, present
from berdseye.data.labels import LabelStore
from berdseye.data.records import Pair
from berdseye.data.workspace import Workspace
from berdseye.detectors.labelling import label
from berdseye.detectors.protocol import Detector
from berdseye.evaluation.agreement.alignment import AGAINST, SKIPPED, SUPPORTS, UNSURE

ABOUT = ("dataset", "question_id", "corpus", "stance")
COLUMNS = ("item", "annotator", "label", "at", "shown", "demo", "guidelines", "arm", "decision", *ABOUT)


_EXPERIMENTS = (
    select(batch_items.c.batch_id, batch_items.c.pair, batch_items.c.decision)
    .join(batches, batches.c.id == batch_items.c.batch_id)
    .where(batches.c.shown_share.is_not(None), batch_items.c.decision.is_not(None))
)


def stored_labels(judgments: Judgments, *, demo: bool = True) -> pd.DataFrame:
    """Everyone's present verdicts, and pairs put aside as 'skipped', a row each: item (the pair's key), annotator, label, at,
    shown, demo, the version of the guidelines it was given under, and the data set, question, corpus and stance of the pair. Of
    words given in an experiment: its arm ('blind' or 'shown') and decision, the detector's label; else None.

    `demo` False leaves out the made-up annotators.
    """
    columns = [
        present.c[name] for name in ("pair", "annotator_id", "kind", "verdict", "at", "shown", "guidelines", "batch")
    ]
    words = select(*columns).where(present.c.kind.in_(("judge", "skip"))).order_by(present.c.id)
    with judgments.reading() as connection:
        found = frame_of(connection.execute(words)).rename(columns={"pair": "item"})
        people = {row.id: row for row in connection.execute(select(annotators))}
        about = frame_of(connection.execute(select(pairs.c.key, *(pairs.c[name] for name in ABOUT))))
        experiments = frame_of(connection.execute(_EXPERIMENTS))
    found["label"] = found["verdict"].where(found["kind"] == "judge", SKIPPED)
    found["annotator"] = found["annotator_id"].map({key: row.name for key, row in people.items()})
    found["demo"] = found["annotator_id"].map({key: bool(row.demo) for key, row in people.items()}).astype(bool)
    place = pd.Index(about["key"]).get_indexer(found["item"])
    for name in ABOUT:
        found[name] = about[name].to_numpy()[place]
    _set_arms(found, experiments)
    return (found if demo else found[~found["demo"]])[list(COLUMNS)].reset_index(drop=True)


def _set_arms(found: pd.DataFrame, experiments: pd.DataFrame) -> None:
    """Columns arm and decision, by the batch and pair of a word."""
    found["arm"] = found["decision"] = None
    if experiments.empty:
        return
    index = pd.MultiIndex.from_frame(experiments[["batch_id", "pair"]])
    place = index.get_indexer(pd.MultiIndex.from_frame(found[["batch", "item"]]))
    within = place >= 0
    said = experiments["decision"].astype(bool).map({True: SUPPORTS, False: AGAINST}).to_numpy(dtype=object)
    found.loc[within, "decision"] = said[place[within]]
    found.loc[within, "arm"] = found.loc[within, "shown"].map({True: "shown", False: "blind"})


DETECTOR = "detector "
"""What the name of a detector begins with among raters."""


def agreement_labels(
    workspace: Workspace, judgments: Judgments, detector: Detector | None, *, demo: bool = True
) -> pd.DataFrame:
    """Long-form labels (item, annotator, label, and what `stored_labels` tells of each); 'unsure' and 'skipped' are among them.

    The detector labels every pair that somebody judged, through the label cache.
    """
    people = stored_labels(judgments, demo=demo)
    if detector is None or people.empty:
        return people
    items = people.drop_duplicates("item")[["item", *ABOUT]].reset_index(drop=True)
    says = _supports(workspace, judgments, detector, items["item"].tolist())
    machine = items.assign(
        annotator=f"{DETECTOR}{detector.name}",
        label=[SUPPORTS if yes else AGAINST for yes in says],
        at=None,
        shown=None,
        demo=False,
    )
    return pd.concat([people, machine[[c for c in people.columns if c in machine.columns]]], ignore_index=True)


def adjudicated(judgments: Judgments) -> dict[str, bool]:
    """Whether each adjudicated pair supports; pairs of which nobody can tell are left out."""
    return {pair: word == SUPPORTS for pair, word in adjudicated_labels(judgments).items() if word != UNSURE}


def _supports(workspace: Workspace, judgments: Judgments, detector: Detector, keys: list[str]) -> list[bool]:
    """Whether the detector says a pair supports; texts are read of those pairs alone that have no label yet."""
    store = LabelStore(workspace)
    known = dict(zip(keys, store.get(detector.name, keys, detector.version).tolist(), strict=True))
    unknown = [key for key, probability in known.items() if probability != probability]
    records = judgments.pair_records(unknown) if unknown else {}
    pairs = [Pair(r.passage, r.perspective, r.title) for r in records.values()]
    known.update(zip(records, label(store, detector, pairs).tolist() if pairs else [], strict=True))
    return [known[key] >= detector.threshold for key in keys]
