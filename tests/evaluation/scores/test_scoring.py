"""Measures of a stored run, from the workspace to the number, worked out by hand."""

from math import isnan, nan
from pathlib import Path

import numpy as np
import pytest

from berdseye.annotation.judgments.log import Judgments
from berdseye.data.corpora import add_corpus
from berdseye.data.datasets.stored import load_dataset, save_dataset
from berdseye.data.errors import BadInputError, StaleError
from berdseye.data.runs.stored import Run, save_run
from berdseye.data.workspace import Workspace
from berdseye.detectors.detector_registry import parse_detector
from berdseye.evaluation.labels.sources import parse_label_source
from berdseye.evaluation.measures import parse_measures
from berdseye.evaluation.scores.score import Score, macro_average
from berdseye.evaluation.scores.scoring import score_run
from tests.evaluation.small_workspace import CORPUS, DATASET, PIPELINE, RANKED, build, judge, passages, put_gold

# By (question, perspective, passage). Ranked are passages 0, 1, 2 for the first question, 3, 2 for the second.
GOLD = {
    (0, 0, 0): True, (0, 1, 0): False, (0, 0, 1): False, (0, 1, 1): True, (0, 0, 2): False, (0, 1, 2): False,
    (1, 0, 3): False, (1, 0, 2): True,
}  # fmt: skip


def scores(
    workspace: Workspace, judgments: Judgments, run: Run, source: str, measures: str, min_judged: float = 0.0
) -> list[Score]:
    return score_run(
        workspace, judgments, run, parse_label_source(source), parse_measures(measures), min_judged=min_judged
    )


def test_measures_by_hand(small: Workspace, run: Run, judgments: Judgments) -> None:
    put_gold(small, GOLD)
    found = {
        s.measure: s
        for s in scores(small, judgments, run, "gold", "MRecall@3 MRecall@1 Precision@3 Precision@1 Coverage@1")
    }
    # The third question has no perspectives and no value.
    np.testing.assert_equal(found["MRecall@3"].values, [1, 1, nan])  # passages 0 and 1; passage 2
    np.testing.assert_equal(found["MRecall@1"].values, [1, 0, nan])  # m = 2 > k = 1; passage 3 does not support
    np.testing.assert_equal(found["Precision@3"].values, [2 / 3, 1 / 3, nan])  # the second ranking has two passages
    np.testing.assert_equal(found["Precision@1"].values, [1, 0, nan])
    np.testing.assert_equal(found["Coverage@1"].values, [1 / 2, 0, nan])
    assert found["Precision@3"].estimate.value == pytest.approx(0.5)
    for score in found.values():
        assert score.estimate.n == 2
        assert score.judged == 1
        assert (score.dataset, score.corpus, score.pipeline, score.labels) == (DATASET, CORPUS, PIPELINE, "gold")
        assert score.detector_version == ""


def test_judged_is_the_share_of_pairs_with_a_label(small: Workspace, run: Run, judgments: Judgments) -> None:
    judge(judgments, judgments.sign_in("Ana"), 0, 0, 0, "supports")
    judge(judgments, judgments.sign_in("Ana"), 0, 1, 1, "supports")
    one, three = scores(small, judgments, run, "human", "MRecall@1 MRecall@3")
    # Only the first question counts. Top 1: two pairs, one judged. Top 3: six pairs, two judged.
    assert one.judged == pytest.approx(1 / 2)
    assert three.judged == pytest.approx(2 / 6)
    np.testing.assert_equal(three.values, [1, nan, nan])
    assert three.estimate.n == 1
    assert isnan(three.estimate.low)


def test_nobody_judged_gives_no_number(small: Workspace, run: Run, judgments: Judgments) -> None:
    [score] = scores(small, judgments, run, "human", "MRecall@3")
    assert isnan(score.estimate.value)
    assert (score.estimate.n, score.judged) == (0, 0)
    assert macro_average([score]) == []


def test_too_few_judged_pairs_give_the_reason_in_place_of_a_number(
    small: Workspace, run: Run, judgments: Judgments
) -> None:
    judge(judgments, judgments.sign_in("Ana"), 0, 0, 0, "supports")
    for asked, shown in ((0.51, False), (0.5, True)):  # one of the two pairs at rank 1
        [score] = scores(small, judgments, run, "human", "Precision@1", asked)
        assert (score.estimate.value == 1.0, score.withheld == "") == (shown, shown)
        assert (score.estimate.n, score.judged) == (1, pytest.approx(1 / 2))
        [average] = macro_average([score])
        assert isnan(average.estimate.value) != shown
        assert average.withheld == score.withheld
    assert scores(small, judgments, run, "human", "Precision@1", 0.6)[0].withheld == "judged below 60%"
    (small.folder / "berdseye.toml").write_text("[measures]\nmin_judged = 0.2\n")
    source, measures = parse_label_source("human"), parse_measures("Precision@1")
    [set_lower] = score_run(Workspace.open(small.folder), judgments, run, source, measures)
    assert set_lower.estimate.value == 1.0
    with pytest.raises(BadInputError, match="between 0"):
        scores(small, judgments, run, "human", "Precision@1", 1.5)


