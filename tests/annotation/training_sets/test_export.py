"""Tables in files: no spreadsheet finds a formula, and nothing is lost."""

import csv
import io
import json
import re
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from berdseye.annotation.judgments.log import Judgments
from berdseye.annotation.training_sets.labelling import training_data
from berdseye.data.errors import BadInputError
from berdseye.data.files.tables import to_csv, to_jsonl, to_parquet, write_table
from tests.annotation.made_pairs import record

FORMULAS = ["=1+1", "+1", "-1", "@SUM(A1)", "\tx", "\rx", "\nx", "＝1", "＋1", "－1", "＠A1", "=cmd|' /C calc'!A0"]
STARTS = tuple({formula[0] for formula in FORMULAS})
TEXTS = [
    "plain",
    "a,b",
    'say "hi"',
    "two\nlines",
    "carriage\rreturn",
    "👩🏽‍🔬",
    "هذا",
    "nul\x00inside",
    "'quoted",
    " x ",
    "",
]


def cells(content: bytes) -> list[list[str]]:
    return list(csv.reader(io.StringIO(content.decode("utf-8"), newline="")))


@pytest.mark.parametrize("formula", FORMULAS, ids=ascii)
def test_formulas_become_text_in_csv_and_stay_themselves_elsewhere(formula: str) -> None:
    frame = pd.DataFrame({"comment": [formula, "plain"], "n": [-1, 2]})
    assert cells(to_csv(frame)) == [["comment", "n"], [f"'{formula}", "-1"], ["plain", "2"]]
    assert frame["comment"][0] == formula
    assert pd.read_parquet(io.BytesIO(to_parquet(frame)))["comment"].tolist() == [formula, "plain"]
    assert json.loads(to_jsonl(frame).splitlines()[0]) == {"comment": formula, "n": -1}


def test_the_readme_names_every_sign_that_is_made_harmless() -> None:
    """And no other: each named one is."""
    page = (Path(__file__).parents[3] / "annotation" / "README.md").read_text(encoding="utf-8")
    told = page.partition("## CSV\n")[2]
    spelled = {"a tab": "\t", "a carriage return": "\r", "line feed": "\n"}
    signs = set(re.findall(r"`(.)`", told)) | {
        sign for name, sign in spelled.items() if name in told.replace("\n", " ")
    }
    texts = [f"{chr(code)}x" for code in range(0x10000) if not 0xD800 <= code < 0xE000]
    written = [cell for (cell,) in cells(to_csv(pd.DataFrame({"text": texts})))[1:]]
    assert {text[0] for text, cell in zip(texts, written, strict=True) if cell != text} == signs


@settings(deadline=None)
@given(st.lists(st.text(st.characters(exclude_categories=["Cs"])), min_size=1, max_size=5))
def test_any_text_stays_in_its_cell(texts: list[str]) -> None:
    frame = pd.DataFrame({"n": range(len(texts)), "text": pd.Series(texts, dtype=object)})
    rows = cells(to_csv(frame))[1:]
    assert [row[0] for row in rows] == [str(n) for n in range(len(texts))]
    for text, (_, cell) in zip(texts, rows, strict=True):
        # A sign within a cell, behind a separator, has an apostrophe too; nothing but apostrophes is ever added.
        assert cell.replace("'", "") == text.replace("'", "")
        assert cell.startswith("'") or not text.startswith(STARTS)
    assert pd.read_parquet(io.BytesIO(to_parquet(frame)))["text"].tolist() == texts
    assert [json.loads(line)["text"] for line in to_jsonl(frame).decode().split("\n")[:-1]] == texts


def test_numbers_and_what_is_missing_are_left_alone() -> None:
    frame = pd.DataFrame({"x": [-1.5, None], "shown": [True, None], "text": [None, "-"]})
    assert cells(to_csv(frame)) == [["x", "shown", "text"], ["-1.5", "True", ""], ["", "", "'-"]]


@pytest.mark.parametrize("name", ["table.csv", "table.parquet", "table.jsonl", "TABLE.CSV", "new/folder/table.parquet"])
def test_what_is_written_reads_back_equal(tmp_path: Path, name: str) -> None:
    frame = pd.DataFrame({"text": TEXTS, "n": range(len(TEXTS))})
    path = tmp_path / name
    write_table(frame, path)
    if path.suffix == ".jsonl":
        back = pd.DataFrame([json.loads(line) for line in path.read_text(encoding="utf-8").split("\n")[:-1]])
    elif path.suffix == ".parquet":
        back = pd.read_parquet(path)
    else:
        header, *rows = cells(path.read_bytes())
        back = pd.DataFrame(rows, columns=header).astype({"n": int})
    assert back["text"].tolist() == TEXTS
    assert back["n"].tolist() == list(range(len(TEXTS)))
    assert [p for p in path.parent.iterdir() if p.name.startswith(".")] == []


@pytest.mark.parametrize("name", ["table.xlsx", "table", "table.csv.gz"])
def test_an_unknown_ending_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(BadInputError, match=r"Use \.csv, \.parquet, \.jsonl"):
        write_table(pd.DataFrame({"x": [1]}), tmp_path / name)
    assert list(tmp_path.iterdir()) == []


def test_tables_without_rows_can_be_written(judgments: Judgments) -> None:
    for frame in (judgments.frame(), training_data(judgments.frame())):
        assert cells(to_csv(frame)) == [list(frame.columns)]
        assert list(pd.read_parquet(io.BytesIO(to_parquet(frame))).columns) == list(frame.columns)
        assert to_jsonl(frame) == b""


def test_judgments_and_training_data_go_through_every_format(judgments: Judgments, tmp_path: Path) -> None:
    keys = judgments.add_pairs(record(n, question="=Why, oh why?") for n in range(3))
    for name, shown in (("Ana", True), ("Bo", None)):
        for key in keys:
            judgments.judge(judgments.sign_in(name), key, "supports", source="annotate", shown=shown, seconds=0.125)
    frame = judgments.frame()
    write_table(frame, tmp_path / "judgments.parquet")
    back = pd.read_parquet(tmp_path / "judgments.parquet")
    assert back[["pair", "question", "seconds", "at"]].equals(frame[["pair", "question", "seconds", "at"]])
    assert back["shown"].tolist() == frame["shown"].tolist()
    table = training_data(frame)
    write_table(table, tmp_path / "training.jsonl")
    rows = [json.loads(line) for line in (tmp_path / "training.jsonl").read_text(encoding="utf-8").splitlines()]
    assert rows == table.to_dict("records")
    assert rows[0]["annotators"] == ["Ana", "Bo"]
    write_table(table, tmp_path / "training.parquet")
    assert pd.read_parquet(tmp_path / "training.parquet")["annotators"].map(list).tolist() == [["Ana", "Bo"]] * 3
    write_table(table, tmp_path / "training.csv")
    assert {row[COLUMN] for row in cells((tmp_path / "training.csv").read_bytes())[1:]} == {"'=Why, oh why?"}


COLUMN = 4
"""Place of the question in training data."""
