"""Below the floor of judged pairs no path shows a number; above it, or where the floor is lowered, all do."""

import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import berdseye
from berdseye.annotation.judgments.log import Judgments
from berdseye.app.cli import cli
from berdseye.data.errors import BadInputError
from berdseye.data.runs.stored import Run
from berdseye.data.workspace import Workspace
from berdseye.detectors.detector_registry import parse_detector
from berdseye.evaluation.labels.sources import parse_label_source
from berdseye.evaluation.leaderboard.board import board
from berdseye.evaluation.measures import parse_measure
from berdseye.evaluation.scores.enough_judged import min_judged_of
from berdseye.evaluation.scores.scoring import score_runs
from berdseye.evaluation.studies.berds.base import base
from berdseye.evaluation.studies.berds.depth import coverage, union
from berdseye.evaluation.studies.berds.sides import following, leaning
from berdseye.evaluation.studies.comparing import comparisons, k_curves, missing_points, points_by_k
from berdseye.evaluation.studies.gathering import Gatherer, Selection
from berdseye.evaluation.studies.result import StudyResult
from berdseye.evaluation.studies.trust import trust_study
from tests.evaluation.small_workspace import CORPUS, DATASET, judge, put_gold

ALL = Selection((DATASET,), (CORPUS,), ("bm25",))
BOTH = Selection((DATASET,), (CORPUS,), ("bm25", "dense(static)"))
STUDIES: dict[str, Callable[[Gatherer], StudyResult]] = {
    "base": lambda g: base(g, ALL, (2,)),
    "curves": lambda g: k_curves(g, ALL, "MRecall", deepest=2),
    "compare": lambda g: comparisons(g, BOTH, "Precision@2"),
    "coverage": lambda g: coverage(g, ALL, depth=2),
    "union": lambda g: union(g, BOTH, depth=2),
    "leaning": lambda g: leaning(g, ALL, k=2),
    "sycophancy": lambda g: following(g, ALL, k=2),
}


@pytest.fixture
def hardly_judged(small: Workspace, run: Run, judgments: Judgments) -> Judgments:
    """One pair of the question with two sides is judged."""
    del small, run
    judge(judgments, judgments.sign_in("Ana"), 0, 0, 0, "supports")
    return judgments


@pytest.mark.parametrize("study", STUDIES)
def test_studies(small: Workspace, hardly_judged: Judgments, study: str) -> None:
    human = parse_label_source("human")
    cells = STUDIES[study](Gatherer(small, hardly_judged, human, min_judged=0.6)).tables[0].cells
    assert (cells["judged"] < 0.6).all()
    assert cells[["value", "low", "high"]].apply(pd.to_numeric).isna().all(axis=None)
    shown = STUDIES[study](Gatherer(small, hardly_judged, human, min_judged=0)).tables[0].cells
    assert shown["value"].notna().any()


def test_the_trust_study_gives_no_mean_and_reports_it(small: Workspace, run: Run, hardly_judged: Judgments) -> None:
    gatherer = Gatherer(small, hardly_judged, parse_label_source("human"))
    runs = [run, *gatherer.runs(Selection((DATASET,), (CORPUS,), ("dense(static)",)), 2)]
    asked = (small, hardly_judged, runs, gatherer.source, parse_detector("random"), parse_measure("Precision@2"))
    found = trust_study(*asked, draws=20)
    assert found.tables[0].cells["value"].isna().all()
    assert any("judged below 50%" in note for note in found.notes)
    assert trust_study(*asked, draws=20, min_judged=0).tables[0].cells["value"].notna().all()


def test_points_of_a_curve_are_left_out_one_by_one(small: Workspace, run: Run, judgments: Judgments) -> None:
    put_gold(small, {(0, 0, 0): True, (0, 1, 0): False, (1, 0, 3): False})  # the first passage of both questions
    measures = [parse_measure(f"Precision@{k}") for k in (1, 2, 3)]
    scores = score_runs(small, judgments, [run], parse_label_source("gold"), measures)
    points = pd.DataFrame(points_by_k(scores, measures))
    # judged@1: 3 of 3 pairs; judged@2: 3 of 6; judged@3: 3 of 8.
    assert points["judged"].tolist() == pytest.approx([1, 1 / 2, 3 / 8])
    assert points["value"].notna().tolist() == [True, True, False]
    assert missing_points(points) == "1 of 3 points are not drawn, at k = 3: judged below 50%."
    assert pd.DataFrame(points_by_k(scores, measures, 0.3))["value"].notna().all()
    frame = board(scores)
    assert frame.set_index("measure")["withheld"].to_dict() == {
        "Precision@1": "", "Precision@2": "", "Precision@3": "judged below 50%"
    }  # fmt: skip


def invoked(workspace: Workspace, *words: str) -> Any:
    result = CliRunner().invoke(cli, [*words, "--workspace", str(workspace.folder)])
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout) if "--json" in words else result.stdout


@pytest.mark.usefixtures("hardly_judged")
def test_the_command_line_gives_null_and_the_reason(small: Workspace, run: Run) -> None:
    asked = ("evaluate", "--run", run.manifest.name, "--labels", "human", "--measures", "MRecall@2")
    [row] = invoked(small, *asked, "--json")
    assert (row["value"], row["n"], row["withheld"]) == (None, 1, "judged below 50%")
    assert "judged below 50%" in invoked(small, *asked)
    for off in ("0", "off"):
        [row] = invoked(small, *asked, "--min-judged", off, "--json")
        assert (row["value"], row["withheld"]) == (0.0, "")
    for wrong in ("no", "1.5", "nan"):
        refused = CliRunner().invoke(cli, [*asked, "--min-judged", wrong, "--workspace", str(small.folder)])
        assert refused.exit_code == 2, wrong
    pair = ("compare", run.manifest.name, run.manifest.name, "--labels", "human", "--second-labels", "random", "--json")
    [compared] = invoked(small, *pair)["measures"]
    assert (compared["first"], compared["difference"], compared["withheld"]) == (None, None, "judged below 50%")
    [compared] = invoked(small, *pair, "--min-judged", "0")["measures"]
    assert compared["first"] is not None


@pytest.mark.usefixtures("hardly_judged")
def test_python_gives_nan_and_the_judged_share(small: Workspace, run: Run) -> None:
    ws = berdseye.open(small.folder)
    [found] = ws.measures(run.manifest.name, "MRecall@2", "human").to_dict("records")
    assert np.isnan([found["value"], found["low"], found["high"]]).all()
    assert (found["n"], found["judged"]) == (1, pytest.approx(1 / 4))
    assert ws.measures(run.manifest.name, "MRecall@2", "human", min_judged="off")["value"].tolist() == [0.0]
    compared = ws.compare(run.manifest.name, run.manifest.name, "MRecall@2", "human")
    assert np.isnan(compared.contrast.means).all()
    assert ws.compare(run.manifest.name, run.manifest.name, "MRecall@2", "human", min_judged=0).contrast.means == (0, 0)


def test_the_floor_is_a_setting(small: Workspace) -> None:
    assert min_judged_of(small) == 0.5
    (small.folder / "berdseye.toml").write_text("[measures]\nmin_judged = 0.25\n")
    again = Workspace.open(small.folder)
    assert min_judged_of(again) == 0.25
    assert min_judged_of(again, 0.1) == 0.1
    assert min_judged_of(again, "off") == 0
    (small.folder / "berdseye.toml").write_text("[measures]\nmin_judged = 50\n")
    with pytest.raises(BadInputError, match="between 0 and 1, got 50"):
        min_judged_of(Workspace.open(small.folder))
