"""The leaderboard: values, letters, averages, worked out by hand on made scores."""

from dataclasses import replace

import numpy as np
import numpy.typing as npt
import pandas as pd
import pytest

from berdseye.data.runs.stored import RunManifest
from berdseye.evaluation.leaderboard.board import (
    AVERAGE,
    best_first,
    board,
    laid_out,
    leaderboard_latex,
    printed_rows,
    weighted,
)
from berdseye.evaluation.leaderboard.charts import quality_against_cost, standings
from berdseye.evaluation.leaderboard.costs import judging_minutes, system_costs
from berdseye.evaluation.measures import Unit
from berdseye.evaluation.scores.enough_judged import withheld
from berdseye.evaluation.scores.score import Score
from berdseye.evaluation.statistics.intervals import mean_with_interval

GOOD, POOR = np.repeat([1.0, 0.0], [18, 2]), np.repeat([1.0, 0.0], [4, 16])


def score(
    dataset: str, pipeline: str, values: npt.NDArray[np.float64], judged: float = 1.0, unit: Unit = "share"
) -> Score:
    measure = "MRecall@5" if unit == "share" else "ToCover@20"
    pairs = np.tile(np.array([round(100 * judged), 100]), (len(values), 1))
    return Score(
        dataset, "web", pipeline, measure, "embedded", "1", judged, mean_with_interval(values), values, pairs, unit=unit
    )


def by(frame: pd.DataFrame, dataset: str, column: str) -> dict[str, object]:
    part = frame[frame["dataset"] == dataset]
    return dict(zip(part["pipeline"], part[column].tolist(), strict=True))


def test_systems_share_letters_where_they_do_not_differ() -> None:
    nearly = np.where(np.arange(20) == 0, 0.0, GOOD)
    found = board([score("d", "poor", POOR), score("d", "good", GOOD), score("d", "nearly", nearly)])
    assert by(found, "d", "group") == {"good": "a", "nearly": "a", "poor": "b"}
    assert by(found, "d", "value") == {"good": 90.0, "nearly": 85.0, "poor": 20.0}
    assert by(found, "d", "rank_worst") == {"good": 2, "nearly": 2, "poor": 3}
    table = laid_out(found, printed_rows("MRecall@5", {"d": 20}))
    assert table["ranks"].tolist() == ["1–2", "1–2", "3"]
    latex = leaderboard_latex(found)
    assert r"\toprule" in latex
    assert "1–2" in latex
    assert r"labels: embedded" in latex
    assert AVERAGE not in set(found["dataset"]), "one data set is its own average"
    assert best_first(found)["pipeline"].tolist() == ["good", "nearly", "poor"]


def test_too_few_labels_give_no_number_and_no_letter() -> None:
    poor = score("d", "poor", POOR, judged=0.4)
    kept = replace(poor, estimate=withheld(poor.estimate, poor.judged), withheld="judged below 50%")
    found = board([score("d", "good", GOOD), kept])
    assert by(found, "d", "group") == {"good": "a", "poor": ""}
    assert np.isnan(by(found, "d", "rank_best")["poor"])  # type: ignore[arg-type]
    assert laid_out(found, printed_rows("MRecall@5", {"d": 20}))["d"].tolist() == [
        "90.0  [69.9, 97.2]  a",
        "– (judged 40.0%)",
    ]


def test_the_average_is_of_systems_that_ran_on_every_data_set() -> None:
    scores = [score(d, p, v) for d in ("d", "e") for p, v in (("good", GOOD), ("poor", POOR))]
    found = board([*scores, score("d", "half", GOOD)])
    assert by(found, AVERAGE, "value") == {"good": 90.0, "poor": 20.0}, "half ran on one of two, where it may be easy"
    assert by(found, AVERAGE, "group") == {"good": "a", "poor": "b"}
    table = laid_out(found, printed_rows("MRecall@5", {"d": 20, "e": 20}))
    assert table["pipeline"].tolist() == ["good", "poor", "half"]
    assert table.iloc[2][["e", AVERAGE]].tolist() == ["", ""]


def test_the_letters_of_the_average_weigh_data_sets_and_not_questions() -> None:
    """On 10 questions 'first' is better by .4, on 40 it is worse by .1: over questions the mean difference is 0, over data sets
    it is .15."""
    wobble = np.tile([0.01, -0.01], 20)
    scores = [
        score("small", "first", np.full(10, 0.9) + wobble[:10]),
        score("small", "second", np.full(10, 0.5)),
        score("large", "first", np.full(40, 0.5) + wobble),
        score("large", "second", np.full(40, 0.6)),
    ]
    found = board(scores)
    assert by(found, AVERAGE, "value") == pytest.approx({"first": 70.0, "second": 55.0})
    assert by(found, AVERAGE, "group") == {"first": "a", "second": "b"}
    one, other = weighted([s.values for s in scores[::2]])
    assert np.concatenate([one, other]).mean() == pytest.approx(0.7)


