"""Labelled files to measure detectors on, with the columns that their rows can be told apart by."""

from collections.abc import Sequence
from pathlib import Path

from berdseye.data.labelled_pairs import LabelledPair, read_labelled_pairs

GROUPINGS = ("dataset", "corpus", "stance")
"""Columns of a file that its rows are sliced by, where it has them."""


def read_judged_pairs(paths: Sequence[Path]) -> list[LabelledPair]:
    """The pairs of all files, file after file; raises `BadInputError` with the file and the line of a bad row."""
    return [row for path in paths for row in read_labelled_pairs(path)]


def rows_to_test_on(rows: Sequence[LabelledPair]) -> list[LabelledPair]:
    """The rows of split test where any row names a split, and else all of them."""
    return [row for row in rows if row.split == "test"] if any(row.split for row in rows) else list(rows)


def rows_to_tune_on(rows: Sequence[LabelledPair]) -> list[LabelledPair]:
    """The rows of split dev where any row names a split, and else all of them."""
    return [row for row in rows if row.split == "dev"] if any(row.split for row in rows) else list(rows)


def intervals_over(rows: Sequence[LabelledPair]) -> list[str] | None:
    """What intervals are drawn over: questions, a row without one by itself; None where no row has a question."""
    if not any(row.question for row in rows):
        return None
    return [f"{row.dataset}\0{row.question}" if row.question else f"\0{i}" for i, row in enumerate(rows)]
