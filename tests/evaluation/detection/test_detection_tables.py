"""The tables of several detectors on files whose figures are known."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from made_detectors import Cutting, Made

from berdseye.data.datasets.labelled_pairs import LabelledPair
from berdseye.data.errors import BadInputError
from berdseye.data.records import Pair
from berdseye.evaluation.detection.readable import readable
from berdseye.evaluation.detection.scoring import score
from berdseye.evaluation.detection.tables import (
    LABELS,
    OURS,
    DetectionReport,
    agreement_table,
    detection_report,
    published_detectors,
    published_domains,
)

RIGHT = Made(lambda pair: 0.9 if "yes" in pair.passage else 0.2, "right", pairs_at_once=100)
NEVER = Made(lambda _: 0.1, "never", pairs_at_once=100)


def lines(split: str) -> list[dict[str, str | int]]:
    """Of 24 rows a third supports; two data sets, two corpora (one of them alone holds what supports), three lengths."""
    return [
        {
            "passage": f"{'yes' if i % 3 == 0 else 'no'} {'word ' * (10 * (i % 4) + 5)}{split} {i}",
            "perspective": "It is so.",
            "label": int(i % 3 == 0),
            "question": f"q{i % 6}",
            "split": split,
            "dataset": "kialo" if i < 12 else "arguana",
            "corpus": "sphere" if i % 3 else "google",
        }
        for i in range(24)
    ]


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("tables") / "pairs.jsonl"
    rows = [*lines("test"), *lines("dev"), *lines("train")]
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def report(path: Path) -> DetectionReport:
    return detection_report([RIGHT, NEVER], [path])


def test_measured_rows_are_above_the_published_ones_in_berds_layout(report: DetectionReport) -> None:
    table = report.detection
    assert list(table.columns[2:10]) == [
        "pct_positive",
        "accuracy",
        "f1",
        "precision",
        "recall",
        "auroc",
        "average_precision",
        "ece",
    ]
    labels, right, never = (row for _, row in table[table["source"] == OURS].iterrows())
    assert (labels["detector"], labels["n"]) == (LABELS, 24)
    assert labels["pct_positive"] == right["pct_positive"] == pytest.approx(100 / 3)
    assert right["accuracy"] == right["f1"] == right["auroc"] == 100.0
    assert (never["accuracy"], never["recall"], never["auroc"]) == (pytest.approx(200 / 3), 0.0, 50.0)
    assert never["accuracy_low"] < never["accuracy"] <= never["accuracy_high"]
    published = table[table["source"] != OURS].set_index("detector")
    assert published.loc["mistral-7b (fine-tuned)", ["pct_positive", "accuracy", "f1"]].tolist() == [15.8, 87.6, 62.2]
    assert len(published) == len(published_detectors())
    assert "24 of 72" in report.rows


def test_slices_are_by_data_set_corpus_and_length(report: DetectionReport) -> None:
    table = report.slices[report.slices["detector"] == "never"].set_index(["slice", "value"])
    assert set(table.index.get_level_values("slice")) == {"dataset", "corpus", "length"}
    assert table.loc[("dataset", "kialo"), "n"] == 12
    assert table.loc[("corpus", "google"), "accuracy"] == 0.0
    assert table.loc[("corpus", "sphere"), "accuracy"] == 100.0
    assert np.isnan(table.loc[("corpus", "sphere"), "auroc"])
    assert table.loc["length", "n"].sum() == 24
    assert [v for s, v in table.index if s == "length"] == ["up to 18 words", "up to 28 words", "over 28 words"]


def test_domains_are_corpora_and_are_above_the_published_ones(report: DetectionReport) -> None:
    ours = report.domains[report.domains["source"] == OURS].set_index(["domain", "detector"])
    assert ours.loc[("google", "right"), ["accuracy", "f1", "pct_positive"]].tolist() == [100.0, 100.0, 100.0]
    assert ours.loc[("sphere", "right"), "pct_positive"] == 0.0
    published = report.domains[report.domains["source"] != OURS]
    assert len(published) == len(published_domains()) == 8
    assert published.iloc[0][["domain", "accuracy", "f1", "pct_positive"]].tolist() == [
        "wikipedia bm25",
        92.3,
        68.1,
        12.7,
    ]


def test_domains_are_corpora_with_retrievers_where_rows_name_them(tmp_path: Path) -> None:
    """Every second row is of bm25, and one row names no retriever."""
    rows = [row | {"retriever": ("bm25", "dpr")[n % 2], "split": ""} for n, row in enumerate(lines(""))]
    rows[0] |= {"retriever": ""}
    path = tmp_path / "pairs.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    table = detection_report([RIGHT], [path]).domains
    ours = table[table["source"] == OURS].set_index("domain")
    assert ours["n"].to_dict() == {"google": 1, "google bm25": 3, "google dpr": 4, "sphere bm25": 8, "sphere dpr": 8}
    assert ours.loc["google dpr", ["accuracy", "f1", "pct_positive"]].tolist() == [100.0, 100.0, 100.0]


def test_pairs_whose_texts_a_detector_cut_are_counted_once_each(tmp_path: Path) -> None:
    path = tmp_path / "pairs.jsonl"
    path.write_text("\n".join(json.dumps(row | {"split": ""}) for row in [*lines("x"), *lines("x")]), encoding="utf-8")
    cutting = Cutting(lambda _: 0.9, "cutting", pairs_at_once=100)
    report = detection_report([cutting, NEVER], [path])
    assert report.truncated == {"cutting": 6, "never": None}
    assert report.detection["truncated"][:3].tolist() == [None, 6, None]
    assert readable(report.detection)["truncated"][:3].tolist() == ["", "6", ""]


def test_without_corpora_domains_are_files(tmp_path: Path) -> None:
    rows = [{k: v for k, v in row.items() if k not in ("corpus", "split")} for row in lines("")]
    files = [tmp_path / "one.jsonl", tmp_path / "two.jsonl"]
    for place, file in enumerate(files):
        file.write_text("\n".join(json.dumps(row) for row in rows[place::2]), encoding="utf-8")
    found = detection_report([RIGHT], files)
    assert found.domains[found.domains["source"] == OURS]["domain"].tolist() == ["one.jsonl", "two.jsonl"]
    assert found.rows == "all 24 rows"


def test_tuned_thresholds_come_from_dev_rows_alone(path: Path) -> None:
    shy = Made(lambda pair: 0.3 if "yes" in pair.passage else 0.2, "shy", pairs_at_once=100)
    (row,) = detection_report([shy], [path], tuned=True).detection.iloc[[1]].to_dict("records")
    assert (row["threshold"], row["f1"]) == (0.3, 100.0)
    assert row["threshold_source"] == "best F1 (1.000) on 24 rows of split dev"
    assert not any("train" in pair.passage for batch in shy.asked for pair in batch)


def test_tuning_needs_dev_rows_and_splits_need_test_rows(tmp_path: Path) -> None:
    path = tmp_path / "pairs.jsonl"
    path.write_text("\n".join(map(json.dumps, lines("train"))), encoding="utf-8")
    with pytest.raises(BadInputError, match="split 'test'"):
        detection_report([RIGHT], [path])
    path.write_text("\n".join(map(json.dumps, lines(""))), encoding="utf-8")
    with pytest.raises(BadInputError, match="split 'dev'"):
        detection_report([RIGHT], [path], tuned=True)


def test_agreement_by_hand() -> None:
    """a and b agree on 3 of 4; both say yes to half: kappa (.75 - .5) / .5. The fifth pair has two labels and is left out."""
    rows = [
        LabelledPair(Pair(p, "x"), y) for p, y in zip("abcdee", (True, True, False, False, True, False), strict=True)
    ]
    a = Made(lambda pair: float(pair.passage in "ab"), "a")
    b = Made(lambda pair: float(pair.passage in "abc"), "b")
    table = agreement_table(rows, [score(d, rows, resamples=10) for d in (a, b)]).set_index(["a", "b"])
    assert (table["n"] == 4).all()
    assert table.loc[("a", LABELS), ["kappa", "percent"]].tolist() == [1.0, 100.0]
    assert table.loc[("a", "b"), ["kappa", "percent"]].tolist() == [0.5, 75.0]


def test_readable_tables_hold_intervals_and_leave_out_what_is_unknown() -> None:
    table = pd.DataFrame({"f1": [62.25, np.nan], "f1_low": [58.0, np.nan], "f1_high": [66.12, np.nan], "n": [1200, 3]})
    assert readable(table).to_dict("list") == {"f1": ["62.2 [58, 66.1]", ""], "n": ["1200", "3"]}
