"""Labels of several raters laid side by side by the key of the item, never by position.

What counts as a label where a person was unsure or put a pair aside: stated, chosen, and counted.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import compress
from typing import Literal, NamedTuple, get_args

import numpy as np
import numpy.typing as npt
import pandas as pd

from berdseye.data.errors import BadInputError

UnsureRule = Literal["left out", "a third label", "does not support"]
SkippedRule = Literal["left out", "unsure"]
UNSURE_RULES: tuple[UnsureRule, ...] = get_args(UnsureRule)
SKIPPED_RULES: tuple[SkippedRule, ...] = get_args(SkippedRule)
SUPPORTS, AGAINST, UNSURE, SKIPPED = "supports", "does not support", "unsure", "skipped"


class Rule(NamedTuple):
    """How 'unsure' and a skipped pair are counted; what is skipped may count as unsure, and then goes by that rule."""

    unsure: UnsureRule = "left out"
    skipped: SkippedRule = "left out"

    @property
    def values(self) -> tuple[str, ...]:
        """The labels there can be."""
        return (AGAINST, SUPPORTS, UNSURE) if self.unsure == "a third label" else (AGAINST, SUPPORTS)

    def __str__(self) -> str:
        return f"unsure is {self.unsure}, skipped is {self.skipped}"


class Counted(NamedTuple):
    """Labels after a rule, and how many it left out."""

    labels: pd.DataFrame
    unsure_left_out: int
    skipped_left_out: int


def counted(labels: pd.DataFrame, rule: Rule) -> Counted:
    """The labels that count: rows of column `label` that say 'unsure' or 'skipped' go as the rule says."""
    skipped = labels["label"] == SKIPPED
    if rule.skipped == "left out":
        kept, left = labels[~skipped], int(skipped.sum())
    else:
        kept, left = labels.assign(label=labels["label"].mask(skipped, UNSURE)), 0
    unsure = kept["label"] == UNSURE
    if rule.unsure == "left out":
        return Counted(kept[~unsure], int(unsure.sum()), left)
    if rule.unsure == "does not support":
        kept = kept.assign(label=kept["label"].mask(unsure, AGAINST))
    return Counted(kept, 0, left)


COLUMNS = ("item", "annotator", "label")
Ints = npt.NDArray[np.int64]
Codes = npt.NDArray[np.int16]
Mask = npt.NDArray[np.bool_]
DuplicateRule = Literal["refuse", "last"]
DUPLICATE_RULES: tuple[DuplicateRule, ...] = ("refuse", "last")


@dataclass(frozen=True)
class Aligned:
    """Labels as codes int16[n_items, n_raters], places in `values`; -1 where a rater gave an item none.

    `repeated` counts the labels that gave way to a later one of the same rater on the same item.
    """

    items: tuple[str, ...]
    raters: tuple[str, ...]
    values: tuple[str, ...]
    codes: Codes
    repeated: int = 0

    def counts(self) -> Ints:
        """How many raters gave an item each value, int64[n_items, n_values]."""
        item, rater = np.nonzero(self.codes >= 0)
        k = len(self.values)
        found = np.bincount(item * k + self.codes[item, rater], minlength=len(self.items) * k)
        return found.reshape(len(self.items), k).astype(np.int64)

    def of_items(self, kept: Mask) -> "Aligned":
        """The items of a mask bool[n_items], the same raters and values."""
        return replace(self, items=tuple(compress(self.items, kept.tolist())), codes=self.codes[kept])

    def of_raters(self, names: Sequence[str]) -> "Aligned":
        """The raters named, in that order; the same items and values."""
        return replace(self, raters=tuple(names), codes=self.codes[:, [self.raters.index(name) for name in names]])


def aligned(
    labels: pd.DataFrame, values: Sequence[str] | None = None, *, duplicates: DuplicateRule = "refuse"
) -> Aligned:
    """Long-form labels (columns item, annotator, label) side by side; `values` (those that occur) may name more than occur.

    An item that a rater labels twice is an error, or with `duplicates` 'last' the later row counts: later by the column `at`
    where there is one. Raises `BadInputError` for missing columns, empty cells and unknown values.
    """
    missing = [c for c in COLUMNS if c not in labels.columns]
    if missing:
        raise BadInputError(
            f"The table has no column {', '.join(missing)}.", hint=f"It needs the columns {', '.join(COLUMNS)}."
        )
    if duplicates == "last" and "at" in labels.columns:
        labels = labels.sort_values("at", kind="stable", na_position="first")
    coded = [_coded(labels[column]) for column in COLUMNS]
    empty = np.flatnonzero(np.any([codes < 0 for codes, _ in coded], axis=0))
    if len(empty):
        name = labels.index[empty[0]]
        first = name + 1 if isinstance(name, int | np.integer) else name
        raise BadInputError(f"{len(empty)} rows have an empty cell, first row {first}.", hint="Fill or drop them.")
    (item, items), (rater, raters), (label, seen) = coded
    place = item * max(len(raters), 1) + rater
    _, last = np.unique(place[::-1], return_index=True)
    kept = len(place) - 1 - last
    if len(kept) < len(place) and duplicates == "refuse":
        twice = int(np.setdiff1d(np.arange(len(place)), kept)[0])
        raise BadInputError(
            f"{raters[rater[twice]]} labels item '{items[item[twice]]}' twice.",
            hint="Keep one label an item and annotator, or let the last one count.",
        )
    chosen = tuple(seen) if values is None else tuple(values)
    if strange := sorted(set(seen) - set(chosen)):
        raise BadInputError(f"'{strange[0]}' is none of the labels.", hint=f"They are {', '.join(chosen)}.")
    codes = np.full((len(items), len(raters)), -1, dtype=np.int16)
    by_place = np.array([chosen.index(value) for value in seen], dtype=np.int16)
    if len(kept):
        codes[item[kept], rater[kept]] = by_place[label[kept]]
    return Aligned(tuple(items), tuple(raters), chosen, codes, len(place) - len(kept))


def _coded(column: pd.Series) -> tuple[Ints, list[str]]:
    """Places in the sorted texts of a column, -1 for an empty cell."""
    codes, found = pd.factorize(column)
    texts = [str(value) for value in found]
    names = sorted({text for text in texts if text.strip()})
    place = {name: i for i, name in enumerate(names)}
    mapped = np.array([*(place.get(text, -1) for text in texts), -1], dtype=np.int64)  # the last one is for code -1
    return mapped[codes], names
