"""What the lab tells of judged pairs: whose words they are, what was learned from them, and where a detector errs."""

import numpy as np
import pytest
from made_detectors import Made, by_passage
from statsmodels.stats.contingency_tables import mcnemar

from berdseye.annotation.judgments.adjudication import adjudicate
from berdseye.annotation.judgments.log import Judgments, PairRecord
from berdseye.annotation.training_sets.labelling import LabellingRules
from berdseye.annotation.training_sets.store import create
from berdseye.data.datasets.labelled_pairs import LabelledPair
from berdseye.data.errors import BadInputError
from berdseye.data.records import Pair
from berdseye.data.workspace import Workspace
from berdseye.detectors.detector_registry import parse_detector
from berdseye.detectors.thresholds import read_threshold, write_threshold
from berdseye.detectors.trained import finish, new_folder
from berdseye.evaluation.detection.errors import confident_mistakes, confusion_by, confusion_table, groupings
from berdseye.evaluation.detection.pairs import MADE_UP, PEOPLE, JudgedPairs, learned, of_gold, of_people, of_rows
from berdseye.evaluation.detection.thresholds import chosen_by_hand
from berdseye.evaluation.detection.throughput import Throughput, load_throughput, model_use, save_throughput
from berdseye.evaluation.detection.two_detectors import Side, examples, two_detectors, where_they_differ
from berdseye.evaluation.labels.sources import label_versions, parse_label_source


def row(passage: str, label: bool, question: str = "Trams?", corpus: str = "web", stance: str = "") -> LabelledPair:
    return LabelledPair(Pair(passage, "Trams are good."), label, question, corpus=corpus, stance=stance)


ROWS = [
    row("a", True, "Trams?"),
    row("b", False, "Trams?", "books"),
    row("c", True, "Zoos?", "books", "opposing"),
    row("d", False, "Zoos?"),
    row("e", True, "Cars?"),
]
JUDGED = of_rows("five", ROWS)
P = np.array([0.9, 0.8, 0.1, 0.4, 0.6], dtype=np.float32)


def record(passage: str, question: str) -> PairRecord:
    return PairRecord("d", question, question, f"{question} Yes.", "supporting", "web", "", passage)


def judged(workspace: Workspace) -> Judgments:
    """Ana and Ben judge; of the last pair they say different things, and Ben decides."""
    held = Judgments.open(workspace.judgments_url)
    ana, ben = held.sign_in("Ana"), held.sign_in("Ben")
    records = [
        record("Trams are quiet.", "Trams?"),
        record("Trams are loud.", "Trams?"),
        record("Zoos teach.", "Zoos?"),
    ]
    held.add_pairs(records)
    for person, verdicts in (
        (ana, ("supports", "does not support", "supports")),
        (ben, ("supports", "unsure", "does not support")),
    ):
        for each, verdict in zip(records, verdicts, strict=True):
            held.judge(person, each.key, verdict, source="annotate")
    return held


def test_people_say_by_majority_and_an_adjudicator_decides(workspace: Workspace) -> None:
    held = judged(workspace)
    found = of_people(held)
    assert (found.name, found.table["passage"].tolist(), found.truth.tolist()) == (
        PEOPLE, ["Trams are quiet.", "Trams are loud."], [True, False],
    )  # fmt: skip
    assert "1 a tie" in found.left_out
    adjudicate(held, held.sign_in("Ben"), record("Zoos teach.", "Zoos?").key, "does not support")
    decided = of_people(held)
    assert decided.truth.tolist() == [True, False, False]
    assert decided.groups.tolist() == [0, 0, 1]
    assert decided.hash != found.hash == of_people(judged(Workspace.create(workspace.folder.parent / "w2"))).hash


def test_gold_and_made_up_people_of_the_demo(
    demo_workspace: Workspace, demo_judgments: Judgments, workspace: Workspace
) -> None:
    found = of_gold(demo_workspace)
    assert found.table["pair"].is_unique
    assert len(found.table) > 300
    assert set(found.table["corpus"]) == {"encyclopedia", "web", "pages"}
    one = found.table.iloc[0]
    assert Pair(one["passage"], one["perspective"]).key == one["pair"]
    assert of_gold(workspace).table.empty
    assert of_people(demo_judgments).table.empty
    assert of_people(demo_judgments, demo=True).name == MADE_UP
    assert len(of_people(demo_judgments, demo=True).table) > 40


def test_what_a_detector_learned_from_is_known(workspace: Workspace) -> None:
    made = create(workspace, judged(workspace), "judged", LabellingRules(), handling="keep")
    rows = made.pairs()
    folder = new_folder(workspace, "mine")
    folder.mkdir(parents=True)
    finish(folder, {"detector": "embedded(mine)", "data": made.id, "data_hash": made.hash, "base": "embedded"})
    other = new_folder(workspace, "child")
    other.mkdir(parents=True)
    finish(other, {"detector": "embedded(child)", "data": "elsewhere.tsv", "base": "embedded(mine)"})
    trained_on = {r.question for r in rows if r.split != "test"}
    for name in ("embedded(mine)", "embedded(child)", "mean(random,embedded(child))"):
        found = learned(workspace, name)
        assert found.sets == (made.id,)
        assert found.elsewhere == (() if name == "embedded(mine)" else ("elsewhere.tsv",))
        table = of_rows("x", [*rows, row(rows[0].pair.passage.upper(), True, "New?"), row("new", True, "New?")]).table
        expected = [r.question in trained_on for r in rows] + [rows[0].split != "test", False]
        assert found.seen(table).tolist() == expected
    assert learned(workspace, "embedded").sets == ()
    assert not learned(workspace, "embedded").seen(JUDGED.table).any()


