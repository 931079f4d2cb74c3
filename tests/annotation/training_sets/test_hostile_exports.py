"""Hostile comments, names and passages go through every export of judgments as text, and change nothing but text."""

import csv
import io
import json
import re

import pandas as pd
import pytest

from berdseye.annotation.judgments.log import Judgments, PairRecord
from berdseye.annotation.training_sets.labelling import training_data
from berdseye.data.files.tables import to_csv, to_jsonl, to_parquet
from tests.annotation.training_sets.hostile_texts import HOSTILE

COLUMNS = ["question", "title", "passage", "perspective", "url", "annotator"]


@pytest.fixture
def frame(judgments: Judgments) -> pd.DataFrame:
    for n, words in enumerate(HOSTILE):
        pair = PairRecord("d", words, words, f"{words}{n}", "supporting", "c", words, words, words)
        (key,) = judgments.add_pairs([pair])
        name = " ".join(words.split())[:80]
        person = judgments.sign_in(name if name.isprintable() else f"=Person {n}")
        judgments.judge(person, key, "supports", source="annotate", comment=words)
    return judgments.frame()


def test_every_text_comes_back_from_every_format(frame: pd.DataFrame) -> None:
    said = frame[[*COLUMNS, "comment"]].to_dict("records")
    assert [row["passage"] for row in said] == list(HOSTILE)
    lines = [json.loads(line) for line in to_jsonl(frame).decode().split("\n")[:-1]]
    assert [{name: row[name] for name in said[0]} for row in lines] == said
    assert pd.read_parquet(io.BytesIO(to_parquet(frame)))[list(said[0])].to_dict("records") == said
    rows = list(csv.DictReader(io.StringIO(to_csv(frame).decode(), newline="")))
    assert len(rows) == len(HOSTILE), "no text makes a row"
    for row, was in zip(rows, said, strict=True):
        for name, text in was.items():
            told = "nothing but apostrophes, before what a spreadsheet would compute"
            assert row[name].replace("'", "") == text.replace("'", ""), told
            assert not row[name].startswith(("=", "+", "-", "@", "\t", "\r"))


def test_training_data_is_as_many_rows_as_there_are_pairs(frame: pd.DataFrame) -> None:
    table = training_data(frame)
    assert table["passage"].tolist() == list(HOSTILE)
    assert table["label"].tolist() == [1] * len(HOSTILE)
    assert len(list(csv.reader(io.StringIO(to_csv(table).decode(), newline="")))) == len(HOSTILE) + 1


@pytest.mark.parametrize(
    "before", ["", " ", "\t", "\r", "\n", '"', "'", "\ufeff", "\u200b", "\x00", "a;", 'a,"', "a|", "a\t", "a\n", "a\r"]
)
def test_no_cell_and_no_part_of_one_begins_like_a_formula(before: str) -> None:
    """Also where a spreadsheet takes semicolons or tabs for separators and begins a cell there."""
    texts = [f"{before}{sign}1+1" for sign in "=+-@＝＋－＠﹢﹣"]
    content = to_csv(pd.DataFrame([texts], columns=texts)).decode()
    for row in csv.reader(io.StringIO(content, newline="")):
        for cell, text in zip(row, texts, strict=True):
            assert cell.replace("'", "") == text.replace("'", "")
            for part in re.split(r"[;,|\t\r\n]", cell):
                assert not re.match(rf"[\s\"\x00\u200b\ufeff]*[{re.escape('=+-@＝＋－＠﹢﹣')}]", part), (cell, part)


@pytest.mark.parametrize(
    "text", ["well-known", "a - b", "a, -5 degrees", "1+1=2", "ana@example.org", "A. - B.", "it's"]
)
def test_ordinary_text_stays_as_it_is(text: str) -> None:
    assert to_csv(pd.DataFrame({"text": [text]})).decode() == pd.DataFrame({"text": [text]}).to_csv(
        index=False, lineterminator="\r\n"
    )
