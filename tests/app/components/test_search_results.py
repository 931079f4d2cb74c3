"""The table of search results, which is what the download of *Search* has."""

import numpy as np
import pandas as pd

from berdseye.app.cached.searching import Item, Labels
from berdseye.app.components.search_results import results_table
from berdseye.data.records import Passage


def item(number: int, **ranks: int) -> Item:
    return Item("web", Passage(number, f"d{number}", "", f"text {number}"), 1.0, ranks)


def test_a_table_of_results_has_ranks_and_labels() -> None:
    items = [item(4, bm25=1, dense=3), item(7, dense=1), item(9, bm25=2)]
    labels = Labels(
        np.array([[1, 0], [np.nan, 1], [0, 0]], dtype=float), np.array([[0, 0], [0, 1], [0, 0]], dtype=bool)
    )
    table = results_table(items, [0, 1], labels)
    assert table["number"].tolist() == [1, 2]
    assert table["rank bm25"].tolist() == [1, pd.NA]
    assert table["rank dense"].tolist() == [3, 1]
    assert (table["P1"].tolist(), table["P2"].tolist()) == (["1", ""], ["0", "unsure"])
    assert table["text"].tolist() == ["text 4", "text 7"]
    assert "P1" not in results_table(items, [2], None)
    assert "rank dense" not in results_table(items, [2], None)
    assert results_table(items, [], None).empty
