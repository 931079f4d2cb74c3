"""Alignment of the labels of several raters by the key of the item, never by position.

A rule, which the caller chooses, says how 'unsure' verdicts and skipped pairs count; what it leaves out is counted.
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
COLUMNS = ("item", "annotator", "label")
Ints = npt.NDArray[np.int64]
Codes = npt.NDArray[np.int16]
Mask = npt.NDArray[np.bool_]
DuplicateRule = Literal["refuse", "last"]
DUPLICATE_RULES: tuple[DuplicateRule, ...] = ("refuse", "last")


class Rule(NamedTuple):
    """How 'unsure' verdicts and skipped pairs count; if skipped pairs count as unsure, the rule for 'unsure' applies to them."""

    unsure: UnsureRule = "left out"
    skipped: SkippedRule = "left out"

    @property
    def values(self) -> tuple[str, ...]:
        """The labels that can occur under the rule."""
        return (AGAINST, SUPPORTS, UNSURE) if self.unsure == "a third label" else (AGAINST, SUPPORTS)

    def __str__(self) -> str:
        return f"unsure is {self.unsure}, skipped is {self.skipped}"


class Counted(NamedTuple):
    """Labels after a rule, and the numbers of labels that it left out."""

    labels: pd.DataFrame
    unsure_left_out: int
    skipped_left_out: int


def counted(labels: pd.DataFrame, rule: Rule) -> Counted:
    """Apply a rule to the rows whose column `label` is 'unsure' or 'skipped', and return the labels that count."""
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


@dataclass(frozen=True)
class Aligned:
    """Labels as codes int16[n_items, n_raters], which are places in `values`; -1 where a rater did not label an item.

    `repeated` counts the labels that were replaced by a later label of the same rater on the same item.
    """

    items: tuple[str, ...]
    raters: tuple[str, ...]
    values: tuple[str, ...]
    codes: Codes
    repeated: int = 0

    def counts(self) -> Ints:
        """Count the raters who gave an item each value, int64[n_items, n_values]."""
        item, rater = np.nonzero(self.codes >= 0)
        k = len(self.values)
        counts = np.bincount(item * k + self.codes[item, rater], minlength=len(self.items) * k)
        return counts.reshape(len(self.items), k).astype(np.int64)

    def of_items(self, kept: Mask) -> "Aligned":
        """Return the labels of the items in a mask bool[n_items], with unchanged raters and values."""
        return replace(self, items=tuple(compress(self.items, kept.tolist())), codes=self.codes[kept])

    def of_raters(self, names: Sequence[str]) -> "Aligned":
        """Return the labels of the named raters, in this order, with unchanged items and values."""
        return replace(self, raters=tuple(names), codes=self.codes[:, [self.raters.index(name) for name in names]])


def aligned(
    labels: pd.DataFrame, values: Sequence[str] | None = None, *, duplicates: DuplicateRule = "refuse"
) -> Aligned:
    """Align long-form labels (columns item, annotator, label).

    `values` names the possible labels, by default those that occur; it may name labels that do not occur. An item that a rater
    labels twice is an error; with `duplicates` 'last', the later row counts, by the column `at` if it exists, otherwise by
    position. Raises `BadInputError` for missing columns, empty cells and unknown values.
    """
    missing = [c for c in COLUMNS if c not in labels.columns]
    if missing:
        raise BadInputError(
            f"The table has no column {', '.join(missing)}.", hint=f"Required columns: {', '.join(COLUMNS)}."
        )
    if duplicates == "last" and "at" in labels.columns:
        labels = labels.sort_values("at", kind="stable", na_position="first")
    coded = [_coded(labels[column]) for column in COLUMNS]
    empty = np.flatnonzero(np.any([codes < 0 for codes, _ in coded], axis=0))
    if len(empty):
        name = labels.index[empty[0]]
        first = name + 1 if isinstance(name, int | np.integer) else name
        raise BadInputError(
            f"{len(empty)} rows have an empty cell; the first is row {first}.", hint="Fill the cells or drop the rows."
        )
    (item, items), (rater, raters), (label, seen) = coded
    place = item * max(len(raters), 1) + rater
    _, last = np.unique(place[::-1], return_index=True)
    kept = len(place) - 1 - last
    if len(kept) < len(place) and duplicates == "refuse":
        twice = int(np.setdiff1d(np.arange(len(place)), kept)[0])
        raise BadInputError(
            f"{raters[rater[twice]]} labels item '{items[item[twice]]}' twice.",
            hint="Keep one label per item and annotator, or let the last label count.",
        )
    chosen = tuple(seen) if values is None else tuple(values)
    if unknown := sorted(set(seen) - set(chosen)):
        raise BadInputError(f"'{unknown[0]}' is not one of the labels.", hint=f"The labels are {', '.join(chosen)}.")
    codes = np.full((len(items), len(raters)), -1, dtype=np.int16)
    by_place = np.array([chosen.index(value) for value in seen], dtype=np.int16)
    if len(kept):
        codes[item[kept], rater[kept]] = by_place[label[kept]]
    return Aligned(tuple(items), tuple(raters), chosen, codes, len(place) - len(kept))


def _coded(column: pd.Series) -> tuple[Ints, list[str]]:
    """Return each cell's place in the sorted texts of a column, -1 for an empty cell, and these texts."""
    codes, values = pd.factorize(column)
    texts = [str(value) for value in values]
    names = sorted({text for text in texts if text.strip()})
    place = {name: i for i, name in enumerate(names)}
    mapped = np.array([*(place.get(text, -1) for text in texts), -1], dtype=np.int64)  # the last one is for code -1
    return mapped[codes], names
