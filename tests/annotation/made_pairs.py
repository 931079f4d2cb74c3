"""Pairs made for tests: short, distinct, and the same at every call."""

from collections.abc import Sequence

import pandas as pd

from berdseye.annotation.judgments.log import PairRecord


def record(number: int, *, question: str = "Should cities ban cars?", perspective: str | None = None) -> PairRecord:
    return PairRecord(
        dataset="made",
        question_id="cars",
        question=question,
        perspective=f"Perspective {number}." if perspective is None else perspective,
        stance="supporting" if number % 2 == 0 else "opposing",
        corpus="web",
        title=f"Title {number}",
        passage=f"Passage {number}.",
        url=f"https://example.org/{number}",
    )


def long_form(*columns: Sequence[str | None]) -> pd.DataFrame:
    """Labels in long form from one sequence an annotator (a, b, c, …), item by item; None: no label."""
    rows = [
        (f"item {i:04d}", "abcdefgh"[who], label)
        for who, labels in enumerate(columns)
        for i, label in enumerate(labels)
        if label is not None
    ]
    return pd.DataFrame(rows, columns=["item", "annotator", "label"])
