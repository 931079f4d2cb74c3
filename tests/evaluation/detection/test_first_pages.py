"""Agreement with gold labels on the first passages of questions."""

import json

import pytest

from berdseye.data.datasets.stored import GOLD
from berdseye.data.errors import BadInputError
from berdseye.data.labels import LabelStore
from berdseye.data.records import Pair
from berdseye.data.runs.stored import Run, load_run
from berdseye.data.workspace import Workspace
from berdseye.detectors.detector_registry import parse_detector
from berdseye.evaluation.detection.first_pages import first_pages
from tests.app.command_line import output
from tests.evaluation.small_workspace import QUESTIONS, TEXTS


def test_agreement_is_counted_on_distinct_pairs_with_gold_labels(small: Workspace, run: Run) -> None:
    detector = parse_detector("random")
    with pytest.raises(BadInputError, match="No pair of these runs has a gold label"):
        first_pages(small, detector, [run], 3)
    statement = QUESTIONS[0].perspectives[0].text
    keys = [Pair(text, statement).key for text in TEXTS[:3]]
    store, near = LabelStore(small), detector.threshold + 0.01
    store.put(GOLD, "made", keys, [1.0, 0.0, 0.0])
    store.put(detector.name, detector.version, keys, [near, near, 0.0])
    rows = first_pages(small, detector, [run, run], 3).to_dict("records")
    assert [row["question"] for row in rows] == [QUESTIONS[0].id, ""]
    assert {name: rows[-1][name] for name in ("pairs", "agree_sure", "wrong")} == {
        "pairs": 3,
        "agree_sure": 100,
        "wrong": 0,
    }
    assert [rows[-1][name] for name in ("agree", "unsure", "called", "true")] == pytest.approx(
        [200 / 3, 200 / 3, 200 / 3, 100 / 3]
    )


def test_the_command_measures_runs_of_the_demo(demo_workspace: Workspace) -> None:
    asked = ("detector", "first-pages", "debate--web--bm25", "--detector", "stance", "--json")
    rows = json.loads(output(*asked, "--workspace", demo_workspace.folder))
    assert len(rows) == 9
    assert rows[-1]["pairs"] == sum(row["pairs"] for row in rows[:-1])
    assert 50 < rows[-1]["agree"] < 100


def test_on_the_first_pages_of_the_demo_stance_is_right_or_unsure(demo_workspace: Workspace) -> None:
    names = [
        f"{data}--{corpus}--bm25"
        for data in ("debate", "living", "policy")
        for corpus in ("encyclopedia", "pages", "web")
    ]
    runs = [load_run(demo_workspace, name) for name in names]
    rows = first_pages(demo_workspace, parse_detector("stance"), runs, 5).to_dict("records")
    assert len(rows) == 25
    for row in rows:
        assert row["wrong"] == pytest.approx((100 - row["agree_sure"]) * (100 - row["unsure"]) / 100), row["question"]
        assert row["wrong"] <= 10, row["question"]
    assert rows[-1]["agree_sure"] > 90
