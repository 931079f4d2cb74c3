"""Judged pairs as fine-tuning data for detectors."""

import pandas as pd

from data.splits import split_of

COLUMNS = (
    "pair",
    "passage",
    "title",
    "perspective",
    "question",
    "dataset",
    "label",
    "supports",
    "does_not_support",
    "unsure",
    "annotators",
    "split",
)


def training_data(judgments: pd.DataFrame, *, include_demo: bool = True) -> pd.DataFrame:
    """One row a pair: texts, label (1 supports, 0 does not; the majority of those who are sure), votes, annotators, split.

    `judgments` is `Judgments.frame()`. Ties and pairs nobody is sure of are left out. The split (80/10/10) is drawn from a
    hash of the question's text, so that no question stands in two splits, in this export or any later one.
    """
    rows = []
    kept = judgments if include_demo else judgments[~judgments["demo"].astype(bool)]
    for pair, votes in kept.groupby("pair", sort=False):
        counts = votes["verdict"].value_counts()
        yes, no = int(counts.get("supports", 0)), int(counts.get("does not support", 0))
        if yes == no:
            continue
        first = votes.iloc[0]
        rows.append(
            {
                "pair": pair,
                "passage": first["passage"],
                "title": first["title"],
                "perspective": first["perspective"],
                "question": first["question"],
                "dataset": first["dataset"],
                "label": int(yes > no),
                "supports": yes,
                "does_not_support": no,
                "unsure": int(counts.get("unsure", 0)),
                "annotators": sorted(votes["annotator"]),
                "split": split_of(first["question"]),
            }
        )
    return pd.DataFrame(rows, columns=list(COLUMNS))
