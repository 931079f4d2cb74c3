"""Figures of a detector on labelled rows, worked out by hand."""

import csv
import json
import math
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_detectors import Made, by_passage

from berdseye.data.datasets.labelled_pairs import LabelledPair
from berdseye.data.errors import BadInputError
from berdseye.data.records import Pair
from berdseye.evaluation.detection.pairs import intervals_over, read_judged_pairs, rows_to_test_on, rows_to_tune_on
from berdseye.evaluation.detection.scoring import FIGURES, rescored, score

ROWS = [
    LabelledPair(Pair(passage, "It is so."), supports)
    for passage, supports in zip("abcdef", (True, True, True, False, False, False), strict=True)
]
SAYS = by_passage(a=0.95, b=0.75, c=0.25, d=0.85, e=0.35, f=0.15)


def test_figures_by_hand() -> None:
    """Called: a, b, d. Two of three are right, two of three are found; 6 of the 9 pairs of a yes and a no are in order.

    Ranked a+ d- b+ e- c+ f-: average precision (1 + 2/3 + 3/5) / 3. ECE: |.95-1|, |.75-1|, |.25-1|, .85, .35 and .15, over 6.
    """
    found = score(Made(SAYS), ROWS)
    held = found.quality
    assert (held.n, held.positives, held.pct_positive, held.threshold) == (6, 3, 50.0, 0.5)
    assert held.accuracy == pytest.approx(4 / 6)
    assert held.precision == held.recall == held.f1 == pytest.approx(2 / 3)
    assert held.auroc == pytest.approx(6 / 9)
    assert held.average_precision == pytest.approx((1 + 2 / 3 + 3 / 5) / 3)
    assert held.ece == pytest.approx((0.05 + 0.25 + 0.75 + 0.85 + 0.35 + 0.15) / 6, abs=1e-6)
    assert found.verdicts.tolist() == [True, True, False, True, False, False]
    assert set(held.intervals) == set(FIGURES)
    assert all(low <= getattr(held, name) <= high for name, (low, high) in held.intervals.items() if name != "ece")


def test_another_threshold_changes_the_verdicts_alone() -> None:
    own, found = score(Made(SAYS), ROWS, resamples=20), score(Made(SAYS), ROWS, 0.9)
    assert (found.quality.recall, found.quality.precision) == (pytest.approx(1 / 3), 1.0)
    assert found.threshold_source == "given"
    again = rescored(own, ROWS, 0.9, "given")
    assert again.quality == found.quality != own.quality
    with pytest.raises(BadInputError, match="threshold"):
        score(Made(SAYS), ROWS, 1.5)


def test_each_distinct_pair_is_asked_once_in_the_detectors_batches() -> None:
    detector = Made(SAYS)
    twice = [*ROWS, *ROWS[::-1]]
    found = score(detector, twice, resamples=20)
    first, *batches = detector.asked
    assert len(first) == 1
    assert [len(batch) for batch in batches] == [3, 3]
    assert found.probabilities.tolist() == [np.float32(SAYS(row.pair)) for row in twice]
    assert found.pairs_per_second > 0


def test_the_same_texts_under_another_title_are_another_pair() -> None:
    rows = [LabelledPair(Pair("a", "It is so.", title), supports) for title, supports in (("x", True), ("y", False))]
    assert score(Made(lambda pair: float(pair.title == "x")), rows, resamples=20).quality.accuracy == 1.0


@pytest.mark.parametrize(
    ("rows", "undefined"),
    [(ROWS[:3], {"auroc", "average_precision"}), (ROWS[3:], {"auroc", "average_precision", "recall"})],
    ids=["all support", "none supports"],
)
def test_what_one_label_leaves_undefined_is_nan(rows: list[LabelledPair], undefined: set[str]) -> None:
    row = score(Made(SAYS), rows, resamples=20).as_row()
    assert {name for name in FIGURES if math.isnan(row[name])} == undefined
    assert all(math.isnan(row["intervals"][name][0]) for name in undefined)


