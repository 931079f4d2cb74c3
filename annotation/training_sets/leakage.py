"""Passages that stand in two splits of a training set, in the same words or nearly, and how that is mended.

A question has one split, but a passage is found for several questions: what was learned of it would be asked again.
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

Mend = Literal["drop", "move", "keep"]
MENDS: tuple[Mend, ...] = get_args(Mend)
_EXAMPLES = 5
_SHOWN = 120


@dataclass(frozen=True)
class Leakage:
    """What was found and done. `passages` by 'train and test' and so on; `pairs` dropped or moved; `examples` name some."""

    mend: Mend
    threshold: float
    same: dict[str, int]
    near: dict[str, int]
    pairs: int
    questions: int
    examples: list[dict[str, str]]

    @property
    def found(self) -> int:
        """Links between a passage of one split and one of another."""
        return sum(self.same.values()) + sum(self.near.values())

    def __str__(self) -> str:
        if not self.found:
            return "No passage stands in two splits, nor nearly."
        told = f"{sum(self.same.values())} passages stand in two splits, and {sum(self.near.values())} pairs nearly"
        match self.mend:
            case "drop":
                return f"{told}: {self.pairs} judged pairs were dropped, from train before dev before test."
            case "move":
                return f"{told}: {self.questions} questions ({self.pairs} judged pairs) were moved, from test to dev to train."
        return f"{told}: all were kept, so figures on test may flatter."


class Mended(NamedTuple):
    """The table without leaks (unless they were to be kept), and what was found."""

    table: pd.DataFrame
    leakage: Leakage


class _Link(NamedTuple):
    a: str
    b: str
    near: bool


def mended(table: pd.DataFrame, mend: Mend = "drop", threshold: float = DEFAULT_THRESHOLD) -> Mended:
    """Look for passages in two splits of `training_data`'s table, and mend that.

    'drop' leaves out the judged pairs of such a passage in the split that has more to spare (train, then dev), so that no
    question ever changes its split; 'move' puts all questions that share passages into one split, the first that any of them
    is in of train, dev and test, so that what was held out may be learned, and never the other way round; 'keep' only tells.
    """
    if mend not in MENDS:
        raise UnknownNameError("way to mend leaks", mend, MENDS)
    links = _links(table, threshold)
    place = {name: number for number, name in enumerate(SPLITS)}
    kept, changed, questions = table, 0, 0
    if links and mend == "drop":
        drop = _dropped(table, links, place)
        kept, changed = table[~drop].reset_index(drop=True), int(drop.sum())
        questions = table[drop]["question"].map(same_question).nunique()
    elif links and mend == "move":
        further = links
        while further:  # what is moved may leave a passage like it behind
            kept = kept.assign(split=_moved(kept, further, place))
            further = _links(kept, threshold)
        moved = kept["split"].to_numpy(dtype=object) != table["split"].to_numpy(dtype=object)
        changed = int(moved.sum())
        questions = table[moved]["question"].map(same_question).nunique()
    return Mended(kept, _told(table, links, mend, threshold, changed, questions))


def _links(table: pd.DataFrame, threshold: float) -> list[_Link]:
    """Passages in two splits: the same one (linked with itself), or two that nearly repeat one another."""
    splits = _splits(table)
    same = [_Link(text, text, False) for text, held in splits.items() if len(held) > 1]
    texts = list(splits)
    # A text in two splits has a side of its own, so that it is compared with those of either.
    sides = ["+".join(held) for held in splits.values()]
    return same + [_Link(texts[i], texts[j], True) for i, j in links_across(texts, sides, threshold)]


def _splits(table: pd.DataFrame) -> dict[str, list[str]]:
    """The splits that each passage stands in, in their order."""
    found: dict[str, list[str]] = {}
    for row in table.groupby(["passage", "split"], sort=False).size().reset_index().itertuples():
        found.setdefault(str(row.passage), []).append(str(row.split))
    return {passage: sorted(held, key=SPLITS.index) for passage, held in found.items()}


def _dropped(table: pd.DataFrame, links: list[_Link], place: dict[str, int]) -> npt.NDArray[np.bool_]:
    """Which rows go: of each link, those in the earlier split."""
    numbers = table["split"].map(place).to_numpy()
    rows = {text: np.asarray(held) for text, held in table.groupby("passage").indices.items()}
    gone = np.zeros(len(table), dtype=bool)
    for link in links:
        both = np.union1d(rows[link.a], rows[link.b])
        gone[both[numbers[both] < numbers[both].max()]] = True
    return gone


def _moved(table: pd.DataFrame, links: list[_Link], place: dict[str, int]) -> npt.NDArray[np.object_]:
    """The split of each row when questions that share passages stay together."""
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


def _told(
    table: pd.DataFrame, links: list[_Link], mend: Mend, threshold: float, changed: int, questions: int
) -> Leakage:
    splits = _splits(table)
    counted: dict[bool, Counter[str]] = {False: Counter(), True: Counter()}
    examples: list[dict[str, str]] = []
    for link in links:
        between = " and ".join(sorted({*splits[link.a], *splits[link.b]}, key=SPLITS.index))
        counted[link.near][between] += 1
        if len(examples) < _EXAMPLES:
            examples.append({"between": between, "passage": link.a[:_SHOWN], "resembles": link.b[:_SHOWN]})
    return Leakage(mend, threshold, dict(counted[False]), dict(counted[True]), changed, questions, examples)
