"""The labels that agreement is computed over: people's present verdicts and, as one annotator more, a detector's."""

from typing import Literal

import pandas as pd

from data.labels import LabelStore
from data.records import Pair
from data.workspace import Workspace
from detectors.labelling import label
from detectors.protocol import Detector

UnsureRule = Literal["left out", "a third label"]
UNSURE_RULES: tuple[UnsureRule, ...] = ("left out", "a third label")


def agreement_labels(
    workspace: Workspace, judgments: pd.DataFrame, detector: Detector | None, unsure: UnsureRule = "left out"
) -> pd.DataFrame:
    """Long-form labels (item, annotator, label) from `Judgments.frame()`; the detector labels every judged pair."""
    kept = judgments if unsure == "a third label" else judgments[judgments["verdict"] != "unsure"]
    people = kept[["pair", "annotator", "verdict"]].set_axis(["item", "annotator", "label"], axis=1)
    if detector is None or people.empty:
        return people
    texts = kept.drop_duplicates("pair")
    pairs = [Pair(*row) for row in texts[["passage", "perspective", "title"]].itertuples(index=False)]
    says = label(LabelStore(workspace), detector, pairs) >= detector.threshold
    machine = pd.DataFrame(
        {
            "item": texts["pair"].to_numpy(),
            "annotator": f"detector {detector.name}",
            "label": ["supports" if yes else "does not support" for yes in says],
        }
    )
    return pd.concat([people, machine], ignore_index=True)
