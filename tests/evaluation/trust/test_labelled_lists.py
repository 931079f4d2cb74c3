"""Lists of stored runs over one set of labels: what is settled, what has which chance, and that values are those of a score."""

from pathlib import Path

import numpy as np
import pytest
from scipy.special import expit

from berdseye.annotation.judgments.log import Judgments, PairRecord
from berdseye.data.datasets.stored import GOLD, load_dataset
from berdseye.data.errors import BadInputError
from berdseye.data.labels import LabelStore
from berdseye.data.records import Pair
from berdseye.data.runs.pairs import run_pairs
from berdseye.data.runs.stored import Run, load_run, run_name
from berdseye.data.workspace import Workspace
from berdseye.detectors.detector_registry import parse_detector
from berdseye.evaluation.labels.sources import parse_label_source
from berdseye.evaluation.measures import parse_measures
from berdseye.evaluation.scores.scoring import score_run
from berdseye.evaluation.trust.labelled_lists import calibrated_chance, labelled_lists


@pytest.fixture(scope="module")
def runs(demo_workspace: Workspace) -> list[Run]:
    return [load_run(demo_workspace, run_name("policy", "web", p)) for p in ("bm25", "dense(static)")]


def test_values_are_those_of_the_scores(demo_workspace: Workspace, demo_judgments: Judgments, runs: list[Run]) -> None:
    measures = parse_measures("MRecall@5 Precision@5 Coverage@3")
    for labels in ("embedded", "gold"):
        source, detector = parse_label_source(labels), parse_detector("embedded", demo_workspace)
        found = labelled_lists(demo_workspace, demo_judgments, runs, source, detector, 5)
        for row, run in enumerate(runs):
            for score in score_run(demo_workspace, demo_judgments, run, source, measures):
                measure = next(m for m in measures if str(m) == score.measure)
                assert found.lists.values_now(measure)[row] == pytest.approx(score.values, nan_ok=True)


def test_gold_is_settled_and_the_rest_has_the_detectors_chance(
    demo_workspace: Workspace, demo_judgments: Judgments, runs: list[Run]
) -> None:
    detector = parse_detector("embedded", demo_workspace)
    found = labelled_lists(demo_workspace, demo_judgments, runs, parse_label_source("gold>embedded"), detector, 5)
    lists = found.lists
    stored = LabelStore(demo_workspace).get(GOLD, [p.key for p in found.pairs])
    assert np.array_equal(lists.settled, ~np.isnan(stored))
    assert lists.settled.sum() > 0
    assert np.array_equal(lists.chance[lists.settled], stored[lists.settled])
    assert np.isin(lists.labels, (0, 1)).all()
    questions = load_dataset(demo_workspace, "policy")
    pair = run_pairs(demo_workspace, runs[0], questions, 1).pairs[0]
    assert found.pairs[lists.places[0, 0, 0, 0]].key == pair.key
    assert found.asked_of[lists.places[1, 3, 0, 0]] == 3


def test_systems_of_other_data_or_too_short_runs_are_refused(
    demo_workspace: Workspace, demo_judgments: Judgments, runs: list[Run]
) -> None:
    source, detector = parse_label_source("embedded"), parse_detector("embedded", demo_workspace)
    other = load_run(demo_workspace, run_name("policy", "encyclopedia", "bm25"))
    for wrong in ([runs[0]], [runs[0], other]):
        with pytest.raises(BadInputError, match="at least two runs on one data set and one corpus"):
            labelled_lists(demo_workspace, demo_judgments, wrong, source, detector, 5)
    with pytest.raises(BadInputError, match="k is 99"):
        labelled_lists(demo_workspace, demo_judgments, runs, source, detector, 99)


def test_probabilities_are_put_right_by_enough_judged_pairs() -> None:
    random = np.random.default_rng(0)
    logits = random.normal(0, 2, 4000)
    truth = (random.random(4000) < expit(logits)).astype(np.float64)
    boastful = expit(2.5 * logits + 1)  # the same order, but far too sure
    trusted = np.where(np.arange(4000) < 800, truth, np.nan)
    chance, how = calibrated_chance(boastful, trusted)
    assert "800 judged pairs" in how
    assert chance[800:] == pytest.approx(expit(logits[800:]), abs=0.08)
    kept, why = calibrated_chance(boastful, np.where(np.arange(4000) < 49, truth, np.nan))
    assert np.array_equal(kept, boastful)
    assert "fewer than 50" in why


def test_pairs_with_a_verdict_of_people_are_settled(tmp_path: Path) -> None:
    from tests.evaluation.small_workspace import build

    workspace, run = build(tmp_path / "made")
    judgments = Judgments.open(workspace.judgments_url)
    asked = load_dataset(workspace, "made")[0]
    [pair] = [
        p for p in run_pairs(workspace, run, load_dataset(workspace, "made"), 1).pairs if p.perspective == "Zoos harm."
    ]
    [key] = judgments.add_pairs(
        [PairRecord("made", asked.id, asked.text, pair.perspective, None, "web", "", pair.passage)]
    )
    judgments.judge(judgments.sign_in("Ada"), key, "does not support", source="annotate")
    twice = [run, run]
    found = labelled_lists(
        workspace, judgments, twice, parse_label_source("human>embedded"), parse_detector("embedded", workspace), 2
    )
    assert found.lists.settled.sum() == 1
    assert found.pairs[int(np.flatnonzero(found.lists.settled)[0])] == Pair(pair.passage, pair.perspective, pair.title)
    assert found.lists.chance[found.lists.settled] == 0
