"""The labels that agreement is computed over: people's current verdicts and, as a further rater, the labels of a detector.

Labels are in long form, without the texts of pairs, so that they are fast to read.
"""

from collections.abc import Collection

import pandas as pd
from sqlalchemy import select

from berdseye.annotation.batches.progress import batch_frame
from berdseye.annotation.batches.stored import Batch
from berdseye.annotation.checks import MARK
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
DETECTOR = "detector "
"""The prefix of the names of detectors among raters."""


def stored_labels(judgments: Judgments, *, demo: bool = True) -> pd.DataFrame:
    """Return the current verdicts of all annotators, and skipped pairs with the label 'skipped', one row each; no checks.

    Columns: item (the pair's key), annotator, label, at, shown, demo, guidelines (the version under which the label was given),
    and dataset, question_id, corpus and stance of the pair. Judgments of an experiment have an arm ('blind' or 'shown') and a
    decision (the detector's label), others None. `demo` False omits the simulated annotators.
    """
    columns = [
        present.c[name] for name in ("pair", "annotator_id", "kind", "verdict", "at", "shown", "guidelines", "batch")
    ]
    verdicts = (
        select(*columns)
        .where(present.c.kind.in_(("judge", "skip")), ~present.c.pair.startswith(MARK))
        .order_by(present.c.id)
    )
    with judgments.reading() as connection:
        labels = frame_of(connection.execute(verdicts)).rename(columns={"pair": "item"})
        people = {row.id: row for row in connection.execute(select(annotators))}
        about = frame_of(connection.execute(select(pairs.c.key, *(pairs.c[name] for name in ABOUT))))
        experiments = frame_of(connection.execute(_EXPERIMENTS))
    labels["label"] = labels["verdict"].where(labels["kind"] == "judge", SKIPPED)
    labels["annotator"] = labels["annotator_id"].map({key: row.name for key, row in people.items()})
    labels["demo"] = labels["annotator_id"].map({key: bool(row.demo) for key, row in people.items()}).astype(bool)
    place = pd.Index(about["key"]).get_indexer(labels["item"])
    for name in ABOUT:
        labels[name] = about[name].to_numpy()[place]
    _set_arms(labels, experiments)
    return (labels if demo else labels[~labels["demo"]])[list(COLUMNS)].reset_index(drop=True)


def _set_arms(labels: pd.DataFrame, experiments: pd.DataFrame) -> None:
    """Set the columns arm and decision by the batch and the pair of each judgment."""
    labels["arm"] = labels["decision"] = None
    if experiments.empty:
        return
    index = pd.MultiIndex.from_frame(experiments[["batch_id", "pair"]])
    place = index.get_indexer(pd.MultiIndex.from_frame(labels[["batch", "item"]]))
    within = place >= 0
    decisions = experiments["decision"].astype(bool).map({True: SUPPORTS, False: AGAINST}).to_numpy(dtype=object)
    labels.loc[within, "decision"] = decisions[place[within]]
    labels.loc[within, "arm"] = labels.loc[within, "shown"].map({True: "shown", False: "blind"})


def agreement_labels(
    workspace: Workspace, judgments: Judgments, detector: Detector | None, *, demo: bool = True
) -> pd.DataFrame:
    """Return long-form labels with the columns of `stored_labels`; they include 'unsure' and 'skipped'.

    The detector, if there is one, labels every judged pair, through the label cache.
    """
    people = stored_labels(judgments, demo=demo)
    if detector is None or people.empty:
        return people
    items = people.drop_duplicates("item")[["item", *ABOUT]].reset_index(drop=True)
    supports = _supports(workspace, judgments, detector, items["item"].tolist())
    machine = items.assign(
        annotator=f"{DETECTOR}{detector.name}",
        label=[SUPPORTS if yes else AGAINST for yes in supports],
        at=None,
        shown=None,
        demo=False,
    )
    return pd.concat([people, machine[[c for c in people.columns if c in machine.columns]]], ignore_index=True)


def check_labels(judgments: Judgments, batch: Batch) -> pd.DataFrame:
    """Return the verdicts that count in a batch of checks as long-form labels, and skipped items with the label 'skipped'.

    Columns: item (the pair's key), annotator, label, at, guidelines, dataset and question_id.
    """
    frame = batch_frame(judgments, batch)
    about = frame.drop_duplicates("pair")[["pair", "dataset", "question_id"]]
    skips = (
        select(present.c.pair, annotators.c.name.label("annotator"), present.c.at, present.c.guidelines)
        .join(annotators, annotators.c.id == present.c.annotator_id)
        .where(present.c.kind == "skip", present.c.batch == batch.id, annotators.c.demo.is_(False))
        .order_by(present.c.id)
    )
    with judgments.reading() as connection:
        skipped = frame_of(connection.execute(skips)).assign(verdict=SKIPPED)
    given = frame.dropna(subset=["verdict"])[["pair", "annotator", "at", "guidelines", "verdict"]]
    labels = pd.concat([given, skipped], ignore_index=True) if len(skipped) else given
    labels = labels.merge(about, on="pair").rename(columns={"pair": "item", "verdict": "label"})
    return labels[["item", "annotator", "label", "at", "guidelines", "dataset", "question_id"]]


def labels_among(
    labels: pd.DataFrame, items: Collection[str] | None = None, people: Collection[str] = ()
) -> pd.DataFrame:
    """Return the labels of some items by some people: `items` None stands for all of them, and no `people` for everyone.

    A detector's labels stay for the items that these people labelled.
    """
    by_detector = labels["annotator"].str.startswith(DETECTOR)
    kept = labels["annotator"].isin(list(people)) if people else ~by_detector
    if items is not None:
        kept &= labels["item"].isin(list(items))
    judged = labels.loc[kept, "item"].unique()
    return labels[kept | (by_detector & labels["item"].isin(judged))].reset_index(drop=True)


def adjudicated(judgments: Judgments) -> dict[str, bool]:
    """Return the adjudicated label by pair (True: supports); pairs adjudicated as 'unsure' are omitted."""
    return {pair: verdict == SUPPORTS for pair, verdict in adjudicated_labels(judgments).items() if verdict != UNSURE}


def _supports(workspace: Workspace, judgments: Judgments, detector: Detector, keys: list[str]) -> list[bool]:
    """Return the detector's decision on each pair; only the texts of pairs without a cached label are read."""
    store = LabelStore(workspace)
    known = dict(zip(keys, store.get(detector.name, keys, detector.version).tolist(), strict=True))
    unknown = [key for key, probability in known.items() if probability != probability]
    records = judgments.pair_records(unknown) if unknown else {}
    pairs = [Pair(r.passage, r.perspective, r.title) for r in records.values()]
    known.update(zip(records, label(store, detector, pairs).tolist() if pairs else [], strict=True))
    return [known[key] >= detector.threshold for key in keys]
