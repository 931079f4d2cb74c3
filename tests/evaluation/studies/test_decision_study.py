"""Drawing by value against drawing at random until bets settle the order, on the demo's gold labels."""

import pandas as pd
import pytest

from berdseye.data.errors import BadInputError
from berdseye.data.runs.stored import load_run, run_name
from berdseye.data.workspace import Workspace
from berdseye.detectors.detector_registry import parse_detector
from berdseye.evaluation.measures import parse_measure
from berdseye.evaluation.studies.decision import ALONE, BY_VALUE, ORDERS, decision_study
from berdseye.evaluation.studies.result import StudyResult


def study(workspace: Workspace, measure: str = "MRecall@3", detector: str = "random(rate=0.4)") -> StudyResult:
    runs = [load_run(workspace, run_name("debate", "web", p)) for p in ("bm25", "dense(static)")]
    return decision_study(
        workspace,
        runs,
        parse_detector(detector, workspace),
        parse_measure(measure),
        trials=4,
        questions=6,
        predicted_trials=1,
    )


@pytest.fixture(scope="module")
def result(demo_workspace: Workspace) -> StudyResult:
    return study(demo_workspace)


def test_every_order_has_its_figures(result: StudyResult) -> None:
    [table] = result.tables
    assert list(table.laid_out().index) == list(ORDERS)
    cells = table.cells.set_index(["order", "figure"])["value"]
    saved = "saved against random without a detector (%)"
    assert cells[ALONE, saved] == 0
    made = cells.xs("judgments", level="figure")
    assert (made > 0).all()
    assert cells[BY_VALUE, saved] == pytest.approx(100 * (1 - made[BY_VALUE] / made[ALONE]))
    assert result.settings["questions"] == 6
    chart = result.charts["decision-orders"].to_dict()
    assert len(pd.DataFrame(next(iter(chart["datasets"].values())))) % len(ORDERS) == 0


def test_the_rule_is_that_of_decision_batches(result: StudyResult) -> None:
    """A few questions show nothing at 5%: all pairs are judged, and the order is the true one."""
    cells = result.tables[0].cells.set_index(["order", "figure"])["value"]
    assert (cells.xs("wrong orders (%)", level="figure") == 0).all()
    assert "at any look and whatever the detector says" in result.notes[0]


def test_the_same_seed_gives_the_same_figures(demo_workspace: Workspace, result: StudyResult) -> None:
    pd.testing.assert_frame_equal(study(demo_workspace).tables[0].cells, result.tables[0].cells)


def test_what_cannot_be_drawn_is_refused(demo_workspace: Workspace) -> None:
    with pytest.raises(BadInputError, match="from drawn labels"):
        study(demo_workspace, "nDCG@5")
