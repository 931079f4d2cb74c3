"""Leaks: passages in two splits of a training set, identical or nearly identical, and their removal.

A question is in one split, but a passage can be retrieved for several questions: a detector trained on the passage would be
tested on it.
"""

from collections import Counter
from dataclasses import dataclass
from typing import Literal, NamedTuple, get_args

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from berdseye.data.datasets.stored import SPLITS, same_question
from berdseye.data.errors import UnknownNameError
from berdseye.data.texts.near_duplicates import DEFAULT_THRESHOLD, links_across

LeakHandling = Literal["drop", "move", "keep"]
LEAK_HANDLINGS: tuple[LeakHandling, ...] = get_args(LeakHandling)
_EXAMPLES = 5
_SHOWN = 120


@dataclass(frozen=True)
class Leakage:
    """The leaks of a training set, and what was done about them.

    `same` and `near` count identical and nearly identical passages by pair of splits ('train and test' and so on); `pairs` and
    `questions` were dropped or moved; `examples` lists up to five leaks.
    """

    handling: LeakHandling
    threshold: float
    same: dict[str, int]
    near: dict[str, int]
    pairs: int
    questions: int
    examples: list[dict[str, str]]

    @property
    def leaks(self) -> int:
        """The number of leaks: passages in two splits, and nearly identical passages in different splits."""
        return sum(self.same.values()) + sum(self.near.values())

    def __str__(self) -> str:
        if not self.leaks:
            return "No passage is in two splits, not even nearly."
        leaks = (
            f"{sum(self.same.values())} passages are in two splits, and {sum(self.near.values())} pairs of passages in "
            "different splits are nearly identical"
        )
        match self.handling:
            case "drop":
                return f"{leaks}: {self.pairs} judged pairs were dropped, from train before dev before test."
            case "move":
                return f"{leaks}: {self.questions} questions ({self.pairs} judged pairs) were moved, from test to dev to train."
        return f"{leaks}: all were kept, so measures on test may be too high."


class LeakFree(NamedTuple):
    """The table without leaks (unless they are kept), and the leaks that were found."""

    table: pd.DataFrame
    leakage: Leakage


class _Link(NamedTuple):
    a: str
    b: str
    near: bool


def without_leaks(
    table: pd.DataFrame, handling: LeakHandling = "drop", threshold: float = DEFAULT_THRESHOLD
) -> LeakFree:
    """Find passages in two splits of a table of `training_data`, and remove these leaks.

    'drop' removes the judged pairs of such a passage from the larger split (train, then dev), so that no question ever changes
    its split; 'move' puts all questions that share passages into one split, the first of train, dev and test that any of them
    is in, so that held-out questions may become training data but never the reverse; 'keep' only reports the leaks. Raises
    `UnknownNameError` for any other `handling`.
    """
    if handling not in LEAK_HANDLINGS:
        raise UnknownNameError("way to handle leaks", handling, LEAK_HANDLINGS)
    links = _links(table, threshold)
    place = {name: number for number, name in enumerate(SPLITS)}
    clean_table, changed, questions = table, 0, 0
    if links and handling == "drop":
        drop = _dropped(table, links, place)
        clean_table, changed = table[~drop].reset_index(drop=True), int(drop.sum())
        questions = table[drop]["question"].map(same_question).nunique()
    elif links and handling == "move":
        further = links
        while further:  # a moved passage may have nearly identical ones in the split that it left
            clean_table = clean_table.assign(split=_moved(clean_table, further, place))
            further = _links(clean_table, threshold)
        moved = clean_table["split"].to_numpy(dtype=object) != table["split"].to_numpy(dtype=object)
        changed = int(moved.sum())
        questions = table[moved]["question"].map(same_question).nunique()
    return LeakFree(clean_table, _leakage(table, links, handling, threshold, changed, questions))


def _links(table: pd.DataFrame, threshold: float) -> list[_Link]:
    """Return the leaks: a passage in two splits (linked with itself), or two nearly identical passages in different splits."""
    splits = _splits(table)
    same = [_Link(text, text, False) for text, names in splits.items() if len(names) > 1]
    texts = list(splits)
    # A text in two splits has a side of its own, so that it is compared with the texts of both.
    sides = ["+".join(names) for names in splits.values()]
    return same + [_Link(texts[i], texts[j], True) for i, j in links_across(texts, sides, threshold)]


def _splits(table: pd.DataFrame) -> dict[str, list[str]]:
    """Return the splits of each passage, in the order of `SPLITS`."""
    splits: dict[str, list[str]] = {}
    for row in table.groupby(["passage", "split"], sort=False).size().reset_index().itertuples():
        splits.setdefault(str(row.passage), []).append(str(row.split))
    return {passage: sorted(names, key=SPLITS.index) for passage, names in splits.items()}


def _dropped(table: pd.DataFrame, links: list[_Link], place: dict[str, int]) -> npt.NDArray[np.bool_]:
    """Return which rows are dropped, bool[n_rows]: of each leak, those in the earlier split."""
    numbers = table["split"].map(place).to_numpy()
    rows = {text: np.asarray(indices) for text, indices in table.groupby("passage").indices.items()}
    dropped = np.zeros(len(table), dtype=bool)
    for link in links:
        both = np.union1d(rows[link.a], rows[link.b])
        dropped[both[numbers[both] < numbers[both].max()]] = True
    return dropped


def _moved(table: pd.DataFrame, links: list[_Link], place: dict[str, int]) -> npt.NDArray[np.object_]:
    """Return the split of each row, str[n_rows], if questions that share passages stay together."""
    questions, of_row = np.unique(table["question"].map(same_question).to_numpy(dtype=str), return_inverse=True)
    rows = table.groupby("passage").indices
    edges = [
        (of_row[rows[link.a][0]], other)
        for link in links
        for other in {*of_row[rows[link.a]].tolist(), *of_row[rows[link.b]].tolist()}
    ]
    starts, ends = np.array(edges).T
    graph = coo_array((np.ones(len(edges)), (starts, ends)), shape=(len(questions), len(questions)))
    group = connected_components(graph, directed=False)[1][of_row]
    numbers = table["split"].map(place).to_numpy()
    first = pd.Series(numbers).groupby(group).transform("min").to_numpy()
    return np.asarray(np.array(SPLITS, dtype=object)[first], dtype=object)


def _leakage(
    table: pd.DataFrame, links: list[_Link], handling: LeakHandling, threshold: float, changed: int, questions: int
) -> Leakage:
    splits = _splits(table)
    counted: dict[bool, Counter[str]] = {False: Counter(), True: Counter()}
    examples: list[dict[str, str]] = []
    for link in links:
        between = " and ".join(sorted({*splits[link.a], *splits[link.b]}, key=SPLITS.index))
        counted[link.near][between] += 1
        if len(examples) < _EXAMPLES:
            examples.append({"between": between, "passage": link.a[:_SHOWN], "resembles": link.b[:_SHOWN]})
    return Leakage(handling, threshold, dict(counted[False]), dict(counted[True]), changed, questions, examples)
