"""The page Detector lab without a browser: empty, on the demo, and what its buttons do."""

import re
import shutil

import pytest
from streamlit.testing.v1 import AppTest

from berdseye.annotation.judgments.log import Judgments
from berdseye.annotation.training_sets.labelling import LabellingRules
from berdseye.annotation.training_sets.store import create
from berdseye.app.access.session import judgments as shared_judgments
from berdseye.data.labels import LabelStore
from berdseye.data.workspace import Workspace
from berdseye.detectors.detector_registry import parse_detector
from berdseye.detectors.thresholds import read_threshold
from berdseye.detectors.trained import finish, new_folder
from berdseye.evaluation.detection.pairs import of_gold
from tests.app.drawn_page import again, drawn, says, texts


def lab(part: str, **query: str) -> AppTest:
    at = drawn("detector_lab", name="Ada", part=part, **query)
    assert not at.error, [e.value for e in at.error]
    return at


def press(at: AppTest, label: str) -> AppTest:
    next(b for b in at.button if b.label == label).click()
    return again(at)


def figures(at: AppTest) -> dict[str, str]:
    return {m.label: m.value for m in at.metric}


def percent(text: str) -> float:
    return float(text.removesuffix("%"))


def table(at: AppTest, column: str) -> list[dict[str, object]]:
    """The table that has a column of this name."""
    found = next(d.value for d in at.dataframe if column in d.value.columns)
    return found.to_dict("records")  # type: ignore[no-any-return]


@pytest.mark.usefixtures("at_hand")
@pytest.mark.parametrize("part", ["Calibration", "Threshold", "Two detectors"])
def test_without_labels_the_next_step_is_shown(part: str) -> None:
    at = lab(part)
    assert says(at, r"no pair.*\bAnnotate\b", "info")
    assert bool(says(at, "no runs", "info")) == (part == "Threshold")


def keep_every_other_label(demo: Workspace) -> None:
    """The demo comes with all labels of the detector in use."""
    store, version = LabelStore(demo), parse_detector("stance", demo).version
    kept = store.table("stance", version).sort_by("pair").to_pylist()[::2]
    shutil.rmtree(store.folder / "stance")
    store.put("stance", version, *([row[column] for row in kept] for column in ("pair", "probability", "opposes")))


@pytest.mark.usefixtures("demo")
def test_the_measured_pairs_are_counted_and_missing_predictions_can_be_made(demo: Workspace) -> None:
    keep_every_other_label(demo)
    at = lab("Calibration")
    n = len(of_gold(demo).table)
    missing = int(re.findall(r"no prediction for (\d+)", texts(at))[0])
    assert 0 < missing < n
    assert at.selectbox(key="on").value == "gold", "nobody has judged but made-up people"
    assert says(at, rf"\b{missing} of (these )?{n:,} pairs")
    assert sum(int(row["n"]) for row in table(at, "probability")) == n - missing  # type: ignore[call-overload]
    at = press(at, "Predict them")
    assert says(at, rf"\*\*{n:,}\*\* pairs.*\*\*24\*\* questions")
    assert not says(at, "no prediction")
    assert figures(at)["Questions"] == "24"


def test_the_threshold_moves_the_figures_and_is_adopted_with_a_name(demo: Workspace) -> None:
    own = parse_detector("stance", demo).threshold
    at = lab("Threshold", threshold="0.6", run="debate--web--bm25")
    at.number_input(key="threshold-typed").set_value(0.7)
    high = figures(again(at))
    assert at.slider(key="threshold").value == 0.7
    at.slider(key="threshold").set_value(0.1)
    low = figures(again(at))
    assert at.number_input(key="threshold-typed").value == 0.1
    assert high["Recall"] < low["Recall"]
    assert percent(high["Precision"]) > percent(low["Precision"])
    assert percent(high["MRecall@5"]) < percent(low["MRecall@5"])
    assert low["MRecall@5"] == "100.0%"
    at = press(at, "Use 0.1000 from now on")
    held = read_threshold(demo, "stance")
    assert held is not None
    assert (held.value, held.made_by, held.by_hand) == (0.1, "Ada", True)
    assert says(at, r"\b0\.1000\b.*\bAda\b.*\bgold\b", "caption")
    assert says(at, "chosen on these pairs", "markdown"), "a warning: the figures are of the same pairs"
    press(at, "Restore the detector's own")
    assert parse_detector("stance", demo).threshold == own