def test_confusion_by_hand() -> None:
    said = P >= 0.5
    assert confusion_table(JUDGED, said).to_numpy().tolist() == [[2, 1], [1, 1]]
    found = confusion_by(JUDGED, said, "corpus").set_index("value")
    assert found.loc["web", ["n", "questions", "tp", "fp", "fn", "tn"]].tolist() == [3, 3, 2, 0, 0, 1]
    assert found.loc["books", ["tp", "fp", "fn", "tn", "precision"]].tolist() == [0, 1, 1, 0, 0.0]
    assert np.isnan(found.loc["web", "precision_low"]), "three questions that are all right give no interval"
    assert groupings(JUDGED) == ["corpus", "stance"]
    assert confusion_by(JUDGED, said, "stance")["value"].tolist() == ["(not given)", "opposing"]


def test_the_surest_mistakes_come_first_whichever_side_they_are_on() -> None:
    """Threshold .7: b is .1/.3 beyond it, c .6/.7 and e .1/.7 below."""
    found = confident_mistakes(JUDGED, P, 0.7)
    assert found["passage"].tolist() == ["c", "b", "e"]
    assert found["mistake"].tolist() == ["missed", "called supporting", "missed"]
    assert found["margin"].tolist() == pytest.approx([6 / 7, 1 / 3, 1 / 7], abs=1e-6)
    assert confident_mistakes(JUDGED, np.array([1, 0, 1, 0, 1], dtype=np.float32), 1.0).empty


def test_two_detectors_by_hand_and_by_statsmodels() -> None:
    """a is right of a, d, e; b (the opposite of the labels but for b) of b alone."""
    a, b = Side("a", P, 0.5), Side("b", np.array([0.2, 0.35, 0.1, 0.9, 0.4], dtype=np.float32), 0.5)
    found = two_detectors(JUDGED, a, b, resamples=50)
    assert (found.both_right, found.only_a, found.only_b, found.neither) == (0, 3, 1, 1)
    assert found.mcnemar_p == pytest.approx(mcnemar([[0, 3], [1, 1]], exact=True).pvalue)
    by_figure = {d.figure: d for d in found.differences}
    assert by_figure["accuracy"].difference == pytest.approx(1 / 5 - 3 / 5)
    assert by_figure["f1"].present == pytest.approx(2 / 3)
    where = where_they_differ(JUDGED, a, b, "corpus").set_index("value")
    assert where.loc["books"].tolist() == [2, 1, 0.5, 0, 1]
    assert where.loc["web"].tolist() == [3, 3, 1.0, 3, 0]
    shown = examples(JUDGED, a, b)
    assert shown["passage"].tolist() == ["a", "d", "b", "e"]
    assert shown["right"].tolist() == ["a", "a", "b", "a"]
    alike = two_detectors(JUDGED, a, a, resamples=50)
    assert np.isnan(alike.mcnemar_p)
    assert alike.kappa.value == 1


def test_a_threshold_chosen_by_hand_says_by_whom_and_on_what(workspace: Workspace) -> None:
    own = parse_detector("embedded", workspace)
    held = Judgments.open(workspace.judgments_url)
    before = label_versions(workspace, held, parse_label_source("embedded"))
    tuned = chosen_by_hand(own, JUDGED, P, 0.7, made_by="Ana")
    assert (tuned.n, tuned.positives, tuned.f1) == (5, 3, pytest.approx(2 * 1 / (2 * 1 + 1 + 2)))
    write_threshold(workspace, tuned)
    found = parse_detector("embedded", workspace)
    assert (found.threshold, found.version) == (0.7, own.version)
    assert found.threshold_source == "chosen by Ana: F1 0.400 on 5 pairs of five"
    assert read_threshold(workspace, "embedded") == tuned
    assert label_versions(workspace, held, parse_label_source("embedded")) != before, "its labels are others now"
    for value, rows, why in (
        (1.2, JUDGED, r"between 0 and 1, got 1\.2"),
        (0.5, JUDGED.part(np.zeros(5, dtype=bool)), "no pair"),
    ):
        with pytest.raises(BadInputError, match=why):
            chosen_by_hand(own, rows, P[: len(rows.table)], value)


def test_a_measured_pace_is_kept_for_its_version(workspace: Workspace) -> None:
    nan = float("nan")
    found = Throughput("api(m/x)", "1", 100, 0.5, 250.0, nan, 900.0, 0.02, False, 1.0, 2)
    save_throughput(workspace, found)
    again = load_throughput(workspace, "api(m/x)", "1")
    assert again is not None
    assert (again.throughput.pairs, again.seconds_per_1000) == (100, 4.0)
    assert load_throughput(workspace, "api(m/x)", "2") is None
    assert load_throughput(workspace, "embedded", "1") is None
    assert model_use(workspace, "api(m/x)") is None
    assert model_use(workspace, "embedded") is None


def test_files_without_questions_or_rows() -> None:
    alone = of_rows("x", [row("a", True, ""), row("b", False, "")])
    assert alone.groups.tolist() == [0, 1]
    assert isinstance(of_rows("x", []), JudgedPairs)
    assert len(of_rows("x", []).truth) == 0
    assert Made(by_passage(a=1.0)).predict(alone.pairs([0])).tolist() == [1.0]
