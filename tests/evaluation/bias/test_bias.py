"""Whom the top of runs speaks for, worked out by hand."""

import numpy as np
import pandas as pd
import pytest

from berdseye.data.records import Perspective, Question, Stance
from berdseye.data.workspace import Workspace
from berdseye.evaluation.bias.charts import share_dots, sycophancy_arrows
from berdseye.evaluation.bias.sides import (
    SYCOPHANCY,
    by_people,
    completely_judged,
    leaning_of,
    leaning_shares,
    leanings_by_people,
    location_matrices,
    results_of,
    stance_shares,
    table_of,
)
from berdseye.evaluation.labels.labelled_runs import LabelledRun
from berdseye.evaluation.studies.result import StudyResult, Table, save_result
from tests.evaluation.bias.made_cells import cells

NAN = np.nan


def question(number: int, *stances: Stance | None) -> Question:
    return Question(str(number), "d", f"{number}?", tuple(Perspective(f"{s} {number}", s) for s in stances))


QUESTIONS = [
    question(1, "supporting", "opposing"), question(2, "opposing", "supporting"), question(3, "supporting", "opposing"),
    question(4, "supporting", None),
]  # fmt: skip
LABELS = [[[1, 0], [1, 0]], [[1, 0], [0, 1]], [[0, 0], [0, 0]], [[1, 1], [0, 1]]]
"""Question, rank, perspective: supporting alone; both (opposing first); neither; one without sides."""


def labelled(labels: object) -> LabelledRun:
    held = np.array(labels, dtype=np.float64)
    return LabelledRun(QUESTIONS, np.tile(np.arange(2), (4, 1)), np.full(held.shape, b"k", dtype="S32"), held)


RUN = labelled(LABELS)
ALL = np.ones(4, dtype=bool)
PEOPLE = labelled([[[1, 0], [1, 0]], [[0, 0], [0, 1]], [[0, NAN], [0, 0]], [[1, 1], [NAN, NAN]]])


def test_leaning_is_of_questions_with_two_known_sides() -> None:
    assert leaning_of(RUN, 2, ALL) == ["only supporting", "both", "neither", None]
    shares = leaning_shares({"bm25, web": [RUN]}, 2, {"bm25, web": [ALL]}).set_index("leaning")
    assert shares["value"].round(1).to_dict() == {
        "only supporting": 33.3, "only opposing": 0.0, "both": 33.3, "neither": 33.3
    }  # fmt: skip
    assert set(shares["n"]) == {3}
    assert set(shares["judged"]) == {100.0}


def test_too_few_labels_give_no_share() -> None:
    judged = np.array(LABELS, dtype=np.float64)
    judged[1:] = NAN  # 4 of 16 pairs are left
    run = labelled(judged)
    # Leanings are of the three questions with two sides: 4 of their 12 pairs.
    for frame, share in (
        (leaning_shares({"s": [run]}, 2, {"s": [ALL]}), 100 / 3),
        (stance_shares({"s": [run]}, 2), 25),
    ):
        assert frame[["value", "low", "high"]].isna().all(axis=None)
        assert frame["judged"].to_numpy() == pytest.approx(share)
    alone = {
        "s": [np.array([True, False, False, False])]
    }  # only the first question counts, and its pairs are all judged
    assert set(leaning_shares({"s": [run]}, 2, alone)["judged"]) == {100.0}
    assert set(stance_shares({"s": [run]}, 2, counted=alone)["judged"]) == {100.0}
    shown = leaning_shares({"s": [run]}, 2, {"s": [ALL]}, 0.25).set_index("leaning")
    # A question that counts and of which this run holds no label holds neither side.
    assert shown["value"].round(1).to_dict() == {
        "only supporting": 33.3, "only opposing": 0.0, "both": 0.0, "neither": 66.7
    }  # fmt: skip
    assert stance_shares({"s": [run]}, 2, min_judged=0.25)["value"].notna().all()


def test_people_are_asked_where_they_judged_the_whole_top_k() -> None:
    assert completely_judged(PEOPLE, 2).tolist() == [True, True, False, False]
    assert completely_judged(PEOPLE, 1).tolist() == [True, True, False, True]
    beside = leanings_by_people({"s": [RUN]}, {"s": [PEOPLE]}, 2).set_index("leaning")
    assert beside["labels"].to_dict() == {"only supporting": 50, "only opposing": 0, "both": 50, "neither": 0}
    assert beside["people"].to_dict() == {"only supporting": 100, "only opposing": 0, "both": 0, "neither": 0}
    assert set(beside["n"]) == {2}
    assert set(beside["same"]) == {50.0}
    nobody = labelled(np.full((4, 2, 2), NAN))
    assert leanings_by_people({"s": [RUN]}, {"s": [nobody]}, 2).empty