@pytest.mark.usefixtures("demo")
def test_peoples_verdicts_count_at_every_threshold() -> None:
    at = lab("Threshold", threshold="1.0", words="true", run="debate--encyclopedia--bm25")
    assert percent(figures(at)["Precision@5"]) > 0, "made-up people found support among the top 5"
    at.toggle(key="words").set_value(False)
    assert figures(again(at))["Precision@5"] == "0.0%"


@pytest.mark.usefixtures("demo")
def test_mistakes_are_listed_and_read_and_judged() -> None:
    at = lab("Mistakes", mistake="missed")
    rows = table(at, "mistake")
    assert {row["mistake"] for row in rows} == {"missed"}
    chances = [float(str(row["probability"])) for row in rows]
    assert chances == sorted(chances)
    at.session_state["mistakes"] = {"selection": {"rows": [0], "columns": [], "cells": []}}
    at = again(at)
    assert str(rows[0]["question"]) in texts(at)
    assert "Open the question in Explore" in texts(at)
    press(at, "Does not support")
    (word,) = [j for j in shared_judgments().present() if j.annotator.name == "Ada"]
    assert (word.verdict, word.source) == ("does not support", "lab")


@pytest.mark.usefixtures("demo")
def test_confusion_adds_up() -> None:
    by = {column: table(lab("Confusion", by=column), "tp") for column in ("corpus", "stance")}
    assert {str(row["corpus"]) for row in by["corpus"]} == {"web", "encyclopedia", "pages"}
    counts = [sum(int(str(row[c])) for row in rows for c in ("tp", "fp", "fn", "tn")) for rows in by.values()]
    assert len(set(counts)) == 1
    assert counts[0] == sum(int(str(row["n"])) for row in by["corpus"])


def test_two_detectors_are_compared_on_what_both_were_asked(demo: Workspace) -> None:
    at = lab("Two detectors", other="similarity(static)")
    assert says(at, "no pair.*both detectors", "info")
    at.button(key="ask-other").click()
    at = again(at)
    assert "Agreement (Cohen's kappa)" in figures(at)
    asked = re.search(r"\*\*([\d,]+)\*\* pairs", texts(at))
    assert asked is not None
    assert says(at, rf"\({asked[1]} pairs\)"), "all that the first was asked about, the second was asked about too"
    assert {row["who is right"] for row in table(at, "who is right")} == {"stance", "similarity(static)"}
    assert {"stance", "similarity(static)"} <= set(LabelStore(demo).sources())
    same = lab("Two detectors", other="stance")
    assert says(same, "another detector", "info")


def test_the_pairs_it_was_trained_on_are_left_out_and_named(demo: Workspace) -> None:
    made = create(demo, Judgments.open(demo.judgments_url), "judged", LabellingRules(demo=True))
    LabelStore(demo).put("similarity(static)", parse_detector("similarity(static)", demo).version, [], [])
    folder = new_folder(demo, "mine")
    folder.mkdir(parents=True)
    finish(folder, {"detector": "similarity(static)", "data": made.id, "data_hash": made.hash})
    at = lab("Calibration", on="human and made-up", detector="similarity(static)")
    assert says(at, rf"\({re.escape(made.id)}\)"), "the training set is named"
    at = press(at, "Predict them")
    rows = made.pairs()
    assert says(at, rf"\*\*{sum(r.split == 'test' for r in rows)}\*\* pairs")
    at.toggle(key="seen-chosen").set_value(True)
    assert says(again(at), rf"\*\*{len(rows)}\*\* pairs")


@pytest.mark.usefixtures("demo")
def test_detectors_that_nobody_measured_have_no_cost() -> None:
    rows = table(lab("Cost"), "money by")
    assert [row["detector"] for row in rows] == ["stance", "embedded", "similarity(static)", "random"]
    assert {row["measured"] for row in rows} == {"not yet"}


def test_a_bin_without_an_interval_shows_a_dash(demo: Workspace) -> None:
    """A bin with both labels, but of one question, has no interval over questions."""
    pairs = of_gold(demo).table
    of_one = pairs[pairs["question"] == pairs["question"].iloc[0]].drop_duplicates("supports")["pair"].tolist()
    supports = [0.99 if pair in of_one else 0.05 for pair in pairs["pair"]]
    version = parse_detector("stance", demo).version
    LabelStore(demo).put("stance", version, pairs["pair"].tolist(), supports, [0.0] * len(pairs))
    bins = next(table for table in drawn("detector_lab", detector="stance").dataframe if "low" in table.value)
    assert bins.value["low"].isna().any()
    assert bins.proto.placeholder == "–"