def test_a_question_judged_below_the_cutoff_counts_above_it_too(
    small: Workspace, run: Run, judgments: Judgments
) -> None:
    judge(judgments, judgments.sign_in("Ana"), 1, 0, 2, "supports")  # at rank 2
    one, two = scores(small, judgments, run, "human", "Precision@1 Precision@2")
    np.testing.assert_equal(one.values, [nan, 0, nan])  # it counts, whatever the run ranks first
    np.testing.assert_equal(two.values, [nan, 0.5, nan])


def test_a_detector_labels_everything_and_says_its_version(small: Workspace, run: Run, judgments: Judgments) -> None:
    before, after = (scores(small, judgments, run, "human>random", "MRecall@3 Precision@3") for _ in range(2))
    assert [s.values.tolist()[:2] for s in before] == [s.values.tolist()[:2] for s in after]
    assert {s.judged for s in before} == {1.0}
    assert {s.detector_version for s in before} == {parse_detector("random").version}


def test_a_correction_moves_the_number(small: Workspace, run: Run, judgments: Judgments) -> None:
    ana = judgments.sign_in("Ana")
    for passage in (3, 2):
        judge(judgments, ana, 1, 0, passage, "does not support")
    [before] = scores(small, judgments, run, "human>random", "Precision@2")
    judge(judgments, ana, 1, 0, 3, "supports")
    [after] = scores(small, judgments, run, "human>random", "Precision@2")
    assert (before.values[1], after.values[1]) == (0, 0.5)
    assert judgments.undo(ana) is not None
    [undone] = scores(small, judgments, run, "human>random", "Precision@2")
    assert undone.values[1] == 0


@pytest.mark.parametrize("source", ["random", "human>random", "gold"])
def test_a_question_for_which_nothing_was_found_counts_as_covering_nothing(tmp_path: Path, source: str) -> None:
    workspace, run = build(tmp_path / "workspace", ranked=[RANKED[0], [], []])
    put_gold(workspace, GOLD)
    full = np.full((3, 3), -1, dtype=np.int64)
    by_first_word = passages(workspace)
    full[1, :2] = [by_first_word["Trams"].id, by_first_word["Cars"].id]
    save_run(
        workspace, dataset=DATASET, corpus=CORPUS, corpus_hash=run.manifest.corpus_hash, pipeline="finds",
        question_ids=run.question_ids, ids=full, scores=np.zeros(full.shape, dtype=np.float32), milliseconds_per_question=1.0,
    )  # fmt: skip
    judgments = Judgments.open(f"sqlite:///{tmp_path / 'judgments.db'}")
    for score in scores(workspace, judgments, run, source, "MRecall@3 Precision@3"):
        assert score.values[1] == 0
        assert isnan(score.values[2])
        assert score.estimate.n == 2
        assert score.judged == 1
    judgments.engine.dispose()


def test_a_run_that_does_not_fit_any_more_is_refused(small: Workspace, run: Run, judgments: Judgments) -> None:
    questions = load_dataset(small, DATASET)
    save_dataset(small, DATASET, questions[::-1])
    with pytest.raises(StaleError, match="questions of the data set have changed"):
        scores(small, judgments, run, "random", "MRecall@3")
    save_dataset(small, DATASET, questions)
    changed = small.folder / "changed.txt"
    changed.write_text("Another text stands here now.", encoding="utf-8")
    add_corpus(small, CORPUS, changed, replace=True)
    with pytest.raises(StaleError, match="has changed since"):
        scores(small, judgments, run, "random", "MRecall@3")


def test_the_macro_average_gives_each_data_set_the_same_weight(
    small: Workspace, run: Run, judgments: Judgments
) -> None:
    put_gold(small, GOLD)
    [one] = scores(small, judgments, run, "gold", "Precision@1")  # 1, 0: mean 1/2
    other = Score(**{**one.__dict__, "dataset": "other", "judged": 0.5, "values": np.array([1.0]),
                     "estimate": one.estimate._replace(value=1.0, low=0.8, high=1.0, n=1)})  # fmt: skip
    another = Score(**{**one.__dict__, "measure": "Precision@2"})
    averages = macro_average([one, another, other])
    assert [(a.dataset, a.measure) for a in averages] == [("average", "Precision@1"), ("average", "Precision@2")]
    assert averages[0].estimate.value == pytest.approx((1 / 2 + 1) / 2)
    assert averages[0].estimate.n == 3
    assert averages[0].judged == pytest.approx((1 + 0.5) / 2)
    assert len(averages[0].values) == 4
    assert averages[1].estimate.value == pytest.approx(1 / 2)