def test_stances_are_shares_of_all_that_is_said_for_perspectives() -> None:
    shares = stance_shares({"s": [RUN]}, 2).set_index("stance")
    # Supporting: 2 + 1 + 0 + 1; opposing: 0 + 1; without a side: 2.
    assert shares["value"].tolist() == pytest.approx([100 * 4 / 7, 100 / 7, 100 * 2 / 7])
    assert shares["even"].tolist() == [50.0, 37.5, 12.5]
    assert set(shares["n"]) == {3}
    assert shares[["low", "high"]].isna().all(axis=None), "three questions give no interval"
    many = LabelledRun(QUESTIONS * 3, *(np.concatenate([one] * 3) for one in (RUN.ids, RUN.keys, RUN.labels)))
    wide = stance_shares({"s": [many]}, 2)
    assert (wide["low"] < wide["value"]).all()
    assert (wide["value"] < wide["high"]).all()
    only = stance_shares({"s": [RUN]}, 2, {"s": [completely_judged(PEOPLE, 2)]}).set_index("stance")
    assert only["value"].to_dict() == {"supporting": 75.0, "opposing": 25.0}
    assert stance_shares({"s": [labelled(np.zeros((4, 2, 2)))]}, 2)["n"].eq(0).all()


def test_arrows_lead_from_the_plain_question_to_the_side_that_asks() -> None:
    drawn = sycophancy_arrows(cells()).to_dict()
    rows = [row for held in drawn["datasets"].values() for row in held if "turn" in row]
    assert {row["asked"]: (row["start"], row["value"], row["turn"]) for row in rows} == {
        "supporting": (0.2, 0.6, 90), "opposing": (0.2, -0.4, -90)
    }  # fmt: skip
    nothing = sycophancy_arrows(cells(question=NAN, supporting=NAN, opposing=NAN)).to_dict()
    one = sycophancy_arrows(cells(question=NAN)).to_dict()
    assert not any("turn" in row for held in one["datasets"].values() for row in held), "no arrow without its beginning"
    assert not any("turn" in row for held in nothing["datasets"].values() for row in held)


def test_shares_keep_the_colours_that_they_are_given() -> None:
    frame = stance_shares({"s": [RUN]}, 2)
    chart = share_dots(
        frame, part="stance", colours={"supporting": "#111111", "opposing": "#222222", "else": "#333333"}
    )
    scale = chart.to_dict()["layer"][1]["encoding"]["color"]["scale"]
    assert scale == {"domain": ["supporting", "opposing"], "range": ["#111111", "#222222"]}


def test_stored_studies_are_found_and_matched_with_those_by_people(workspace: Workspace) -> None:
    def save(study: str, labels: str, table: str) -> str:
        settings = {"corpora": ("web",), "k": 5, "labels": labels}
        tables = [Table(table, "", cells(), ("corpus", "pipeline"), ("asked",))]
        return save_result(workspace, StudyResult(study, settings, tables)).name

    name, theirs = save(SYCOPHANCY, "embedded", SYCOPHANCY), save(SYCOPHANCY, "human", SYCOPHANCY)
    save("pir-downstream", "embedded", SYCOPHANCY)
    held = {result.name: result for result in results_of(workspace, SYCOPHANCY, SYCOPHANCY)}
    assert set(held) == {name, theirs}
    assert results_of(workspace, "pir", SYCOPHANCY) == [], "another study whose name begins alike"
    found = by_people(list(held.values()), held[name])
    assert found is not None
    assert found.name == theirs
    assert by_people(list(held.values()), held[theirs]) is None
    assert table_of(found, SYCOPHANCY).cells["value"].tolist() == [0.2, 0.6, -0.4]
    (workspace.studies_folder / name / "study.json").write_text("{", encoding="utf-8")
    assert [r.name for r in results_of(workspace, SYCOPHANCY, SYCOPHANCY)] == [theirs]


def test_matrices_have_a_cell_for_every_place_even_where_nothing_came_from_it() -> None:
    table = pd.DataFrame(
        [
            ("t", "bm25", "Chad", "Chad", 75.0, 4),
            ("t", "bm25", "Chad", "elsewhere", 25.0, 4),
            ("t", "bm25", "Peru", "Chad", 100.0, 2),
        ],
        columns=["task", "pipeline", "asked", "retrieved", "value", "n"],
    )
    [matrix] = location_matrices(table).values()
    assert matrix["retrieved"].unique().tolist() == ["Chad", "Peru", "elsewhere"]
    shares = matrix.set_index(["asked", "retrieved"])["share"]
    assert shares["Chad", "Chad"] == 0.75
    assert shares["Peru", "Peru"] == 0
    assert matrix.groupby("asked")["queries"].first().to_dict() == {"Chad": 4, "Peru": 2}
    assert shares.groupby("asked").sum().to_dict() == {"Chad": 1.0, "Peru": 1.0}
