"""The trust in one's own ranking on the demo: its tables, that they agree with each other, and what is refused."""

import numpy as np
import pandas as pd
import pytest

from berdseye.annotation.judgments.log import Judgments
from berdseye.data.errors import BadInputError
from berdseye.data.runs.stored import load_run, run_name
from berdseye.data.workspace import Workspace
from berdseye.detectors.detector_registry import parse_detector
from berdseye.evaluation.labels.sources import parse_label_source
from berdseye.evaluation.measures import parse_measures
from berdseye.evaluation.studies.result import StudyResult
from berdseye.evaluation.studies.trust import trust_study


def study(workspace: Workspace, measure: str, labels: str = "gold>embedded") -> StudyResult:
    runs = [load_run(workspace, run_name("policy", "web", p)) for p in ("bm25", "dense(static)")]
    return trust_study(
        workspace, Judgments.open(workspace.judgments_url), runs, parse_label_source(labels),
        parse_detector("embedded", workspace), parse_measures(measure)[0], draws=100,
    )  # fmt: skip


@pytest.fixture(scope="module")
def result(demo_workspace: Workspace) -> StudyResult:
    return study(demo_workspace, "Precision@5")


def cells(result: StudyResult, name: str) -> pd.DataFrame:
    return next(t.cells for t in result.tables if t.name == name)


def test_every_pair_has_its_figures_and_the_listed_labels_are_the_margin(result: StudyResult) -> None:
    assert [t.name for t in result.tables] == [
        "trust-systems", "trust-separability", "trust-wrong-order", "trust-judgments", "trust-flip-margins", "trust-flips",
    ]  # fmt: skip
    for table in result.tables:
        assert not table.laid_out().empty
        assert "\\toprule" in table.latex()
    margins = cells(result, "trust-flip-margins").set_index("figure")["value"]
    flips = cells(result, "trust-flips")
    assert (flips["label"] == "changed").sum() == margins["any label"]
    wide = flips.pivot_table(index=["question", "pair"], columns="label", values="value")
    assert ((wide["now"] + wide["changed"]) == 1).all()
    assert flips["pair"].str.fullmatch("[0-9a-f]{32}").all()


def test_the_better_system_comes_first_and_cells_say_what_made_them(result: StudyResult) -> None:
    systems, separability = cells(result, "trust-systems"), cells(result, "trust-separability")
    assert (np.diff(systems["value"]) <= 0).all()
    difference = separability[separability["figure"] == "difference"].iloc[0]
    assert difference["value"] == pytest.approx(systems["value"].iloc[0] - systems["value"].iloc[1])
    assert difference["low"] <= difference["value"] <= difference["high"]
    for name in ("labels", "detector_version", "judged", "n"):
        assert separability[name].notna().all()
    chances = cells(result, "trust-wrong-order")["value"].dropna()
    assert chances.between(0, 1).all()


def test_with_gold_alone_settled_labels_leave_no_judgment_that_matters(demo_workspace: Workspace) -> None:
    judgments = cells(study(demo_workspace, "MRecall@5", "gold>embedded"), "trust-judgments").set_index("figure")[
        "value"
    ]
    all_open = cells(study(demo_workspace, "MRecall@5", "embedded"), "trust-judgments").set_index("figure")["value"]
    assert judgments["that matter"] < all_open["that matter"]
    assert judgments["to settle"] <= judgments["that matter"]


def test_measures_that_cannot_be_drawn_or_turned_are_reported(demo_workspace: Workspace) -> None:
    with pytest.raises(BadInputError, match="cannot be computed from drawn labels"):
        study(demo_workspace, "nDCG@5")
    covered = study(demo_workspace, "Coverage@5")
    assert "trust-flip-margins" not in [t.name for t in covered.tables]
    assert any("not for Coverage" in note for note in covered.notes)
