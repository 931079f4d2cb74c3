"""Two rankings of one question side by side: how passages move, and which of them only one has."""

from collections.abc import Hashable, Sequence

import numpy as np
import pandas as pd

from berdseye.data.records import Passage


def names_of(passages: Sequence[Passage], *, by_text: bool) -> list[Hashable]:
    """What the passages of a ranking are known by in another: their ids or, over two corpora, their texts.

    The second passage of a ranking with one text is that text's second, and so on.
    """
    if not by_text:
        return [p.id for p in passages]
    seen: dict[str, int] = {}
    names: list[Hashable] = []
    for passage in passages:
        text = " ".join(passage.text.split())
        seen[text] = seen.get(text, 0) + 1
        names.append((text, seen[text]))
    return names


def rank_moves(first: Sequence[Hashable], second: Sequence[Hashable]) -> pd.DataFrame:
    """Where each passage of two rankings of one question stands, passages by their names, best first.

    Columns: passage, first, second (ranks from 1; NaN where a ranking does not have it).
    """
    places: dict[Hashable, dict[str, float]] = {}
    for column, ranked in (("first", first), ("second", second)):
        for rank, passage in enumerate(ranked, start=1):
            places.setdefault(passage, {})[column] = rank
    rows = [
        {"passage": p, "first": at.get("first", np.nan), "second": at.get("second", np.nan)} for p, at in places.items()
    ]
    return pd.DataFrame(rows, columns=["passage", "first", "second"])
