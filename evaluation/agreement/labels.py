"""The labels that agreement is computed over: people's present words and, as one rater more, a detector's."""

import pandas as pd

from berdseye.annotation.adjudication import gold_words
from berdseye.annotation.agreement.rules import AGAINST, SUPPORTS, UNSURE
from berdseye.annotation.agreement.stored import ABOUT, stored_labels
from berdseye.annotation.judgments import Judgments
from berdseye.data.labels import LabelStore
from berdseye.data.records import Pair
from berdseye.data.workspace import Workspace
from berdseye.detectors.labelling import label
from berdseye.detectors.protocol import Detector

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
    return {pair: word == SUPPORTS for pair, word in gold_words(judgments).items() if word != UNSURE}


def _supports(workspace: Workspace, judgments: Judgments, detector: Detector, keys: list[str]) -> list[bool]:
    """Whether the detector says a pair supports; texts are read of those pairs alone that have no label yet."""
    store = LabelStore(workspace)
    known = dict(zip(keys, store.get(detector.name, keys, detector.version).tolist(), strict=True))
    unknown = [key for key, probability in known.items() if probability != probability]
    records = judgments.pair_records(unknown) if unknown else {}
    pairs = [Pair(r.passage, r.perspective, r.title) for r in records.values()]
    known.update(zip(records, label(store, detector, pairs).tolist() if pairs else [], strict=True))
    return [known[key] >= detector.threshold for key in keys]
