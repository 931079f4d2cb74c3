"""One question in all runs, on the small workspace where everything can be worked out by hand."""

import math
from dataclasses import replace

import numpy as np
import pytest

from berdseye.annotation.judgments.log import Judgments
from berdseye.data.labels import LabelStore
from berdseye.data.runs.stored import Run, list_runs, save_run
from berdseye.data.workspace import Workspace
from berdseye.evaluation.exploration.coverage_history import coverage_chart, coverage_over_time
from berdseye.evaluation.exploration.question_runs import QuestionRun, first_rank_frame, measures_frame, question_runs
from berdseye.evaluation.failures.charts import hole_chart
from berdseye.evaluation.labels.labelled_runs import labelled_run
from berdseye.evaluation.labels.sources import parse_label_source
from berdseye.evaluation.measures import parse_measures
from berdseye.evaluation.scores.unjudged import Unjudged
from tests.evaluation.small_workspace import DATASET, PIPELINE, QUESTIONS, judge, key, passages, put_gold

ZOOS = QUESTIONS[0]
GOLD = {(0, 0, 0): True, (0, 1, 0): False, (0, 0, 1): False, (0, 1, 1): True, (0, 1, 2): False}


@pytest.fixture
def asked(small: Workspace, run: Run, judgments: Judgments) -> list[QuestionRun]:
    """The question of the zoos in the hand-made run and in one that ranks backwards, deeper by nothing."""
    put_gold(small, GOLD)
    save_run(
        small,
        dataset=DATASET,
        corpus=run.manifest.corpus,
        corpus_hash=run.manifest.corpus_hash,
        pipeline="qld",
        question_ids=run.question_ids,
        ids=np.ascontiguousarray(run.ids[:, ::-1]),
        scores=np.zeros_like(run.scores),
        milliseconds_per_question=1.0,
    )
    found, left = question_runs(small, judgments, ZOOS, list_runs(small), parse_label_source("gold"), 100)
    assert left == []
    return found


def test_a_question_in_a_run_is_its_row_of_the_whole_run(
    asked: list[QuestionRun], small: Workspace, run: Run, judgments: Judgments
) -> None:
    whole = labelled_run(small, judgments, run, parse_label_source("gold"), 100)
    one = next(q for q in asked if q.run.pipeline == PIPELINE)
    assert one.ids.tolist() == whole.ids[0].tolist()
    assert (one.keys == whole.keys[0]).all()
    np.testing.assert_array_equal(one.labels, whole.labels[0])


def test_first_ranks_and_measures_of_each_run(asked: list[QuestionRun]) -> None:
    assert {q.run.pipeline: q.first_ranks() for q in asked} == {"bm25": [1, 2], "qld": [3, 2]}
    frame = first_rank_frame(ZOOS, asked, 2)
    assert frame[["row", "place", "rank", "hole"]].to_numpy().tolist() == [
        [0, 1, 1.0, False],
        [0, 2, 2.0, False],
        [1, 1, 3.0, True],
        [1, 2, 2.0, False],
    ]
    assert hole_chart(frame, 2).to_dict()["layer"], "the hole map draws it"
    measured = measures_frame(asked, parse_measures("MRecall@2 Precision@1"), {"web": True}).set_index("pipeline")
    assert measured["MRecall@2"].to_dict() == {"bm25": 1.0, "qld": 0.0}
    assert measured["Precision@1"].to_dict() == {"bm25": 1.0, "qld": 0.0}
    assert measured["judged@2"].to_dict() == {"bm25": 1.0, "qld": pytest.approx(3 / 4)}
    strict = measures_frame(asked, parse_measures("MRecall@2"), {"web": True}, 0.8).set_index("pipeline")["MRecall@2"]
    assert strict["bm25"] == 1.0
    assert math.isnan(strict["qld"]), "fewer of its pairs are judged"
    assert measures_frame(asked, parse_measures("MRecall@2"), {"web": False})["MRecall@2"].isna().all()


def test_a_run_without_a_label_in_its_top_k_follows_the_rule(small: Workspace, run: Run, judgments: Judgments) -> None:
    LabelStore(small).put("gold", "made", [key(0, 0, 2)], [1.0])
    found, _ = question_runs(small, judgments, ZOOS, [run.manifest], parse_label_source("gold"), 5)
    # The only label is of the passage at rank 3.
    for rule, expected in ((Unjudged.ZERO, [0.0, 0.5]), (Unjudged.LEFT_OUT, [math.nan, 0.5])):
        frame = measures_frame(found, parse_measures("Coverage@2 Coverage@3"), {"web": True}, 0, rule)
        assert frame[["Coverage@2", "Coverage@3"]].to_numpy()[0].tolist() == pytest.approx(expected, nan_ok=True), rule


def test_a_run_over_a_corpus_that_changed_is_left_out(small: Workspace, run: Run, judgments: Judgments) -> None:
    gold = parse_label_source("gold")
    changed = replace(run.manifest, corpus_hash="another")
    gone = replace(run.manifest, corpus="gone")
    found, left = question_runs(small, judgments, ZOOS, [changed, gone, run.manifest], gold, 5)
    assert [q.run for q in found] == [run.manifest]
    assert left == [changed, gone]
    assert question_runs(small, judgments, ZOOS, [], gold, 5) == ([], [])
    unknown, _ = question_runs(small, judgments, replace(ZOOS, id="new"), [run.manifest], gold, 5)
    assert unknown[0].ids.tolist() == [-1, -1, -1]
    assert unknown[0].first_ranks() == [0, 0]


def test_coverage_moves_with_each_word(asked: list[QuestionRun], judgments: Judgments) -> None:
    ana = judgments.sign_in("Ana")
    judge(judgments, ana, 0, 0, 0, "supports")
    judge(judgments, ana, 0, 1, 2, "supports")
    judge(judgments, ana, 0, 0, 0, "does not support")
    alone = coverage_over_time(judgments, asked, 1, people_alone=True)
    # bm25 ranks text 0 first, qld text 2: at k = 1 each hears of its own pair alone
    assert alone[["run", "covered", "MRecall", "by"]].to_numpy().tolist() == [
        ["web · bm25", 0, 0.0, ""],
        ["web · qld", 0, 0.0, ""],
        ["web · bm25", 1, 1.0, "Ana"],
        ["web · qld", 1, 1.0, "Ana"],
        ["web · bm25", 0, 0.0, "Ana"],
    ]
    assert alone["at"].isna().tolist() == [True, True, False, False, False]
    beside = coverage_over_time(judgments, asked, 3, people_alone=False)
    assert beside.groupby("run")["covered"].apply(list).to_dict() == {
        "web · bm25": [2, 2, 2, 1],
        "web · qld": [2, 2, 2, 1],
    }
    drawn = coverage_chart(alone, asked).to_dict()
    assert len(drawn["layer"]) == 3


def test_a_question_without_perspectives_has_no_coverage(small: Workspace, run: Run, judgments: Judgments) -> None:
    found, _ = question_runs(small, judgments, QUESTIONS[2], [run.manifest], parse_label_source("gold"), 5)
    assert first_rank_frame(QUESTIONS[2], found, 5).empty
    [row] = coverage_over_time(judgments, found, 5, people_alone=True).to_dict("records")
    assert math.isnan(row["coverage"])
    assert row["covered"] == 0
    assert passages(small)