def test_of_passages_to_read_fewer_are_better() -> None:
    found = board([score("d", p, v, unit="passages") for p, v in (("slow", GOOD + 5), ("quick", GOOD + 1))])
    assert best_first(found)["pipeline"].tolist() == ["quick", "slow"]
    assert by(found, "d", "group") == {"quick": "a", "slow": "b"}


def test_printed_rows_are_shown_only_with_the_published_test_splits() -> None:
    kialo = printed_rows("MRecall@5", {"berds-kialo-test": 774})
    assert set(kialo["dataset"]) == {"berds-kialo-test"}
    assert kialo.set_index(["corpus", "pipeline"])["value"]["wikipedia", "bm25"] == 10.85  # BERDS, table 3
    assert set(kialo["source"]) == {"BERDS, table 3"}
    for name, count in (
        ("berds-kialo-test", 773),
        ("berds-kialo-dev", 258),
        ("berds-kialo-test@2", 774),
        ("debate", 774),
    ):
        assert printed_rows("MRecall@5", {name: count}).empty
    assert printed_rows("nDCG@5", {"berds-kialo-test": 774}).empty


def test_the_printed_average_needs_its_three_data_sets_and_the_copy_error_is_left_out() -> None:
    three = {"berds-arguana-test": 750, "berds-kialo-test": 774, "berds-opinionqa-test": 882}
    rows = printed_rows("MRecall@10", three).set_index(["corpus", "pipeline", "dataset"])["value"]
    assert rows["wikipedia", "bm25", "berds-arguana-test"] == 19.33  # BERDS, table 17
    assert ("wikipedia", "bm25", AVERAGE) in rows.index
    for dataset in ("berds-arguana-test", AVERAGE):
        assert ("sphere", "dpr", dataset) not in rows.index
    assert ("sphere", "dpr", "berds-kialo-test") in rows.index
    assert AVERAGE not in set(printed_rows("MRecall@10", {**three, "debate": 8})["dataset"])


def test_printed_rows_are_marked_in_table_and_chart() -> None:
    found = board([score("berds-kialo-test", "bm25", GOOD)])
    printed = printed_rows("MRecall@5", {"berds-kialo-test": 774})
    table = laid_out(found, printed)
    assert table["labels"].tolist() == ["embedded", *["BERDS, table 3"] * len(printed)]
    assert set(table.iloc[1:]["judged@k"]) == {""}
    drawn = pd.DataFrame(next(iter(standings(found, printed, "MRecall@5").to_dict()["datasets"].values())))
    assert set(drawn["what"]) == {"measured here", "printed in BERDS, table 3"}
    assert drawn["system"].is_unique


def run(dataset: str, milliseconds: float, questions: int, **costs: float) -> RunManifest:
    return RunManifest(f"{dataset}-run", dataset, "web", "h", "bm25", 5, questions, milliseconds, "", {}, costs)


def test_costs_are_added_up_over_the_runs_of_a_system() -> None:
    tokens = {"gpu_seconds": 2.0, "prompt_tokens": 10.0, "completion_tokens": 5.0}
    runs = [run("d", 10.0, 30, **tokens), run("e", 40.0, 10, **tokens)]
    [row] = system_costs(runs, {"d-run": 1.5, "e-run": 0.5}).to_dict("records")
    assert row == {
        "corpus": "web", "pipeline": "bm25", "milliseconds": 17.5, "gpu_seconds": 4.0, "tokens": 30.0, "minutes": 2.0
    }  # fmt: skip
    [row] = system_costs([runs[0], run("e", 0.0, 10)], {"d-run": 1.5}).to_dict("records")
    assert np.isnan([row["milliseconds"], row["gpu_seconds"], row["tokens"], row["minutes"]]).all(), (
        "imported, and older"
    )


def test_minutes_are_of_the_pairs_in_the_top_k_each_once() -> None:
    keys = np.array([[[b"a", b""], [b"b", b"c"]], [[b"a", b"b"], [b"d", b""]]], dtype="S32")
    seconds = {"a": 60.0, "b": 30.0, "d": 600.0, "gone": 6000.0}
    assert judging_minutes(keys, seconds, 1) == 1.5
    assert judging_minutes(keys, seconds, 2) == 11.5
    assert judging_minutes(keys, {}, 2) == 0


@pytest.mark.parametrize(("costs", "scale"), [((1.0, 100.0), "log"), ((0.0, 100.0), None), ((1.0, 2.0), None)])
def test_costs_far_apart_are_drawn_by_their_logarithm(costs: tuple[float, float], scale: str | None) -> None:
    found = board([score("d", "good", GOOD), score("d", "poor", POOR)]).assign(milliseconds=costs)
    chart = quality_against_cost(found, "milliseconds", cost_title="ms", title="MRecall@5").to_dict()
    assert chart["layer"][1]["encoding"]["x"]["scale"].get("type") == scale