def test_intervals_are_drawn_over_questions_of_their_data_set() -> None:
    pair = Pair("a", "It is so.")
    assert intervals_over([LabelledPair(pair, True)] * 3) is None
    named = [LabelledPair(pair, True, "q", dataset=dataset) for dataset in ("one", "two", "one")]
    first, second, third, fourth = intervals_over([*named, LabelledPair(pair, True)]) or []
    assert first == third
    assert len({first, second, fourth}) == 3
    rows = [LabelledPair(Pair(f"{i}", "It is so."), i % 3 == 0, f"{i // 10}") for i in range(80)]
    alone = [row._replace(question="") for row in rows]
    says = Made(lambda p: float(int(p.passage) < 40), pairs_at_once=100)
    (low, high), (narrow_low, narrow_high) = (
        score(says, held, resamples=100).quality.intervals["recall"] for held in (rows, alone)
    )
    assert high - low > narrow_high - narrow_low  # whole questions are right or wrong


@given(st.lists(st.sampled_from(["train", "dev", "test", ""]), min_size=1))
def test_no_row_is_both_tuned_and_tested_on_where_there_are_splits(splits: list[str]) -> None:
    rows = [LabelledPair(Pair(str(i), "x"), True, split=split) for i, split in enumerate(splits)]  # type: ignore[arg-type]
    tune, test = rows_to_tune_on(rows), rows_to_test_on(rows)
    if any(splits):
        assert {row.split for row in tune} <= {"dev"}
        assert {row.split for row in test} <= {"test"}
        assert len(tune) + len(test) == sum(split in ("dev", "test") for split in splits)
    else:
        assert tune == test == rows


COLUMNS = ("document", "perspective", "label", "split", "dataset", "stance")
LINES = [
    ('He said "no" twice', "Zoos harm.", 1, "dev", "kialo", "opposing"),
    ("Trams, buses\tand 'cars'", "Zoos help.", 0, "test", "arguana", ""),
]


@pytest.mark.parametrize("kind", ["tsv", "csv", "jsonl", "parquet"])
def test_a_file_is_read_with_the_columns_to_slice_by(tmp_path: Path, kind: str) -> None:
    path = tmp_path / f"pairs.{kind}"
    table = pd.DataFrame(LINES, columns=list(COLUMNS))
    if kind == "parquet":
        table.to_parquet(path)
    elif kind == "jsonl":
        path.write_text("\n\n".join(json.dumps(row) for row in table.to_dict("records")), encoding="utf-8")
    else:
        table.to_csv(path, index=False, sep="\t" if kind == "tsv" else ",")
    assert read_judged_pairs([path]) == [
        LabelledPair(Pair(d, p), bool(y), split=s, file=path.name, dataset=g, stance=t)  # type: ignore[arg-type]
        for d, p, y, s, g, t in LINES
    ]


def test_a_tsv_of_bare_cells_takes_quotes_as_they_are(tmp_path: Path) -> None:
    path = tmp_path / "pairs.tsv"
    path.write_text('document\tperspective\tlabel\tdataset\n"So" she said\tYes.\t1\t"one"\n"Go\tNo.\t0\ttwo\n')
    rows = read_judged_pairs([path, path])
    assert [row.dataset for row in rows] == ["one", "two"] * 2
    assert rows[1].pair.passage == '"Go'


def test_a_csv_with_line_ends_in_its_cells_stays_aligned(tmp_path: Path) -> None:
    path = tmp_path / "pairs.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows(
            [("passage", "perspective", "label", "Corpus"), ("one\n\ntwo", "x", "1", "web"), ("three", "x", "0", "NA")]
        )
    assert [(row.pair.passage, row.corpus) for row in read_judged_pairs([path])] == [
        ("one\n\ntwo", "web"),
        ("three", "NA"),
    ]
