"""Labelled files to measure detectors on, with the columns that their rows can be told apart by."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from data.labelled_pairs import LabelledPair, Split, read_labelled_pairs
from data.records import Pair

GROUPINGS = ("dataset", "corpus", "stance")
"""Columns of a file that its rows are sliced by, where it has them."""


class JudgedPair(NamedTuple):
    """A labelled pair with the name of its file; `dataset`, `corpus` and `stance` are empty where the file has none."""

    pair: Pair
    supports: bool
    question: str = ""
    split: Split = ""
    file: str = ""
    dataset: str = ""
    corpus: str = ""
    stance: str = ""


def read_judged_pairs(paths: Sequence[Path]) -> list[JudgedPair]:
    """The pairs of all files, file after file; raises `BadInputError` with the file and the line of a bad row."""
    return [row for path in paths for row in _read(path)]


def rows_to_test_on(rows: Sequence[JudgedPair]) -> list[JudgedPair]:
    """The rows of split test where any row names a split, and else all of them."""
    return [row for row in rows if row.split == "test"] if any(row.split for row in rows) else list(rows)


def rows_to_tune_on(rows: Sequence[JudgedPair]) -> list[JudgedPair]:
    """The rows of split dev where any row names a split, and else all of them."""
    return [row for row in rows if row.split == "dev"] if any(row.split for row in rows) else list(rows)


def intervals_over(rows: Sequence[JudgedPair]) -> list[str] | None:
    """What intervals are drawn over: questions, a row without one by itself; None where no row has a question."""
    if not any(row.question for row in rows):
        return None
    return [f"{row.dataset}\0{row.question}" if row.question else f"\0{i}" for i, row in enumerate(rows)]


def _read(path: Path) -> list[JudgedPair]:
    pairs = read_labelled_pairs(path)
    named = _columns(path, pairs)
    return [
        JudgedPair(
            row.pair, row.supports, row.question, row.split, path.name, *(named[column][i] for column in GROUPINGS)
        )
        for i, row in enumerate(pairs)
    ]


def _columns(path: Path, pairs: Sequence[LabelledPair]) -> dict[str, list[str]]:
    """The columns to slice by, in the order of `pairs`, from a file that was found to be good."""
    table = _table(path).rename(columns=lambda name: str(name).strip().lower())
    nothing = [""] * len(pairs)
    return {
        column: table[column].fillna("").astype(str).str.strip().tolist() if column in table else nothing
        for column in GROUPINGS
    }


def _table(path: Path) -> pd.DataFrame:
    kind = path.suffix.lower()
    if kind == ".parquet":
        return pd.read_parquet(path)
    text = path.read_bytes().decode("utf-8-sig")
    if kind == ".jsonl":
        return pd.DataFrame([json.loads(line) for line in text.split("\n") if line.strip()])
    lines = [held for line in text.split("\n") if (held := line.rstrip("\r"))]
    if kind == ".tsv" and len({line.count("\t") for line in lines}) == 1:  # then a quote is just a character
        header, *cells = (line.split("\t") for line in lines)
        return pd.DataFrame([[cell.strip('"') for cell in row] for row in cells], columns=header)
    separator = "\t" if kind == ".tsv" else ","
    return pd.read_csv(path, sep=separator, dtype=str, keep_default_na=False, encoding="utf-8-sig")
