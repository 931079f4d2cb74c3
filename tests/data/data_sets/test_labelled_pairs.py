"""Labelled pairs from files: what is read, and what is refused with its line."""

import json
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from berdseye.data.datasets.labelled_pairs import LabelledPair, file_hash, labelled_pairs_writer, read_labelled_pairs
from berdseye.data.errors import BadInputError
from berdseye.data.records import Pair

TEXTS = st.text(st.characters(blacklist_categories=("Cs", "Cc"), blacklist_characters="\u2028\u2029\x85"), min_size=1)
ROWS = st.lists(
    st.tuples(TEXTS, TEXTS, st.booleans()).filter(lambda r: bool(r[0].strip() and r[1].strip())), min_size=1, max_size=5
)


@given(ROWS)
def test_every_format_brings_back_what_was_written(
    tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[str, str, bool]]
) -> None:
    frame = pd.DataFrame([{"document": d, "perspective": p, "label": int(y)} for d, p, y in rows])
    folder = tmp_path_factory.mktemp("pairs")
    frame.to_csv(folder / "a.csv", index=False)
    frame.to_csv(folder / "a.tsv", index=False, sep="\t")
    frame.to_parquet(folder / "a.parquet")
    frame.to_json(folder / "a.jsonl", orient="records", lines=True)
    for name in ("a.csv", "a.tsv", "a.parquet", "a.jsonl"):
        assert [(r.pair.passage, r.pair.perspective, r.supports) for r in read_labelled_pairs(folder / name)] == rows


def written(tmp_path: Path, name: str, text: str) -> Path:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return path


def test_all_columns_are_read(tmp_path: Path) -> None:
    row = {
        "Passage": "p", "perspective": "v", "label": 1, "question": "q", "id": 7, "title": "t", "split": "Dev",
        "dataset": "d", "corpus": "c", "stance": "opposing", "retriever": "bm25", "other": [1],
    }  # fmt: skip
    path = written(tmp_path, "a.jsonl", json.dumps(row))
    assert read_labelled_pairs(path) == [
        LabelledPair(Pair("p", "v", "t"), True, "q", "7", "dev", "d", "c", "opposing", path.name, "bm25")
    ]


ANY_TEXT = st.text(st.characters(blacklist_categories=("Cs",), blacklist_characters="\0"), min_size=1)


@given(st.lists(st.tuples(ANY_TEXT, ANY_TEXT).filter(lambda r: all(t.strip() for t in r)), min_size=1, max_size=4))
def test_written_pairs_are_read_back_whatever_their_texts_contain(
    tmp_path_factory: pytest.TempPathFactory, texts: list[tuple[str, str]]
) -> None:
    """Tabs, quotes and line ends too, and texts that a spreadsheet program would run."""
    rows = [*texts, ('a\tb "c"\r\nd', "=1+1"), ('"', "\u2028x")]
    table = pd.DataFrame(rows, columns=["document", "perspective"]).assign(label=1, probability=0.5, retriever="bm25")
    folder = tmp_path_factory.mktemp("written")
    for name in ("a.tsv", "a.jsonl", "a.parquet"):
        (folder / name).write_bytes(labelled_pairs_writer(folder / name)(table))
        found = read_labelled_pairs(folder / name)
        assert [(r.pair.passage, r.pair.perspective, r.retriever) for r in found] == [(*r, "bm25") for r in rows], name
    with pytest.raises(BadInputError, match=r"as '\.csv' files.*\.tsv"):
        labelled_pairs_writer(folder / "a.csv")


def test_a_quote_in_plain_tsv_is_a_character(tmp_path: Path) -> None:
    path = written(tmp_path, "a.tsv", 'document\tperspective\tlabel\n"It begins with a quote\tv\t1\r\nx\tv\t0\n')
    assert [r.pair.passage for r in read_labelled_pairs(path)] == ['"It begins with a quote', "x"]


def test_quoted_line_ends_are_kept_and_lines_still_counted(tmp_path: Path) -> None:
    path = written(tmp_path, "a.tsv", 'document\tperspective\tlabel\n"two\nlines"\tv\t1\nx\tv\tmaybe\n')
    with pytest.raises(BadInputError, match=r"a\.tsv:4: The label must be 0 or 1, got 'maybe'"):
        read_labelled_pairs(path)


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("a.csv", "document,perspective\nx,y\n", r"a\.csv:1: Missing column label"),
        ("a.csv", "", r"a\.csv:1: Missing columns document and perspective"),
        ("a.csv", "document,perspective,label\n", "contains no pair"),
        ("a.csv", "document,perspective,label\nx,y,1,2\n", r"a\.csv:2: The row has 4 cells, but the header has 3"),
        ("a.csv", "document,perspective,label\n ,y,1\nx,,0\nx,y,3\n", r"a\.csv:2: .* no document.*line 3, line 4"),
        ("a.jsonl", '{"document": "x", "perspective": "y", "label": 1}\n{"docu', r"a\.jsonl:2: Not valid JSON"),
        ("a.jsonl", "[1]\n", r"a\.jsonl:1: .*must be an object"),
        ("a.jsonl", '{"document": "x", "perspective": "y", "label": 0.7}', "must be 0 or 1, got '0.7'"),
        ("a.csv", "document,perspective,label,split\nx,y,1,trian\n", "got 'trian'"),
        ("a.parquet", "PAR1", "Not a valid Parquet"),
        ("a.xlsx", "x", "not supported"),
    ],
)
def test_bad_files_are_refused_with_their_line(tmp_path: Path, name: str, text: str, said: str) -> None:
    with pytest.raises(BadInputError, match=said):
        read_labelled_pairs(written(tmp_path, name, text))


def test_what_is_no_utf_8_is_reported_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(b"document,perspective,label\nx,y,1\n\xff,y,0\n")
    with pytest.raises(BadInputError, match=r"a\.csv:3: The line is not UTF-8"):
        read_labelled_pairs(path)


def test_pairs_for_a_teacher_need_no_label(tmp_path: Path) -> None:
    path = written(tmp_path, "a.csv", "document,perspective\nx,y\n")
    assert [r.pair for r in read_labelled_pairs(path, labelled=False)] == [Pair("x", "y")]


def test_the_hash_is_that_of_the_content(tmp_path: Path) -> None:
    one, two = (written(tmp_path, name, "same") for name in ("one.csv", "two.csv"))
    assert file_hash(one) == file_hash(two)
    assert file_hash(written(tmp_path, "one.csv", "other")) != file_hash(two)
